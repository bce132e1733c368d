"""The one hierarchy of errors a user can act on."""

import errno
import os
import sys


class TrysquareError(Exception):
    """A condition the user can act on.

    Its text is one sentence that says what is wrong, where, and what to do instead. Commands and jobs print it
    alone and exit 1; a traceback is reserved for defects of this package.
    """


DENIED = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM, errno.EIO})
"""What an operating system refuses that is no defect of this package, whatever it names."""

MISPLACED = frozenset(
    {errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.EEXIST, errno.ELOOP, errno.ENAMETOOLONG, errno.EINVAL}
)
"""What it answers for a path where something else lies, or where nothing can be put."""


def refused(error: OSError) -> str:
    """The sentence for a path that cannot be used as it was to be; empty for an error that is about no path.

    The one place that words them: the console command, the launch and the jobs all end with it.
    """
    where, what = error.filename2 or error.filename, str(error.strerror).lower()
    if error.errno in DENIED:
        return (
            f"{where or 'the results'} cannot be written or read ({what}): free space or give access, and launch "
            "again; what is recorded is kept."
        )
    if error.errno in MISPLACED and where:
        return (
            f"{where} cannot be used ({what}): name another place, or move what is in its way; what is recorded "
            "is kept."
        )
    return ""


def unheard() -> int:
    """Send what is still to be said nowhere, since whoever read it has heard enough; returns the exit status."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
    return 1


class RepoError(TrysquareError):
    """A repository, a commit or a patch that is not what the archive or the scenario says."""


class AgentError(TrysquareError):
    """The coding agent cannot be started on this machine."""


class ArchiveError(TrysquareError):
    """A matrix directory that is damaged, or that belongs to another experiment."""
