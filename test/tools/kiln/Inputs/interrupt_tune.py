"""Runs kiln tune with more rounds than anybody waits for, and presses Ctrl-C after some: interrupt_tune.py MODEL PROFILE [OPTION]..."""

import signal
import subprocess
import sys

model, profile, *options = sys.argv[1:]
command = ["kiln", "tune", model, "--rounds", "100000", "--min-gain=-100", "-o", profile, "-v", *options]
process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
# The own choices and the first three others are compiled, then their rounds begin.
for line in process.stderr:
    if line.startswith("step 7 of"):
        process.send_signal(signal.SIGINT)
        break
out, errors = process.communicate()
print(errors + out + f"status {process.returncode}")
