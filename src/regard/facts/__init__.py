"""What was measured and decided, as frozen dataclasses: made by `analysis`, `audit` and `training`, shown by `report`."""
