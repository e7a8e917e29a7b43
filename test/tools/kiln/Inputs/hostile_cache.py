"""hostile_cache.py FOLDER: compiles FOLDER/m.onnx with caches that nobody should believe, each without waiting for ever, and with the bytes of a compile without."""
import json
import os
import pathlib
import shutil
import socket
import stat
import struct
import subprocess
import sys

root = pathlib.Path(sys.argv[1])
OTHER = 12345
is_root = os.geteuid() == 0


def compile(cache, umask=0o022, verbose=False):
    """The number of units that came from the cache, after a look at the library."""
    out = root / "out"
    shutil.rmtree(out, ignore_errors=True)
    environment = {**os.environ, "KILN_CACHE": "on" if cache else "off", "KILN_CACHE_DIR": str(cache)}
    command = ["kiln", str(root / "m.onnx"), "-o", str(out), "--dim=N=2", "--target=x86-64-v2", "--json"] + (["-v"] if verbose else ["-q"])
    run = subprocess.run(command, env=environment, umask=umask, capture_output=True, text=True, timeout=60)
    assert run.returncode == 0, run.stderr
    library = (out / "libm.a").read_bytes()
    if cache:
        assert library == wanted, cache
    warnings = [line for line in run.stderr.splitlines() if line.startswith("warning")]
    print(*warnings, sep="\n", end="\n" if warnings else "")
    assert verbose or not run.stderr, run.stderr
    return json.loads(run.stdout)["cached_units"] if cache else library


def mode(path):
    return stat.S_IMODE(os.lstat(path).st_mode)


def entries(cache):
    return sorted(cache.glob("*.kiln"))


def fresh(name, full=True):
    cache = root / name
    if full:
        assert compile(cache) == 0 and compile(cache) == units, name
    return cache


wanted = compile(None)
cache = root / "first"
compile(cache)
units = len(entries(cache))
assert units > 1

# Made for the user alone, whatever the umask; folders on the way, too.
for umask in (0, 0o022, 0o077, 0o177, 0o777):
    made = root / f"umask-{umask:o}" / "deep" / "cache"
    first = compile(made, umask)
    if umask & 0o700 and not is_root:
        continue
    assert mode(made) == 0o700 & ~umask or mode(made) == 0o700, oct(mode(made))
    assert all(mode(entry) == 0o600 for entry in entries(made)), umask
    assert first == 0 and compile(made) == len(entries(made)) == units, umask
    assert mode(made.parent) & 0o077 == 0

# A folder or a file that others may write to.
cache = fresh("writable")
for bits in (0o720, 0o702, 0o777, 0o1777):
    cache.chmod(bits)
    assert compile(cache, verbose=bits == 0o777) == 0, oct(bits)
cache.chmod(0o755)
assert compile(cache) == units
for entry in entries(cache):
    entry.chmod(0o620)
assert compile(cache) == 0
assert compile(cache) == units and all(mode(entry) == 0o600 for entry in entries(cache))

# Another user's.
if is_root:
    cache = fresh("others")
    os.chown(cache, OTHER, OTHER)
    assert compile(cache) == 0
    os.chown(cache, 0, 0)
    os.chown(entries(cache)[0], OTHER, OTHER)
    assert compile(cache) == units - 1
    link = root / "others-link"
    link.symlink_to(fresh("linked"))
    assert compile(link) == units
    os.chown(link, OTHER, OTHER, follow_symlinks=False)
    assert compile(link) == 0

# Entries that are no files. What stands there is not opened for good, and a compile replaces it.
cache = fresh("odd")
outside = root / "outside"
for make in (os.mkfifo, lambda path: os.symlink("/dev/zero", path), lambda path: os.symlink("/dev/random", path), os.mkdir,
             lambda path: socket.socket(socket.AF_UNIX).bind(os.path.relpath(path))):
    names = entries(cache)
    copy = root / "copy.kiln"
    shutil.copy(names[0], copy)
    names[0].unlink()
    os.chdir(cache)
    make(names[0])
    os.chdir(root)
    assert compile(cache) == units - 1, names[0]
    if names[0].is_dir():
        names[0].rmdir()
        shutil.copy(copy, names[0])
        names[0].chmod(0o600)
    assert compile(cache) == units, names[0]
# A link to an entry is none, even to a good one of the user's.
shutil.move(entries(cache)[0], outside)
os.symlink(outside, cache / (names[0].name))
assert compile(cache) == units - 1

# As large as a file can be said to be.
with open(entries(cache)[0], "r+b") as file:
    file.truncate(1 << 40)
assert compile(cache) == units - 1

# Changed, cut off, longer; one under the name of another, which is whole and has its own hash.
cache = fresh("changed")
first, second = entries(cache)[:2]
good = first.read_bytes()
for bad in (good[:-1] + bytes([good[-1] ^ 1]), good[:len(good) // 2], good + b"\0", good[:65], b"", b"\n", second.read_bytes(), good[64:], b"0" * 64 + good[64:]):
    first.write_bytes(bad)
    assert compile(cache) == units - 1, bad[:80]
    assert first.read_bytes() == good

# What is in the folder besides entries, and entries that cannot go, survive a limit of nothing.
for entry in entries(cache):
    entry.unlink()
os.mkfifo(cache / "pipe.kiln")
os.symlink("/dev/zero", cache / "zero.kiln")
os.environ["KILN_CACHE_LIMIT"] = "0"
compile(cache)
del os.environ["KILN_CACHE_LIMIT"]
assert sorted(path.name for path in cache.iterdir()) == ["headers", "pipe.kiln", "zero.kiln"]

# No folder at all.
(root / "file").write_text("")
assert compile(root / "file", verbose=True) == 0
(root / "dangling").symlink_to(root / "nowhere")
assert compile(root / "dangling", verbose=True) == 0
assert compile(pathlib.Path("/dev/null")) == 0 and compile(pathlib.Path("/proc/kiln")) == 0
print("all held")
