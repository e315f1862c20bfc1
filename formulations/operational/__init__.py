"""The operational-space formulation: its plan, its kernels, and the way back."""
