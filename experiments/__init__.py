"""The experiments of the paper: plans, printed numbers, and its tables with ours beside them."""
