"""Recording: what a run leaves behind, on its way to memory and disk, and how it is resumed."""
