"""The one hierarchy of errors a user can act on."""

import errno


class TrysquareError(Exception):
    """A condition the user can act on.

    Its text is one sentence that says what is wrong, where, and what to do instead. Commands and jobs print it
    alone and exit 1; a traceback is reserved for defects of this package.
    """


REFUSED = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM, errno.EIO})
"""What an operating system refuses that is no defect of this package."""


def refused(error: OSError) -> str:
    """The sentence for a disk that is full or must not be written; empty for any other error."""
    if error.errno not in REFUSED:
        return ""
    where = error.filename2 or error.filename or "the results"
    return (
        f"{where} cannot be written or read ({str(error.strerror).lower()}): free space or give access, and launch "
        "again; what is recorded is kept."
    )


class RepoError(TrysquareError):
    """A repository, a commit or a patch that is not what the archive or the scenario says."""


class AgentError(TrysquareError):
    """The coding agent cannot be started on this machine."""


class ArchiveError(TrysquareError):
    """A matrix directory that is damaged, or that belongs to another experiment."""
