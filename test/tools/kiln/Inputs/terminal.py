"""Runs a command with a terminal for its standard error, and prints what it showed there, control characters escaped."""
import os
import subprocess
import sys

import pseudoterminal

ours, theirs = pseudoterminal.open(80)
process = subprocess.Popen(sys.argv[1:], stdout=subprocess.PIPE, stderr=theirs)
os.close(theirs)
shown = pseudoterminal.read(ours)
print(f"status {process.wait()}, {len(process.stdout.read())} bytes on standard output")
for line in shown.split("\r"):
    print(repr(line))
