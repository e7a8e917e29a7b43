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

import mpirun

#: How many seconds after the deadline all must have ended, on a busy machine, and how long mpirun may take to end behind the last rank before it is asked what it waits for.
SLACK, REST = 16, 10
#: A target that this machine cannot run without these features.
FOREIGN, HIDDEN = "x86-64-v3", "avx2"
MLP = ["mlp.onnx", "--ranks=2", "--input=x=normal"]
BENCH = ["bench", *MLP, "--min-time=60"]


class Kiln:
    """kiln under an MPI, in a folder that has the models."""

    def __init__(self, mpi, folder, deadline=8):
        """A deadline in seconds."""
        self.mpi, self.folder, self.deadline, self.patience = mpi, folder, deadline, 120
        self.fault_of_mpi = ""
        self.mark = f"{os.getpid()}-{id(self)}-{time.monotonic_ns()}"
        self.environment = {**mpirun.ENVIRONMENT, "KILN_TEST": self.mark}

    def start(self, *command, count=2, recovers=False, wrapper=()):
        line = self.mpi.start(count, ["kiln", *command], recovers, wrapper)
        return subprocess.Popen(line, cwd=self.folder, env=self.environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def finish(self, process, status):
        out, err = process.communicate(timeout=self.patience)
        self.check(process.returncode == status, f"{process.args} ended with {process.returncode}:\n{out}{err}")
        return out, err

    def run(self, *command, status=0, **options):
        return self.finish(self.start(*command, **options), status)

    def end_struck(self, process, begin, in_start):
        """What mpirun says until it ends, of which a rank was struck, and when that was. Where a process dies inside of MPI_Init, mpirun has faults of its own. One of
        Open MPI in a hundred loses a connection and waits for ever in its own end, for a lock of PMIx; the end is then that of the last rank. That of MPICH gives up, and
        ends all, when a process dies while it tells it of the others."""
        gone = None
        while True:
            try:
                err, gone = process.communicate(timeout=0.5)[1], time.monotonic()
                if in_start and self.mpi == mpirun.MPICH and "assert (!closed) failed" in err:
                    self.fault_of_mpi = "mpirun gives up"
                return err, gone
            except subprocess.TimeoutExpired:
                now = time.monotonic()
                gone = None if mpirun.find_processes(self.mark, "kiln") else gone or now
                if in_start and gone and now - gone > REST and self.mpi == mpirun.OPENMPI and mpirun.waits_for_lock(process.pid):
                    self.fault_of_mpi = "mpirun does not end"
                    process.kill()
                    err = process.communicate(timeout=self.patience)[1]
                    self.check("PMIX ERROR: UNREACHABLE" in err, f"mpirun does not end, and has lost no connection:\n{err}")
                    return err, gone
                if now - begin > self.patience:
                    raise

    def check(self, holds, what):
        if not holds:
            sys.exit(f"{self.mpi.name}: {what}")

    def compute(self):
        """The bits of ranks that are threads; rank 0 alone prints."""
        subprocess.run(["kiln", "run", *MLP, "--output-dir", "threads", "-q"], cwd=self.folder, check=True)
        out, _ = self.run("run", *MLP, "--output-dir", "ranks", "--json")
        self.check(json.loads(out)["outputs"][0]["name"] == "y", out)
        self.check(filecmp.cmp(self.folder / "threads/y.npy", self.folder / "ranks/y.npy", shallow=False), "other bits than with threads")
        # Its three outputs go in one message.
        layer = ["run", "lstm_two.onnx", "--ranks=2", "--input=x=normal", "-q", "--output-dir"]
        subprocess.run(["kiln", *layer, "threads"], cwd=self.folder, check=True)
        self.run(*layer, "ranks")
        same = (filecmp.cmp(self.folder / f"threads/{name}.npy", self.folder / f"ranks/{name}.npy", shallow=False) for name in "yhc")
        self.check(all(same), "other bits of merged exchanges")
        self.run("run", "strings.onnx", "--ranks=2", "--input=x=x.pb", "--input=y=y.pb", "--output-dir", "strings", "-q")
        self.check(b"a\0\0\0c\0\0\0d" in (self.folder / "strings/z.npy").read_bytes(), "other strings")

    def verify(self):
        out, _ = self.run("verify", "attention.onnx", "--ranks=2", "--run-dim=seq=5", "--threads=2")
        self.check(out.count("right: 1 output agrees, and every kernel computes what the reference does") == 1, out)

    def bench(self):
        out, _ = self.run("bench", *MLP, "--min-time=0.2", "--json")
        ranks = json.loads(out)["ranks"]
        self.check(len(ranks) == 2 and all(rank["median_ms"] > 0 and rank["compute_ms"] > 0 and rank["exchange_ms"] > 0 for rank in ranks), out)
        out, _ = self.run("bench", *MLP, "--min-time=0.2")
        self.check("rank 1: median" in out and out.count("the slowest") == 1, out)

    def refuse(self):
        """A wrong number of processes, a file that is no model, a rank that cannot run the code: one message, and the same status for all."""
        _, err = self.run("run", *MLP, "--output-dir", "none", count=3, status=2)
        self.check(err.count("error: the model is cut for 2 ranks, but 3 processes were started: mpirun -np 2, or --launcher=none") == 1, err)
        (self.folder / "broken.onnx").write_text("no model")
        _, err = self.run("run", "broken.onnx", "--ranks=2", "--output-dir", "none", status=1)
        self.check(err.count("error: ") == 1, err)
        other = ["sh", "-c", f'if [ "${self.mpi.rank}" = 1 ]; then export KILN_TARGET={FOREIGN} KILN_CPU_WITHOUT={HIDDEN}; fi; exec "$0" "$@"']
        _, err = self.run("run", *MLP, f"--target={FOREIGN},generic", "--output-dir", "none", wrapper=other, status=1)
        self.check(err.count(f"error: rank 1: this machine without {HIDDEN} can run none of the model's targets") == 1, err)
        _, err = self.run("run", *MLP, status=2)
        self.check(err.count("error: no output folder") == 1, err)
        self.differ(["kiln", "run", *MLP, "--output-dir", "none"], ["kiln", "run", *MLP[:1], "--ranks=4", "--output-dir", "none"])
        self.check(not (self.folder / "none").exists(), "outputs were written")

    def differ(self, first, second):
        """Rank 0 runs the first command and rank 1 the second one: both end, with one message."""
        line = self.mpi.start_each([(1, first), (1, second)])
        process = subprocess.Popen(line, cwd=self.folder, env=self.environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        _, err = self.finish(process, 2)
        self.check(err.count("error: the processes are not all the same version of Kiln with the same command, --ranks and --stages") == 1, err)

    def await_rank(self, process, text):
        """The process of rank 1, once rank 0 has said this text; without a text, once it is there."""
        said = ""
        while text and text not in said:
            line = process.stderr.readline()
            self.check(line, f"rank 0 has ended before it ran:\n{said}")
            said += line
        while not (found := mpirun.find_processes(self.mark, "kiln", f"{self.mpi.rank}=1")) and process.poll() is None:
            time.sleep(0.02)
        return found[0] if found else None

    def interrupt(self, what, recovers, command=BENCH, text="translation units", delay=0.3):
        """Rank 1 gets a signal, this time after rank 0 has said this. Seconds from there to the end of all; None if they had ended before."""
        process = self.start(*command, f"--deadline={self.deadline}", "-v", recovers=recovers)
        rank = self.await_rank(process, text)
        time.sleep(delay)
        begin = time.monotonic()
        try:
            os.kill(rank, what)
        except (ProcessLookupError, TypeError):
            process.communicate(timeout=self.patience)
            return None
        # In a run, which rank 0 tells of, it has no fault.
        err, end = self.end_struck(process, begin, in_start=what == signal.SIGKILL and not text)
        # An mpirun that ends all itself has a status of its own; that of Open MPI has none when it is to recover. MPICH's may have that of the rank that was killed.
        waits, took = recovers or what == signal.SIGSTOP, end - begin
        if not self.fault_of_mpi:
            is_right = process.returncode != 0 if not waits else process.returncode in ([0] if self.mpi == mpirun.OPENMPI and recovers else [1, 128 + what])
            self.check(is_right, f"{process.args} ended with {process.returncode}:\n{err}")
        self.check(took < self.deadline + SLACK, f"{what} took {took:.1f} s and gave {process.returncode}:\n{err}")
        said = "another rank did not come before the deadline" in err or "another rank has failed" in err
        self.check(not waits or said or self.fault_of_mpi == "mpirun gives up", err)
        # A rank that was stopped may have a word of its own, when mpirun wakes it to end it.
        self.check(err.count("error: ") - err.count("error: rank 1: ") <= 1, err)
        while left := mpirun.find_processes(self.mark, "kiln"):
            self.check(time.monotonic() - begin < self.deadline + SLACK, f"processes are left: {left}")
            time.sleep(0.1)
        return took

    def kill(self):
        return self.interrupt(signal.SIGKILL, recovers=True)

    def kill_all(self):
        return self.interrupt(signal.SIGKILL, recovers=False)

    def stop(self):
        return self.interrupt(signal.SIGSTOP, recovers=False)

    def stop_in_compile(self):
        """Rank 1 is stopped while rank 0 compiles, which takes longer than all may take to end."""
        deadline = 2
        slow = self.folder / "slow"
        slow.write_text(f'#!/bin/sh\nfor i in $(seq {(deadline + SLACK) * 10}); do [ -d /proc/$PPID ] || exit 1; sleep 0.2; done\n')
        slow.chmod(0o755)
        command = ["run", *MLP, "--output-dir", "none", f"--cxx={slow}", "--no-cache", f"--deadline={deadline}"]
        process = self.start(*command)
        rank = self.await_rank(process, "")
        while not mpirun.find_processes(self.mark, "slow"):
            time.sleep(0.1)
        begin = time.monotonic()
        os.kill(rank, signal.SIGSTOP)
        _, err = process.communicate(timeout=self.patience)
        took = time.monotonic() - begin
        self.check(process.returncode not in (0, None) and "another rank did not come before the deadline" in err, f"ended with {process.returncode}:\n{err}")
        self.check(took < deadline + SLACK, f"took {took:.1f} s:\n{err}")
        return took

    def fill(self):
        """Outputs that do not fit: nothing is there afterwards. FULL is a small file system, with a large file in it."""
        begin = time.monotonic()
        _, err = self.run("run", *MLP, "--output-dir", "full/outputs", status=1)
        self.check(err.count("error: cannot write") == 1 and "No space left on device" in err, err)
        self.check(not list((self.folder / "full").glob("**/*.npy")), "something was written")
        return time.monotonic() - begin

    def starve(self):
        """No room for MPI's shared memory: Open MPI takes sockets, MPICH ends all."""
        begin = time.monotonic()
        process = self.start("run", *MLP, "--output-dir", "starved", "-q")
        _, err = process.communicate(timeout=self.patience)
        self.check((process.returncode == 0) == (self.mpi == mpirun.OPENMPI) == (self.folder / "starved/y.npy").exists(), f"ended with {process.returncode}:\n{err}")
        return time.monotonic() - begin


def main():
    kiln, repetitions = Kiln(mpirun.MPIS[sys.argv[1]], pathlib.Path(sys.argv[2])), int(sys.argv[3])
    for case in sys.argv[4:]:
        times = [getattr(kiln, case)() for _ in range(repetitions)]
        print(f"{case}: {len(times)} times" + (f", at most {max(times):.1f} s" if None not in times else ""), flush=True)


if __name__ == "__main__":
    main()
