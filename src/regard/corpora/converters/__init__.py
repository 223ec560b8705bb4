"""Converters of public corpora, one module per corpus or family of corpora: files of the original to splits of rows."""
