"""Runs ranks.cpp under an MPI, and checks what each rank prints.

Usage: ranks.py openmpi|mpich PROGRAM REPETITIONS DEADLINE [FAILURE...]
The failures, all if none is named, are repeated as often, with a deadline in milliseconds.
"""

import re
import subprocess
import sys
import time

import mpirun

LATE, FAILED = "another rank did not come before the deadline", "another rank has failed"
MISMATCH = "the ranks differ in their libraries, dimensions or calls"
#: Beyond the deadline, on a machine that is busy.
SLACK_MS = 2000


def run(mpi, program, ranks, mode, deadline):
    """The lines of each rank."""
    command = mpirun.MPIS[mpi].start(ranks, [program, mode, deadline], recovers=True)
    result = subprocess.run(command, capture_output=True, text=True, env=mpirun.ENVIRONMENT, timeout=120)
    lines = [re.fullmatch(r"rank (\d+)(?: of \d+)?: (.*?)(?: after (\d+) ms)?", line) for line in result.stdout.splitlines()]
    found = [[] for _ in range(ranks)]
    for line in filter(None, lines):
        found[int(line[1])].append((line[2], int(line[3] or 0)))
    return found, result.stdout + result.stderr


def check(mpi, program, ranks, mode, deadline, expected):
    """`expected`: for each rank, its lines, each with the texts that it may have. Returns the longest time."""
    found, output = run(mpi, program, ranks, mode, deadline)
    fits = all(len(lines) == len(wanted) and all(text in texts and ms <= deadline + SLACK_MS for (text, ms), texts in zip(lines, wanted))
               for lines, wanted in zip(found, expected))
    # A report need not end a rank, and mpirun need not hand on its status.
    if not fits or "Sanitizer:" in output:
        sys.exit(f"{mpi}, {mode}, {ranks} ranks:\n{output}")
    return max(ms for lines in found for _, ms in lines)


def main():
    mpi, program, repetitions, deadline = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    for ranks in (2, 4):
        check(mpi, program, ranks, "cases", deadline, [[{"the bits of a plain computation"}]] * ranks)
    gone = {f"end: {LATE}", f"end: {FAILED}"}
    failures = {
        "mismatch": [[{f"all_reduce: {MISMATCH}"}, {f"all_reduce: {MISMATCH}"}, {f"begin: {MISMATCH}"}]] * 3,
        "error": [[{f"end: {FAILED}"}], [{"end: an index in the input data is out of bounds"}], [{f"end: {FAILED}"}]],
        "killed": [[gone], [], [gone], [gone]],
        "stopped": [[gone], [gone], [gone], [gone]],
    }
    for mode in sys.argv[5:] or failures:
        expected = failures[mode]
        begin = time.time()
        longest = max(check(mpi, program, len(expected), mode, deadline, expected) for _ in range(repetitions))
        print(f"{mode}: {repetitions} times, at most {longest} ms, {time.time() - begin:.0f} s", flush=True)


main()
