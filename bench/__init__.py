"""Ratios against other loops, each measured in one run on one machine."""
