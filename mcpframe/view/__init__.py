"""Views: plots, pictures, films and the player of a run, and runs compared."""
