"""What the report of a run says, as one plain object; `regard.report.run_page` draws it."""
