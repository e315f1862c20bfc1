"""Models: links, hinges, shapes and nodes, the tree that they form, and their coordinates."""
