"""The push of a step: its problem built, solved and recovered, island by island."""
