"""Contact models of runs: whether rigid contacts have one stable answer, and layers where they have not."""
