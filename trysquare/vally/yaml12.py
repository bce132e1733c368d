"""Reading YAML by the core schema of version 1.2: `yes` is a text, `1e3` a number, a date a text."""

import re
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError
from ruamel.yaml.resolver import BaseResolver

from trysquare.errors import TrysquareError
from trysquare.measure.stream import one_line

FILE_LIMIT = 5 * 2**20
"""Bytes a YAML file may have."""

CORE = {
    "null": (r"~|null|Null|NULL|", ["~", "n", "N", ""]),
    "bool": (r"true|True|TRUE|false|False|FALSE", [*"tTfF"]),
    "int": (r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+", [*"-+0123456789"]),
    "float": (
        r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)",
        [*"-+.0123456789"],
    ),
}
"""What a plain scalar is, else a text: the pattern of each type and the letters it begins with (YAML 1.2.2, 10.3.2)."""


class YamlError(TrysquareError):
    """A YAML file that cannot be read."""


class _Unread(YamlError):
    """A text that is no YAML."""


class _Core(BaseResolver):
    processing_version = (1, 2)

    def __init__(self, version: Any = None, loader: Any = None) -> None:
        super().__init__(loadumper=loader)


for _kind, (_pattern, _first) in CORE.items():
    _Core.add_implicit_resolver(f"tag:yaml.org,2002:{_kind}", re.compile(rf"(?:{_pattern})\Z"), _first)


def read_yaml(path: Path) -> Any:
    """The one document of a YAML file.

    Raises
    ------
    YamlError
        When it cannot be read.
    """
    try:
        with path.open("rb") as handle:
            data = handle.read(FILE_LIMIT + 1)
        if len(data) > FILE_LIMIT:
            raise YamlError(f"{path}: has more than {FILE_LIMIT // 2**20} MB; an evaluation is a small YAML file.")
        return parse_yaml(data.decode("utf-8-sig"))
    except OSError as error:
        raise YamlError(f"{path}: cannot be read ({error.strerror}); name a YAML file.") from None
    except (UnicodeDecodeError, _Unread) as error:
        raise YamlError(f"{path}: is no YAML that can be read: {error}; correct it.") from None


def parse_yaml(text: str) -> Any:
    """The one document of a YAML text.

    Raises
    ------
    YamlError
        Saying what of it cannot be read, on one line.
    """
    try:
        reader = YAML(typ="safe", pure=True)
        reader.Resolver = _Core
        return reader.load(text)
    except (YAMLError, ValueError, RecursionError) as error:
        raise _Unread(one_line(str(error))[:300]) from None
