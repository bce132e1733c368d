# in:  the scenario and the machine file (main process), or plan.json of the job's own matrix (any other)
# out: LAUNCH, what every rule asks
import sys
from pathlib import Path

sys.path.insert(0, str(Path(str(workflow.current_basedir)).parent.parent))

from trysquare.launch import Launch

LAUNCH = Launch.of(config, workflow)

# Jobs run with the interpreter of the launch, also when its environment is not the active one.
shell.prefix(LAUNCH.shell_prefix)


wildcard_constraints:
    matrix=r".+_n\d+",
    run=r"([^/]+/)?[0-9a-f]{8}",
    validator=r"[A-Za-z0-9_-]+",
    digest=r"[0-9a-f]{24}(-[0-9a-f]{8})?",
    reference=r"[^/]+",
