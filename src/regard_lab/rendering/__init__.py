"""Results as Markdown, LaTeX, HTML and figures."""
