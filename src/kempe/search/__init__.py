"""Searches over clusterings: stopping rules, callbacks, results."""
