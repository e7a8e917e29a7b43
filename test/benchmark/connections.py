"""What connects ranks on one machine: threads of one process, and processes under the implementations of MPI."""

import os
import pathlib
import shutil
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
OPEN_MPI = ["mpirun.openmpi", "--allow-run-as-root", "--oversubscribe", "--mca", "pml", "ob1"]
#: The implementation of MPI, the command in front of the program, and variables.
CONNECTIONS = {
    "threads": (None, [], {}),
    "Open MPI, shared memory": ("openmpi", [*OPEN_MPI, "--mca", "btl", "self,vader"], {}),
    "Open MPI, TCP on loopback": ("openmpi", [*OPEN_MPI, "--mca", "btl", "self,tcp", "--mca", "btl_tcp_if_include", "lo"], {}),
    "MPICH, shared memory": ("mpich", ["mpirun.mpich"], {"UCX_TLS": "self,posix,sysv,cma", "UCX_LOG_LEVEL": "error"}),
    "MPICH, TCP on loopback": ("mpich", ["mpirun.mpich"], {"UCX_TLS": "self,tcp", "UCX_NET_DEVICES": "lo", "UCX_LOG_LEVEL": "error", "MPIR_CVAR_NOLOCAL": "1"}),
}


def list_connections(only=""):
    """Those whose name contains a text and whose MPI is installed."""
    for name, (mpi, _, _) in CONNECTIONS.items():
        if only in name and (not mpi or (shutil.which(f"mpicxx.{mpi}") and shutil.which(f"mpirun.{mpi}"))):
            yield name


def build_program(connection, source, others, build, folder):
    """Compiles a program for a connection, with KILN_BENCHMARK_MPI defined under MPI; once for each implementation."""
    mpi = CONNECTIONS[connection][0]
    program = folder / f"{source.stem}-{mpi or 'threads'}"
    if program.exists():
        return program
    compiler = [f"mpicxx.{mpi}", "-DKILN_BENCHMARK_MPI", ROOT / "runtime/src/mpi/Mpi.cpp"] if mpi else ["g++"]
    subprocess.run([*compiler, "-std=c++17", "-O2", f"-I{ROOT}", f"-I{ROOT}/runtime/include", source, *others, build / "runtime/libkiln_runtime.a", "-pthread", "-ldl",
                    "-o", program], check=True)
    return program


def run_program(connection, program, ranks, arguments):
    """Its output, of rank 0 alone."""
    mpi, command, variables = CONNECTIONS[connection]
    command = [*command, "-np", ranks, program, *arguments] if mpi else [program, *arguments]
    return subprocess.run(list(map(str, command)), check=True, stdout=subprocess.PIPE, text=True, env={**os.environ, **variables}).stdout
