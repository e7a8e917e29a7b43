"""Runs a command that writes into the folder behind -o, and interrupts it (as Ctrl-C does) as soon as a file is there."""
import os
import signal
import subprocess
import sys
import time

command = sys.argv[1:]
folder = command[command.index("-o") + 1]
files = lambda: os.listdir(folder) if os.path.isdir(folder) else []
process = subprocess.Popen(command)
while process.poll() is None and not files():
    time.sleep(0.0005)
process.send_signal(signal.SIGINT)
status = process.wait()
left = files()
if status == 0:
    whole = {"m.h", "libm.a", "m.pc", "m-config.cmake"} == set(left)
    print("too late, all files" if whole else f"too late, but {left}")
else:
    print(f"ended by the signal, {len(left)} files" if status in (-signal.SIGINT, 130, 1) else f"status {status}, {left}")
