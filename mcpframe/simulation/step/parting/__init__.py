"""Who takes a step together: islands that touch, parties that impacts concern, bodies that sleep."""
