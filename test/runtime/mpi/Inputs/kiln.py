"""Runs kiln under an MPI, and checks what it does when a rank differs, dies, stops or has no room.

Usage: kiln.py openmpi|mpich FOLDER REPETITIONS CASE...      FOLDER has the models of test/tools/kiln/Inputs/ranks.py
"""

import filecmp
import json
import os
import pathlib
import signal
import subprocess
import sys
import time

MPI, FOLDER, REPETITIONS = sys.argv[1], pathlib.Path(sys.argv[2]), int(sys.argv[3])
#: By default, mpirun ends all when a process dies. The second command leaves that to Kiln, as docs/Ranks.md says.
LAUNCH = {"openmpi": ["mpirun.openmpi", "--allow-run-as-root", "--oversubscribe"], "mpich": ["mpirun.mpich"]}[MPI]
RECOVER = {"openmpi": ["--enable-recovery", "--mca", "btl_vader_single_copy_mechanism", "none"], "mpich": ["-disable-auto-cleanup"]}[MPI]
WRAPPER = {"openmpi": [], "mpich": ["sh", "-c", 'trap "" USR1; "$0" "$@"; exit $?']}[MPI]
RANK = {"openmpi": "OMPI_COMM_WORLD_RANK", "mpich": "PMI_RANK"}[MPI]
ENVIRONMENT = {**os.environ, "UCX_RNDV_THRESH": "inf", "UCX_LOG_LEVEL": "error"}
#: A deadline in seconds, and how much later all must have ended, on a busy machine.
DEADLINE, SLACK = 8, 16
#: A target that this machine cannot run.
FOREIGN = "znver4" if " amx_tile" in pathlib.Path("/proc/cpuinfo").read_text() else "sapphirerapids"
MLP = ["mlp.onnx", "--ranks=2", "--input=x=normal"]


def start(*command, count=2, options=(), wrapper=()):
    return subprocess.Popen([*LAUNCH, *options, "-np", str(count), *wrapper, "kiln", *command], cwd=FOLDER, env=ENVIRONMENT, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def finish(process, status):
    out, err = process.communicate(timeout=120)
    if process.returncode != status:
        sys.exit(f"{process.args} ended with {process.returncode}:\n{out}{err}")
    return out, err


def run(*command, status=0, **options):
    return finish(start(*command, **options), status)


def check(holds, what):
    if not holds:
        sys.exit(f"{MPI}: {what}")


def compute():
    """The bits of ranks that are threads; rank 0 alone prints."""
    subprocess.run(["kiln", "run", *MLP, "--output-dir", "threads", "-q"], cwd=FOLDER, check=True)
    out, _ = run("run", *MLP, "--output-dir", "ranks", "--json")
    check(json.loads(out)["outputs"][0]["name"] == "y", out)
    check(filecmp.cmp(FOLDER / "threads/y.npy", FOLDER / "ranks/y.npy", shallow=False), "other bits than with threads")
    # Its three outputs go in one message.
    layer = ["run", "lstm_two.onnx", "--ranks=2", "--input=x=normal", "-q", "--output-dir"]
    subprocess.run(["kiln", *layer, "threads"], cwd=FOLDER, check=True)
    run(*layer, "ranks")
    check(all(filecmp.cmp(FOLDER / f"threads/{name}.npy", FOLDER / f"ranks/{name}.npy", shallow=False) for name in "yhc"), "other bits of merged exchanges")
    run("run", "strings.onnx", "--ranks=2", "--input=x=x.pb", "--input=y=y.pb", "--output-dir", "strings", "-q")
    check(b"a\0\0\0c\0\0\0d" in (FOLDER / "strings/z.npy").read_bytes(), "other strings")


def verify():
    out, _ = run("verify", "attention.onnx", "--ranks=2", "--run-dim=seq=5", "--threads=2")
    check(out.count("right: 1 output agrees, and every kernel computes what the reference does") == 1, out)


def bench():
    out, _ = run("bench", *MLP, "--min-time=0.2", "--json")
    ranks = json.loads(out)["ranks"]
    check(len(ranks) == 2 and all(rank["median_ms"] > 0 and rank["compute_ms"] > 0 and rank["exchange_ms"] > 0 for rank in ranks), out)
    out, _ = run("bench", *MLP, "--min-time=0.2")
    check("rank 1: median" in out and out.count("the slowest") == 1, out)


def refuse():
    """A wrong number of processes, a file that is no model, a rank that cannot run the code: one message, and the same status for all."""
    _, err = run("run", *MLP, "--output-dir", "none", count=3, status=2)
    check(err.count("error: the model is cut for 2 ranks, but 3 processes were started: mpirun -np 2, or --launcher=none") == 1, err)
    (FOLDER / "broken.onnx").write_text("no model")
    _, err = run("run", "broken.onnx", "--ranks=2", "--output-dir", "none", status=1)
    check(err.count("error: ") == 1, err)
    other = ["sh", "-c", f'if [ "${RANK}" = 1 ]; then export KILN_TARGET={FOREIGN}; fi; exec "$0" "$@"']
    _, err = run("run", *MLP, f"--target={FOREIGN},generic", "--output-dir", "none", wrapper=other, status=1)
    check(err.count("error: rank 1: this machine can run none of the model's targets") == 1, err)
    _, err = run("run", *MLP, status=2)
    check(err.count("error: no output folder") == 1, err)
    check(not (FOLDER / "none").exists(), "outputs were written")


def find_ranks(mark, rank=""):
    """The processes of kiln with this mark, of this rank or of all."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        try:
            names = (entry / "environ").read_bytes().split(b"\0") if entry.name.isdigit() else []
            isOurs = f"KILN_TEST={mark}".encode() in names and any(name.startswith(f"{RANK}={rank}".encode()) for name in names)
            if isOurs and (entry / "comm").read_text() == "kiln\n":
                found.append(int(entry.name))
        except OSError:
            pass
    return found


def interrupt(what, recovers):
    """Rank 1 gets a signal while it runs. Seconds from there to the end of all."""
    mark = ENVIRONMENT["KILN_TEST"] = f"{os.getpid()}-{time.monotonic_ns()}"
    process = start("bench", *MLP, "--min-time=60", f"--deadline={DEADLINE}", "-v", options=RECOVER if recovers else (), wrapper=WRAPPER if recovers else ())
    said = ""
    while "translation units" not in said:
        line = process.stderr.readline()
        check(line, f"rank 0 has ended before it ran:\n{said}")
        said += line
    time.sleep(0.3)
    begin = time.monotonic()
    os.kill(find_ranks(mark, 1)[0], what)
    # An mpirun that ends all itself has a status of its own; that of Open MPI has none when it is to recover.
    waits, isBlind = recovers or what == signal.SIGSTOP, recovers and MPI == "openmpi"
    _, err = finish(process, 0 if isBlind else 1) if waits else process.communicate(timeout=120)
    took = time.monotonic() - begin
    check(took < DEADLINE + SLACK and (isBlind or process.returncode != 0), f"{what} took {took:.1f} s and gave {process.returncode}:\n{err}")
    check(not waits or "another rank did not come before the deadline" in err or "another rank has failed" in err, err)
    # A rank that was stopped may have a word of its own, when mpirun wakes it to end it.
    check(err.count("error: ") - err.count("error: rank 1: ") <= 1, err)
    while left := find_ranks(mark):
        check(time.monotonic() - begin < DEADLINE + SLACK, f"processes are left: {left}")
        time.sleep(0.1)
    return took


def kill():
    return interrupt(signal.SIGKILL, recovers=True)


def kill_all():
    return interrupt(signal.SIGKILL, recovers=False)


def stop():
    return interrupt(signal.SIGSTOP, recovers=False)


def fill():
    """Outputs that do not fit: nothing is there afterwards. FULL is a small file system, with a large file in it."""
    begin = time.monotonic()
    _, err = run("run", *MLP, "--output-dir", "full/outputs", status=1)
    check(err.count("error: cannot write") == 1 and "No space left on device" in err, err)
    check(not list((FOLDER / "full").glob("**/*.npy")), "something was written")
    return time.monotonic() - begin


def starve():
    """No room for MPI's shared memory: Open MPI takes sockets, MPICH ends all."""
    begin = time.monotonic()
    process = start("run", *MLP, "--output-dir", "starved", "-q")
    _, err = process.communicate(timeout=120)
    check((process.returncode == 0) == (MPI == "openmpi") == (FOLDER / "starved/y.npy").exists(), f"ended with {process.returncode}:\n{err}")
    return time.monotonic() - begin


def main():
    for case in sys.argv[4:]:
        times = [globals()[case]() for _ in range(REPETITIONS)]
        print(f"{case}: {len(times)} times" + (f", at most {max(times):.1f} s" if None not in times else ""), flush=True)


main()
