"""What there is to say against a run that has ended: energy from nowhere, unresolved rates, lost order."""
