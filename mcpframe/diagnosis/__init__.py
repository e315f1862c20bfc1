"""Whether a rigid contact problem has one answer, whether that is stable, and by what margin."""
