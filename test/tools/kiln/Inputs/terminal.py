"""Runs a command with a terminal for its standard error, and prints what it showed there, control characters escaped."""
import os
import pty
import subprocess
import sys

ours, theirs = pty.openpty()
process = subprocess.Popen(sys.argv[1:], stdout=subprocess.PIPE, stderr=theirs)
os.close(theirs)
shown = b""
try:
    while piece := os.read(ours, 4096):
        shown += piece
except OSError:  # the other end is closed
    pass
print(f"status {process.wait()}, {len(process.stdout.read())} bytes on standard output")
for line in shown.decode().split("\r"):
    print(repr(line))
