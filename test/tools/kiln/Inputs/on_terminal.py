"""Runs a command with a terminal of N columns for standard output and error, and prints what it showed: on_terminal.py N COMMAND..."""
import os
import subprocess
import sys

import pseudoterminal

ours, theirs = pseudoterminal.open(int(sys.argv[1]))
environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
environment.setdefault("TERM", "xterm")
process = subprocess.Popen(sys.argv[2:], stdout=theirs, stderr=theirs, env=environment)
os.close(theirs)
print(pseudoterminal.read(ours).replace("\r\n", "\n").replace("\x1b", "<ESC>").replace("\r", "<CR>"), end="")
sys.exit(process.wait())
