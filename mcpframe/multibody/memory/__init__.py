"""Memory: where the kernels keep what, and how a model is packed into it."""
