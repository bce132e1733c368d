"""The actor of rule smoke: whether matrices were measured the way they say."""

from collections.abc import Sequence

from trysquare.jobs import entry
from trysquare.parity import layer4


def main(arguments: Sequence[str]) -> int:
    """`MATRIX...`: one that was not is a failure."""
    holds = True
    for directory in arguments:
        report = layer4(directory)
        print(f"{directory}: the smoke pass {'holds' if report.holds else 'does not hold'}")
        print("\n".join(f"  {line}" for line in report.lines()))
        holds &= report.holds
    return 0 if holds else 1


if __name__ == "__main__":
    entry(main)
