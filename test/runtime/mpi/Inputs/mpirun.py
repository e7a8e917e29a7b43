"""How tests start processes under an MPI, and find them again."""

import dataclasses
import os
import pathlib


@dataclasses.dataclass
class Mpi:
    name: str
    #: By default, mpirun ends all when a process dies. With `recover` and `wrapper`, the others go on, and none reads the memory of one that is gone (docs/Ranks.md).
    launch: list
    recover: list
    wrapper: list
    rank: str

    def start(self, count, command, recovers=False, wrapper=()):
        """The command line for as many processes."""
        return self.start_each([(count, command)], recovers, wrapper)

    def start_each(self, programs, recovers=False, wrapper=()):
        """The same for several programs, each with its number of processes."""
        line = [*self.launch, *(self.recover if recovers else ())]
        for i, (count, command) in enumerate(programs):
            line += [*([":"] if i else []), "-np", str(count), *(self.wrapper if recovers else ()), *wrapper, *map(str, command)]
        return line


OPENMPI = Mpi("openmpi", ["mpirun.openmpi", "--allow-run-as-root", "--oversubscribe"],
              ["--enable-recovery", "--mca", "btl_vader_single_copy_mechanism", "none"], [], "OMPI_COMM_WORLD_RANK")
MPICH = Mpi("mpich", ["mpirun.mpich"], ["-disable-auto-cleanup"], ["sh", "-c", 'trap "" USR1; "$0" "$@"; exit $?'], "PMI_RANK")
MPIS = {mpi.name: mpi for mpi in (OPENMPI, MPICH)}
ENVIRONMENT = {**os.environ, "UCX_RNDV_THRESH": "inf", "UCX_LOG_LEVEL": "error"}


def find_processes(mark, name, variable=""):
    """Those of a program that were started with KILN_TEST=mark, and with this variable (`PMI_RANK=1`)."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        try:
            variables = (entry / "environ").read_bytes().split(b"\0") if entry.name.isdigit() else []
            if {f"KILN_TEST={mark}".encode(), *([variable.encode()] if variable else [])} <= set(variables) and (entry / "comm").read_text() == f"{name}\n":
                found.append(int(entry.name))
        except OSError:
            pass
    return found


def waits_for_lock(process):
    """Whether the first thread of a process waits for another thread of it: in the kernel's word, in a futex."""
    return pathlib.Path(f"/proc/{process}/wchan").read_text().startswith("futex")
