"""Systems whose answer contacts decide."""
