"""Values of options that the engine would never see: what is empty or zero is refused, never taken for not given."""

import argparse


def positive(text: str) -> int:
    """A number of things, 1 or more."""
    if not text.isascii() or not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no number; write 1 or more")
    return int(text)


def filled(text: str) -> str:
    """A text that is not blank."""
    if not text.strip():
        raise argparse.ArgumentTypeError(f"{text!r} says nothing; write the value, or leave the option out")
    return text
