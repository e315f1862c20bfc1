"""Reference: dense spatial operators and divide and conquer, for study and as oracles of the kernels."""
