"""What several solvers share: linear algebra, pivoting, polish."""
