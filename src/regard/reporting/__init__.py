"""What the report of a run says, as one plain object; `regard.report.pages.run` draws it."""
