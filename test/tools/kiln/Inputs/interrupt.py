"""Runs a command that writes into the folder behind -o, and sends it a signal (INT, as Ctrl-C does, or KILL) as soon as it writes there.

Usage: interrupt.py SIGNAL COMMAND... A killed process may leave files only where the file system has none without names.
"""
import os
import signal
import subprocess
import sys
import time

number, command = signal.Signals["SIG" + sys.argv[1]], sys.argv[2:]
folder = os.path.realpath(command[command.index("-o") + 1])


def files():
    return os.listdir(folder) if os.path.isdir(folder) else []


def is_writing(process):
    try:
        opened = [os.readlink(f"/proc/{process}/fd/{fd}") for fd in os.listdir(f"/proc/{process}/fd")]
    except OSError:
        return False
    return any(path.startswith(folder + "/") for path in opened)


def has_nameless_files():
    try:
        os.close(os.open(os.path.dirname(folder), os.O_TMPFILE | os.O_WRONLY))
    except OSError:
        return False
    return True


process = subprocess.Popen(command)
while process.poll() is None and not files() and not is_writing(process.pid):
    time.sleep(0.0005)
process.send_signal(number)
status = process.wait()
left = files()
if number == signal.SIGKILL and not has_nameless_files():
    left = [name for name in left if not name.endswith(".part")]
if status == 0:
    whole = {"m.h", "m.hpp", "libm.a", "m.pc", "m-config.cmake"} == set(left)
    print("too late, all files" if whole else f"too late, but {left}")
else:
    print(f"ended by the signal, {len(left)} files" if status in (-number, 128 + number, 1) else f"status {status}, {left}")
