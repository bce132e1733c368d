"""The matrices of a launch as an earlier one froze them, for what works on the archive alone."""

from pathlib import Path

from trysquare.errors import ArchiveError
from trysquare.layout import Layout
from trysquare.matrix import Matrix
from trysquare.outputs import experiment_name
from trysquare.runner.plan import matrices_root
from trysquare.runner.settings import Settings
from trysquare.scenario import load


def frozen(settings: Settings) -> dict[str, tuple[Path, Matrix]]:
    """The matrix of each scenario, found by its name alone: no file a scenario names, and no repository, is read.

    Raises
    ------
    TrysquareError
        When a scenario is none, or was never launched.
    """
    found = {}
    for name in settings.scenario:
        scenario = load(name, files=False)
        root = matrices_root(settings.output, scenario, rehearse=settings.rehearse)
        directory = root / experiment_name(scenario, settings.repetitions or scenario.protocol.repetitions)
        matrix = Matrix.load(Layout(directory).plan)
        if matrix.experiment.name != scenario.name:
            raise ArchiveError(f"{directory} holds another experiment; give the scenario another name.")
        found[name] = (directory, matrix)
    return found
