"""Memory: where the stepping kernels keep what, how a scene is packed into it, and what they leave in it."""
