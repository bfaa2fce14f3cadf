"""Clusterers with scikit-learn's interface."""
