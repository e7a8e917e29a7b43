"""A terminal that tests look at."""
import fcntl
import os
import pty
import struct
import termios


def open(columns):
    """The two ends: what a test reads, and what a command gets and the test closes."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    return ours, theirs


def read(ours):
    """All that is shown until the command's end is closed."""
    shown = b""
    try:
        while piece := os.read(ours, 4096):
            shown += piece
    except OSError:  # the other end is closed
        pass
    return shown.decode()
