"""Runs a command with a terminal of N columns for standard output and error, and prints what it showed: on_terminal.py N COMMAND..."""
import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios

ours, theirs = pty.openpty()
fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, int(sys.argv[1]), 0, 0))
environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
environment.setdefault("TERM", "xterm")
process = subprocess.Popen(sys.argv[2:], stdout=theirs, stderr=theirs, env=environment)
os.close(theirs)
shown = b""
try:
    while piece := os.read(ours, 4096):
        shown += piece
except OSError:  # the other end is closed
    pass
print(shown.decode().replace("\r\n", "\n").replace("\x1b", "<ESC>").replace("\r", "<CR>"), end="")
sys.exit(process.wait())
