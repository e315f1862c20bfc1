"""Bodies whose joints are active or rigid by choice: when to choose, and what a choice changes."""
