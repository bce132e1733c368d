"""A whole Slurm on this machine's loopback: one controller, one node, no accounting, no systemd, no control groups."""

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import psutil

DAEMONS = ("munged", "slurmctld", "slurmd")
COMMANDS = ("sbatch", "scancel", "scontrol", "sinfo", "squeue", "srun")
NODE = socket.gethostname().partition(".")[0]
PATIENCE = 180

CONFIGURATION = """
ClusterName=loopback
SlurmctldHost={node}(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={root}/munge/socket
CredType=cred/munge
SlurmctldPort={controller}
SlurmdPort={daemon}
StateSaveLocation={root}/state
SlurmdSpoolDir={root}/spool
SlurmctldPidFile={root}/slurmctld.pid
SlurmdPidFile={root}/slurmd.pid
SlurmctldLogFile={root}/slurmctld.log
SlurmdLogFile={root}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
SchedulerParameters=batch_sched_delay=0,sched_interval=2
AccountingStorageType=accounting_storage/none
SlurmdParameters=config_overrides
SlurmdTimeout=5
ReturnToService=2
EnforcePartLimits=ALL
MinJobAge=3600
KillWait=5
MailProg=/bin/true
NodeName={node} NodeAddr=127.0.0.1 CPUs=8 RealMemory=4000 State=UNKNOWN
PartitionName=main Nodes={node} Default=YES MaxTime=INFINITE State=UP
"""


def missing() -> str:
    """Why no Slurm can be started here; empty when one can."""
    absent = [
        name for name in (*DAEMONS, *COMMANDS) if shutil.which(name, path=os.environ["PATH"] + ":/usr/sbin") is None
    ]
    if absent:
        return f"{', '.join(absent)} not installed (apt-get install slurmctld slurmd slurm-client munge)"
    if any(find_spec(f"snakemake_executor_plugin_{name}") is None for name in ("slurm", "cluster_generic")):
        return "the extra `slurm` is not installed"
    return "" if os.geteuid() == 0 else "only root can start Slurm's daemons"


def _below(process: psutil.Process) -> list[psutil.Process]:
    try:
        return process.children(recursive=True)
    except psutil.NoSuchProcess:
        return []


@dataclass(frozen=True)
class Slurm:
    """A running cluster of one node; `bin` holds its commands, bound to its configuration."""

    root: Path

    @property
    def bin(self) -> Path:
        return self.root / "bin"

    @property
    def environment(self) -> dict[str, str]:
        return {"PATH": f"{self.bin}:{os.environ['PATH']}:/usr/sbin"}

    def command(self, name: str, *arguments: str) -> str:
        done = subprocess.run([self.bin / name, *arguments], capture_output=True, text=True, check=True, timeout=60)
        return done.stdout.strip()

    @property
    def queue(self) -> list[str]:
        """The ids of the jobs that wait, run, or are being ended."""
        return self.command("squeue", "--noheader", "--format=%i").split()

    def jobs_of(self, *texts: str) -> list[str]:
        """The ids of the queued jobs whose comment holds every text."""
        lines = self.command("squeue", "--noheader", "--format=%i %k").splitlines()
        return [line.split()[0] for line in lines if all(text in line for text in texts)]

    def start_node(self) -> None:
        subprocess.run(["slurmd", "-f", self.root / "slurm.conf", "-N", NODE], check=True, env=self._daemons)
        wait_for(lambda: self.command("sinfo", "--noheader", "--format=%t") in ("idle", "mix", "alloc"))

    def kill_node(self) -> None:
        """Everything on the node ends at once, as when its power goes: also what a cancelled job has still running."""
        mine = tuple(f"slurmstepd: [{job}." for job in self.queue)
        conf = str(self.root / "slurm.conf")
        steps = [
            each
            for each in psutil.process_iter(["cmdline", "environ"])
            if " ".join(each.info["cmdline"] or []).startswith(mine)
            or ("SLURM_JOB_ID" in (held := each.info["environ"] or {}) and held.get("SLURM_CONF") == conf)
        ]
        processes = [psutil.Process(self._pid("slurmd")), *steps]
        processes += [below for step in steps for below in _below(step)]
        for process in processes:
            with suppress(psutil.NoSuchProcess):
                process.kill()

    def start(self) -> None:
        for name in ("munge", "state", "spool", "bin"):
            (self.root / name).mkdir()
        self._write_commands()
        ports = {"controller": _free_port(), "daemon": _free_port()}
        text = CONFIGURATION.format(node=NODE, root=self.root, **ports)
        (self.root / "slurm.conf").write_text(text, encoding="utf-8")
        (self.root / "cgroup.conf").touch()
        self._start_munge()
        subprocess.run(["slurmctld", "-f", self.root / "slurm.conf"], check=True, env=self._daemons)
        self.start_node()

    def stop(self) -> None:
        subprocess.run([self.bin / "scancel", "--user=root"], capture_output=True, timeout=60)
        for name in ("slurmd", "slurmctld", "munge/munged"):
            try:
                number = self._pid(name)
                os.kill(number, signal.SIGTERM)
            except (FileNotFoundError, ProcessLookupError):
                continue
            wait_for(lambda number=number: not Path(f"/proc/{number}").exists())

    def _start_munge(self) -> None:
        place, key = self.root / "munge", self.root / "munge" / "key"
        key.write_bytes(os.urandom(128))
        key.chmod(0o600)
        for path in (place, key):
            shutil.chown(path, "munge", "munge")
        files = [f"--{name}-file={place}/munged.{name}" for name in ("pid", "log", "seed")]
        munged = ["munged", f"--key-file={key}", f"--socket={place}/socket", *files]
        subprocess.run(["runuser", "-u", "munge", "--", *munged], check=True, env=self._daemons)

    def _write_commands(self) -> None:
        for name in COMMANDS:
            script = self.bin / name
            script.write_text(f'#!/bin/sh\nSLURM_CONF={self.root}/slurm.conf exec /usr/bin/{name} "$@"\n')
            script.chmod(0o755)

    @property
    def _daemons(self) -> dict[str, str]:
        return {**os.environ, "PATH": os.environ["PATH"] + ":/usr/sbin"}

    def _pid(self, name: str) -> int:
        return int((self.root / f"{name}.pid").read_text())


def wait_for(condition):
    """Look until a condition holds: what happens on a cluster is told to nobody."""
    deadline = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError("what was waited for did not happen in time")
        time.sleep(0.05)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def made() -> Slurm:
    """A cluster in a short directory that the user `munge` can enter: the path of its socket may have 107 bytes."""
    root = Path(tempfile.mkdtemp(prefix="slurm-"))
    root.chmod(0o755)
    return Slurm(root)
