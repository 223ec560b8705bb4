"""The laboratory: what readers of the papers need, tables run again, rendered and held against the papers' claims."""
