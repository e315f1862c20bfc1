"""Thousands of contacts: friction problems whose W is sparse, or a product of sparse factors."""
