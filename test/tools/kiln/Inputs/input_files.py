"""Gives kiln FIFOs, devices and folders for each file that it reads: all are refused at once. Usage: input_files.py FOLDER"""
import os
import pathlib
import resource
import socket
import subprocess
import sys

folder = pathlib.Path(sys.argv[1])
refused = {"fifo": "is not a regular file", "zero": "is not a regular file", "socket": "No such device or address", "folder": "s a directory"}
suffixes = ["", ".onnx", ".textproto", ".mlir", ".json", ".npy", ".pb", ".png", ".a", ".profile"]


def make(kind, path):
    path.unlink(missing_ok=True) if not path.is_dir() else path.rmdir()
    if kind == "fifo":
        os.mkfifo(path)
    elif kind == "zero":
        path.symlink_to("/dev/zero")
    elif kind == "socket":
        socket.socket(socket.AF_UNIX).bind(str(path))
    else:
        path.mkdir()


for kind in refused:
    for suffix in suffixes:
        make(kind, folder / f"{kind}{suffix}")
    (folder / f"data_{kind}").mkdir(exist_ok=True)
    make(kind, folder / f"data_{kind}" / "output_0.pb")
    make(kind, folder / f"data_{kind}" / "input_0.pb")
RUN = ["run", "m.onnx", "--output-dir", "out", "--target=generic"]
COMMANDS = [["KIND.onnx", "-o", "out"], ["KIND.textproto", "-o", "out"], ["KIND.mlir", "-o", "out"], ["inspect", "KIND.a"], ["inspect", "KIND"],
            RUN + ["--input", "x=KIND.npy"], RUN + ["--input", "x=KIND.pb"], RUN + ["--input", "x=KIND.png"], RUN + ["--input", "x=KIND"],
            RUN + ["--input", "x=zeros", "--load", "KIND"],
            ["m.onnx", "-o", "out", "--target=KIND.json"], ["m.onnx", "-o", "out", "--target=KIND.mlir"], ["m.onnx", "-o", "out", "--profile", "KIND.profile"],
            ["verify", "m.onnx", "--target=generic", "--data", "data_KIND"]]


def limit():
    # A file that never ends must not be read, either.
    resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))


count, bad = 0, []
for command in COMMANDS:
    for kind, reason in refused.items():
        arguments = [word.replace("KIND", kind) for word in command]
        try:
            done = subprocess.run(["kiln", *arguments], cwd=folder, capture_output=True, text=True, timeout=60, preexec_fn=limit, stdin=subprocess.DEVNULL)
        except subprocess.TimeoutExpired:
            bad.append(f"kiln {' '.join(arguments)}: no end")
            continue
        count += 1
        if done.returncode != 1 or reason not in done.stderr or kind not in done.stderr:
            bad.append(f"kiln {' '.join(arguments)}: status {done.returncode}, expected '{reason}', got:\n{done.stderr}")
# Standard input is a file like others when it is one, and refused when it is a pipe.
piped = subprocess.run(["kiln", "/dev/stdin", "-o", "out"], cwd=folder, capture_output=True, text=True, input="x", timeout=60)
if piped.returncode != 1 or "/dev/stdin: is not a regular file" not in piped.stderr:
    bad.append(f"a pipe: {piped.stderr}")
with open(folder / "m.onnx", "rb") as model:
    given = subprocess.run(["kiln", "/dev/stdin", "-o", "out", "--emit=header"], cwd=folder, capture_output=True, text=True, stdin=model, timeout=60)
if given.returncode != 0:
    bad.append(f"a file: {given.stderr}")
print("\n".join(bad) if bad else f"{count} refused")
sys.exit(1 if bad else 0)
