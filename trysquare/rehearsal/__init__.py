"""Rehearsals: the real agent against a scripted model that costs nothing."""

from trysquare.rehearsal.language import Call, Fault, Turn, Usage
from trysquare.rehearsal.provider import NAME, Provider
from trysquare.rehearsal.reading import ScriptError
from trysquare.rehearsal.script import FILE, Play, Script, path_for, text_for

__all__ = [
    "FILE",
    "NAME",
    "Call",
    "Fault",
    "Play",
    "Provider",
    "Script",
    "ScriptError",
    "Turn",
    "Usage",
    "path_for",
    "text_for",
]
