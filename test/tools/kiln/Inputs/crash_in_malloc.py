"""Lets malloc crash at several moments of a command. Usage: crash_in_malloc.py CRASHING.so MODEL FOLDER"""

import os
import subprocess
import sys

library, model, folder = sys.argv[1:]
MOST_SECONDS = 30
commands = {"compile": ["kiln", model, "-o", folder + "/out", "-q"], "run": ["kiln", "run", model, "--run-dim", "N=2", "--input", "x=ones", "--output-dir", folder + "/run", "-q"]}


def run(command, at):
    environment = dict(os.environ, LD_PRELOAD=library, CRASH_AT=str(at), KILN_CACHE="off", TMPDIR=folder, ASAN_OPTIONS="verify_asan_link_order=0")
    return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=MOST_SECONDS)


reported = 0
for name, command in commands.items():
    # Twice as far each time, until the command ends before its malloc crashes.
    at = 20000
    while (done := run(command, at)).returncode != 0:
        if done.returncode != 3 or "internal error in Kiln" not in done.stderr:
            sys.exit(f"{name}, allocation {at}: status {done.returncode}\n{done.stderr[-2000:]}")
        reported += 1
        at *= 2
print(reported, "crashes reported")
