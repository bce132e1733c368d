"""Watching a matrix while it is measured: what jobs leave behind as signs of life, and a page that shows it."""

from trysquare.watching.heartbeat import Beat, Heart, beats

__all__ = ["Beat", "Heart", "beats"]
