"""Counts the lines that `kiln inspect` prints beyond the width of a terminal."""
import subprocess
import sys

import pseudoterminal

COLUMNS = 44
ours, theirs = pseudoterminal.open(COLUMNS)
command = subprocess.Popen(["kiln", "inspect", sys.argv[1], "--kernels"], stdout=theirs)
pseudoterminal.os.close(theirs)
shown = pseudoterminal.read(ours)
command.wait()
lines = (shown.decode() if isinstance(shown, bytes) else shown).splitlines()
assert any(line.startswith("metadata") for line in lines), lines
print(sum(len(line) > COLUMNS for line in lines), "lines are too long")
