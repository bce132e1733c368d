"""The gap table a bench would have published, by the definition alone."""

import statistics

import definition

MEASURES = {
    "in": ("input", statistics.median),
    "out": ("output", statistics.median),
    "turns": ("tours", statistics.median),
    "duration": ("duree", statistics.median),
    "overflow": ("debordement", definition.mean),
}


def written(x: float, unit: str = "") -> str:
    """A gap as the bench wrote it."""
    sign, size = ("-" if x < 0 else "+"), abs(x)
    if size == 0:
        return f"+0{unit}"
    if size >= 1:
        return sign + f"{size:,.0f}".replace(",", " ") + unit
    return sign + next(text for n in range(1, 20) if float(text := f"{size:.{n}f}")) + unit


def published_table(rows: list[dict], reference: str = "base") -> dict[str, dict[str, str]]:
    """The gap table of published rows, by the definition alone."""
    samples: dict[str, dict[str, list]] = {}
    for row in rows:
        note = row["note"]
        if row["tours"] and note and note["livre"] is True and note["tests"] is True:
            values = {name: {**row, **note}.get(key) for name, (key, _) in MEASURES.items()}
            for name, value in values.items():
                judged = samples.setdefault(row["cellule"], {each: [] for each in MEASURES})[name]
                judged += [] if value is None else [value]
    stats = {name: stat for name, (_, stat) in MEASURES.items()}
    table: dict[str, dict[str, str]] = {}
    for (cell, name), (low, high, _) in definition.gap_table(samples, reference, stats).items():
        gap = stats[name](samples[cell][name]) - stats[name](samples[reference][name])
        text = written(100 * gap, " pts") if name == "overflow" else written(gap)
        table.setdefault(cell, {})[name] = f"{text} {'o' if low <= 0 <= high else '*'}"
    return table
