"""What is verified of a cell because nothing can set it."""


def check_thinking_precondition(declared: str, ambient: str, uses_subagents: bool) -> str | None:
    """Why a cell must not be measured whose subagents would think at another level than it declares; else None.

    Parameters
    ----------
    declared
        The level of the cell.
    ambient
        The level its subagents would run at.
    uses_subagents
        Whether it injects agents at all.
    """
    if not uses_subagents or ambient == declared:
        return None
    return (
        f"its agents would think at {ambient} and the cell declares {declared}: take the level out of their model, or "
        f'write thinking = "{ambient}".'
    )
