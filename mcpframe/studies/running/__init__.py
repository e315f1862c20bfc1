"""Running: workers under watch, what they do with a unit, and what is measured of it."""
