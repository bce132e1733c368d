"""The machine file: addresses and load fallbacks of one machine, and nothing that decides a measurement."""

from trysquare.config.machine import Config, find, load
from trysquare.config.values import ConfigError, expand, is_remote, which_file
from trysquare.refusals import closest

__all__ = ["Config", "ConfigError", "closest", "expand", "find", "is_remote", "load", "which_file"]
