"""Prices and stock of a small hardware store."""
