"""Preparing the repository a run measures, reading off what the agent did, and making its final tree again.

What is measured is an immutable commit, cloned for each run. What an agent did is the difference between its final tree
and the base commit, read through a git directory of the harness's own.
"""

from trysquare.repo.agents import agent_frontmatter, check_agent_models
from trysquare.repo.changes import Change, capture, changed_files, diff
from trysquare.repo.command import git
from trysquare.repo.content import materialise
from trysquare.repo.etalon import commit_of, etalon_file, etalon_files, is_commit, resolve_etalon
from trysquare.repo.prepared import Base, Prepared, SetupFailed
from trysquare.repo.preparing import give, inject, prepare
from trysquare.repo.rebuilding import apply_diff, rebuild
from trysquare.repo.sources import answer, clone, clone_argv, pin
from trysquare.repo.stores import store

__all__ = [
    "Base",
    "Change",
    "Prepared",
    "SetupFailed",
    "agent_frontmatter",
    "answer",
    "apply_diff",
    "capture",
    "changed_files",
    "check_agent_models",
    "clone",
    "clone_argv",
    "commit_of",
    "diff",
    "etalon_file",
    "etalon_files",
    "git",
    "give",
    "inject",
    "is_commit",
    "materialise",
    "pin",
    "prepare",
    "rebuild",
    "resolve_etalon",
    "store",
]
