"""Sessions as pages to read, made by the agent itself: nobody else knows their format."""

import subprocess
import tempfile
from pathlib import Path

from trysquare import interrupt
from trysquare.agent.home import environment, home
from trysquare.agent.installation import command
from trysquare.files import write_bytes
from trysquare.measure.stream import one_line

CEILING = 10**6


def export_html(session: Path, target: Path, timeout: float = 120) -> Path:
    """Render a session file as `<target>/<stem>.html`, a page that stands alone, and return its path.

    Raises
    ------
    RuntimeError
        Whatever went wrong; one session that cannot be rendered need not cost the others.
    """
    page = target / f"{session.stem}.html"
    with tempfile.TemporaryDirectory(prefix="trysquare-export-") as scratch:
        made = Path(scratch) / "page.html"
        env = environment(home(Path(scratch) / "home", "off", {}), {})
        argv = [*command(), "--offline", "--export", str(session.absolute()), str(made)]
        try:
            done = interrupt.run(
                argv,
                cwd=scratch,
                env=env,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=timeout,
                ceiling=CEILING,
            )
        except (OSError, subprocess.TimeoutExpired, interrupt.TooMuchOutput) as error:
            raise RuntimeError(f"{session} could not be rendered: {error}") from error
        if done.returncode or not made.is_file():
            reason = one_line(done.stderr or done.stdout)[:300] or "no page was made"
            raise RuntimeError(f"{session} could not be rendered: {reason}")
        write_bytes(page, made.read_bytes())
    return page
