"""The commands of the command line, one file each; `mcpframe.cli` puts them together."""
