"""What a notebook shows: values as small tables and curves, progress as a bar; no JavaScript, no package."""
