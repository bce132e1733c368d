"""The one hierarchy of errors a user can act on."""


class TrysquareError(Exception):
    """A condition the user can act on.

    Its text is one sentence that says what is wrong, where, and what to do instead. Commands and jobs print it
    alone and exit 1; a traceback is reserved for defects of this package.
    """


class RepoError(TrysquareError):
    """A repository, a commit or a patch that is not what the archive or the scenario says."""


class AgentError(TrysquareError):
    """The coding agent cannot be started on this machine."""


class ArchiveError(TrysquareError):
    """A matrix directory that is damaged, or that belongs to another experiment."""
