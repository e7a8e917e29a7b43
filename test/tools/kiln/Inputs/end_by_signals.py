"""end_by_signals.py FOLDER COMMAND...: ends the command by each signal while the compiler that it calls, FOLDER/slow, runs: nothing may be left in TMPDIR.

Writes FOLDER/looks, too: a compiler that says who may look into the folder that it works in.
"""
import os
import pathlib
import signal
import subprocess
import sys
import time

folder, command = pathlib.Path(sys.argv[1]), sys.argv[2:]
tmp = folder / "tmp"
tmp.mkdir()
SLOW = f"""#!/bin/sh
[ "$1" = --version ] && exit 0
# Writes for as long as it is there, as a compiler does with its object.
trap '' INT TERM HUP
for out; do :; done
touch {folder}/started
for i in $(seq 3000); do [ -d "$(dirname "$out")" ] || exit 1; echo > "$out.$i"; sleep 0.02; done 2> /dev/null
exit 1
"""
LOOKS = f"""#!/bin/sh
for out; do :; done
[ "$1" = --version ] || stat -c '%a %F' "$(dirname "$out")" > {folder}/seen
exec c++ "$@"
"""
for name, text in (("slow", SLOW), ("looks", LOOKS)):
    (folder / name).write_text(text)
    (folder / name).chmod(0o755)

for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    (folder / "started").unlink(missing_ok=True)
    # What is ignored here would stay ignored there.
    child = subprocess.Popen(command, env={**os.environ, "TMPDIR": str(tmp)}, preexec_fn=lambda: signal.signal(number, signal.SIG_DFL))
    end = time.time() + 20
    while not (folder / "started").exists() and time.time() < end:
        time.sleep(0.01)
    assert list(tmp.iterdir()), "the compiler has no folder"
    child.send_signal(number)
    assert child.wait(20) == -number, (number, child.returncode)
    left = list(tmp.iterdir())
    assert not left, (number, left)
