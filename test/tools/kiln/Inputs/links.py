"""links.py TMPDIR TARGET -- COMMAND: runs a command after there are links to TARGET at the names that its number as a process would give."""
import os
import sys

for name in ("kiln-{}.mlir", "kiln-{}.crash.txt", "kiln-{}"):
    os.symlink(sys.argv[2], os.path.join(sys.argv[1], name.format(os.getpid())))
os.environ["TMPDIR"] = sys.argv[1]
# A program keeps the number of what it replaces.
os.execvp(sys.argv[4], sys.argv[4:])
