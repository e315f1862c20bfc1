"""What a study is: its file, its columns, its units of work."""
