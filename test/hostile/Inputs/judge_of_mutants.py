#!/usr/bin/env python3
"""mutate and through-forks judge right: a server that answers in each bad way, and in good ones. Usage: judge_of_mutants.py MUTATE THROUGH-FORKS FOLDER"""

import pathlib
import subprocess
import sys

SERVER = """#!/usr/bin/python3
import pathlib, sys
calls = 0
for line in sys.stdin:
    pathlib.Path(sys.argv[2]).write_text(%r)
    print("0 0.1 50" if calls == 0 else %r, flush=True)
    calls += 1
"""
#: what the server prints and answers: what mutate says of it, and what a program that starts {kiln} sees
MANNERS = {
    ("", "0 0.1 90"): ("1 accepted, 0 rejected, 0 faults", 0),
    ("model.onnx: error: bad rank", "1 0.1 90"): ("0 accepted, 1 rejected, 0 faults", 1),
    ("", "1 0.1 90"): ("refused without an error", -6),
    ("", "-11 0.1 90"): ("signal 11", -6),
    ("AddressSanitizer", "86 0.1 90"): ("exit status 86", -6),
    ("", "0 0.1 900"): ("900 MiB", -6),
    ("", "-24 10.0 90"): ("signal 24", -6),
}


def judge(command, words, bad):
    done = subprocess.run(command, capture_output=True, text=True)
    if words in done.stdout and done.returncode == bad:
        return True
    print(f"{command}: expected {words!r}\n{done.stdout}{done.stderr}")
    return False


def main():
    mutate, through, folder = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
    folder.mkdir(parents=True)
    seed = folder / "seed.onnx"
    seed.write_bytes(b"\x08\x07\x12\x01k")
    right = 0
    for number, ((printed, answer), (words, status)) in enumerate(MANNERS.items()):
        server = folder / f"server{number}"
        server.write_text(SERVER % (printed, answer))
        server.chmod(0o755)
        bad = "0 faults" not in words
        seen = f"import subprocess; print('seen', subprocess.run(['{{kiln}}', '{seed}']).returncode, flush=True)"
        right += judge([mutate, folder, "1", "--forks", server], words, bad)
        right += judge([through, server, "--", sys.executable, "-c", seen], f"seen {status}\n", bad)
    # One that has gone, and one whose forks are gone: nobody waits for an answer.
    server = folder / "gone"
    server.write_text(f"#!/bin/sh\nread line\necho > {folder}/gone.text\ncp {folder}/gone.text $2\necho 0 0.1 50\n")
    server.chmod(0o755)
    right += judge([through, server, "--", sys.executable, "-c", seen], "seen -6\n", True)
    print(f"{right} of {2 * len(MANNERS) + 1} manners judged right")


if __name__ == "__main__":
    main()
