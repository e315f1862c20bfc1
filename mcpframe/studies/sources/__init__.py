"""Sources: where the problems of a study come from."""
