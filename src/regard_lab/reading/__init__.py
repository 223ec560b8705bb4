"""Reading tables from TOML, strictly, and finding them by name."""
