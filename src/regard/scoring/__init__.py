"""Predictions for Parquet files, column by column: in this process, or by actors of a Ray cluster (`regard predict`)."""
