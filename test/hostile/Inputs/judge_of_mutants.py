#!/usr/bin/env python3
"""mutate judges right: a server that answers in each bad way, and in good ones. Usage: judge_of_mutants.py MUTATE FOLDER"""

import pathlib
import subprocess
import sys

SERVER = """#!/usr/bin/python3
import pathlib, sys
calls = 0
for line in sys.stdin:
    pathlib.Path(sys.argv[1]).write_text(%r)
    print("0 0.1 50" if calls == 0 else %r, flush=True)
    calls += 1
"""
#: what the server prints and answers: what mutate says of it
MANNERS = {
    ("", "0 0.1 90"): "1 accepted, 0 rejected, 0 faults",
    ("model.onnx: error: bad rank", "1 0.1 90"): "0 accepted, 1 rejected, 0 faults",
    ("", "1 0.1 90"): "refused without an error",
    ("", "-11 0.1 90"): "signal 11",
    ("AddressSanitizer", "86 0.1 90"): "exit status 86",
    ("", "0 0.1 900"): "900 MiB",
}


def main():
    mutate, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    folder.mkdir(parents=True)
    (folder / "seed.onnx").write_bytes(b"\x08\x07\x12\x01k")
    right = 0
    for number, ((printed, answer), words) in enumerate(MANNERS.items()):
        server = folder / f"server{number}"
        server.write_text(SERVER % (printed, answer))
        server.chmod(0o755)
        done = subprocess.run([mutate, folder, "1", "--forks", server], capture_output=True, text=True)
        bad = "0 faults" not in words
        good = words in done.stdout and done.returncode == bad
        right += good
        if not good:
            print(f"{printed!r}, {answer}: expected {words}\n{done.stdout}{done.stderr}")
    print(f"{right} of {len(MANNERS)} manners judged right")


if __name__ == "__main__":
    main()
