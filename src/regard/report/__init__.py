"""How an explanation is shown: in the terminal, as an HTML page or fragment, as an SVG figure. No torch."""
