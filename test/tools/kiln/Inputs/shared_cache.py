"""shared_cache.py FOLDER: compiles FOLDER/m.onnx with a shared kernel cache, whose server does what a test wants of it."""
import hashlib
import http.server
import json
import os
import pathlib
import random
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import threading
import time

root = pathlib.Path(sys.argv[1])
OTHER = 12345
for name in [name for name in os.environ if name.lower().endswith("_proxy")]:
    del os.environ[name]


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self, status, body=b"", length=None):
        self.send_response(status)
        self.send_header("Content-Length", str(len(body) if length is None else length))
        if status == 302:
            self.send_header("Location", "/elsewhere")
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        self.server.gets += 1
        mode, body = self.server.mode, self.server.entries.get(self.path)
        if mode == "silent":
            time.sleep(1)
        if mode == "late":
            time.sleep(0.8)
        if mode in ("error", "moved"):
            return self.answer({"error": 500, "moved": 302}[mode])
        if mode == "garbage":
            return self.answer(200, b"<html>Please log in</html>")
        if mode == "cut":
            self.close_connection = True
            return self.answer(200, b"abc", 1000)
        if mode == "endless":
            self.close_connection = True
            self.send_response(200)
            self.end_headers()
            while True:
                self.wfile.write(bytes(1 << 20))
        self.answer(404) if body is None else self.answer(200, body)

    def do_PUT(self):
        self.server.puts += 1
        if self.server.mode == "late":
            time.sleep(0.8)
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.server.mode in ("refusing", "full"):
            return self.answer({"refusing": 403, "full": 507}[self.server.mode])
        self.server.entries[self.path] = body
        self.answer(201)

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, certificate=None):
        super().__init__(("127.0.0.1", 0), Handler)
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate, root / "key.pem")
            self.socket = context.wrap_socket(self.socket, server_side=True)
        self.entries, self.mode, self.gets, self.puts = {}, "good", 0, 0
        threading.Thread(target=self.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server_port}/kiln"

    def handle_error(self, *_):
        pass

    def take_counts(self):
        counts = self.gets, self.puts
        self.gets = self.puts = 0
        return counts


def start(address, folder="", out="out"):
    shutil.rmtree(root / out, ignore_errors=True)
    environment = {**os.environ, "KILN_CACHE": address, "KILN_CACHE_DIR": str(folder)}
    command = ["kiln", str(root / "m.onnx"), "-o", str(root / out), "--dim=N=2", "--target=x86-64-v2", "--json"]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def finish(process, out="out", says=None):
    """The number of units that came from a cache, after a look at the library and at the one line about what went wrong."""
    stdout, stderr = process.communicate(timeout=60)
    assert process.returncode == 0, stderr
    if says:
        print(f"{says}: {stderr.strip()}", flush=True)
    assert stderr.count("\n") == (1 if says else 0), stderr
    library = (root / out / "libm.a").read_bytes()
    assert wanted is None or library == wanted, says
    return json.loads(stdout)["cached_units"] if wanted else library


def compile(address, folder="", says=None):
    return finish(start(address, folder), says=says)


wanted = None
wanted = compile("off")
server = Server()

# Two machines: what the first has made, the second takes, and then has itself.
first, second = root / "first", root / "second"
assert compile(server.url, first) == 0
gets, units = server.take_counts()
assert gets == units == len(server.entries) == len(list(first.glob("*.kiln"))) > 1
assert compile(server.url + "/", second) == units and server.take_counts() == (units, 0)
assert compile(server.url, second) == units and server.take_counts() == (0, 0)
assert sorted(path.read_bytes() for path in second.iterdir() if path.is_file()) == sorted(server.entries.values())
assert [path.name for path in second.iterdir() if path.is_dir()] == ["headers"]
# Objects of others are used with their cache only; the last compile has filled the folder with objects of its own.
assert compile("on", second) == 0 and compile("on", second) == units
# Without a folder of its own; and off.
assert compile(server.url) == units and server.take_counts() == (units, 0)
assert compile("off", second) == 0 and server.take_counts() == (0, 0)
# One that only reads.
kept, server.entries = server.entries, {}
assert compile(server.url + "|read-only") == 0 and server.take_counts() == (units, 0) and not server.entries
server.entries = kept

# Servers that are no use.
compile("http://127.0.0.1:1/kiln", says="down")
compile("http://user:secret@127.0.0.1:1/kiln", says="password")
for mode, options in (("error", ""), ("moved", ""), ("silent", "|timeout=400"), ("late", "|timeout=1500"), ("endless", "|timeout=2000"), ("cut", "")):
    server.mode = mode
    server.take_counts()
    begin = time.monotonic()
    compile(server.url + options, says=mode)
    # Each thread of the compile may be in a request when the first one fails.
    gets, puts = server.take_counts()
    assert gets <= (os.cpu_count() or 1) * (4 if mode == "late" else 1) and puts <= gets, (mode, gets, puts)
    assert time.monotonic() - begin < 30, mode
deaf = socket.create_server(("127.0.0.1", 0))


def talk():
    while True:
        client = deaf.accept()[0]
        client.sendall(b"220 who are you\r\n" * 10)
        client.close()


threading.Thread(target=talk, daemon=True).start()
compile(f"http://127.0.0.1:{deaf.getsockname()[1]}/kiln", says="no-http")
# A server that nobody vouches for.
subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", root / "key.pem", "-out", root / "cert.pem", "-days", "2",
                "-subj", "/CN=127.0.0.1"], check=True, capture_output=True)
stranger = Server(root / "cert.pem")
compile(f"https://127.0.0.1:{stranger.server_port}/kiln", says="stranger")
assert stranger.take_counts() == (0, 0)
server.mode = "garbage"
assert compile(server.url, says="garbage") == 0
server.mode = "good"
assert compile(server.url) == units
for mode in ("refusing", "full"):
    server.mode, server.entries = mode, {}
    server.take_counts()
    assert compile(server.url, says=mode) == 0
    assert server.take_counts()[1] <= (os.cpu_count() or 1)
server.mode = "good"
environment = {**os.environ, "KILN_CACHE": "http://127.0.0.1:1/kiln", "KILN_CACHE_DIR": ""}
run = subprocess.run(["kiln", "kernels", "softmax,relu", "-o", str(root / "kernels"), "--target=x86-64-v2"], env=environment, capture_output=True, text=True)
assert run.returncode == 0, run.stderr
print("kernels:", *[line for line in run.stderr.splitlines() if "note" in line])

# Entries that somebody changed: each counts as missing, and is replaced.
compile(server.url)
whole = dict(server.entries)
path = sorted(whole)[0]
for bad in (whole[path][:-1] + bytes([whole[path][-1] ^ 1]), whole[path][:-7], b"", whole[sorted(whole)[1]]):
    server.entries[path] = bad
    process = start(server.url)
    stdout, stderr = process.communicate(timeout=60)
    assert stderr.count("\n") == 1 and "an entry is damaged" in stderr, stderr
    assert json.loads(stdout)["cached_units"] == units - 1 and server.entries[path] == whole[path]

# A shared folder: other users' entries are good there, and the umask decides who may write.
shared = root / "shared"
address = f"file://{shared}"
assert compile(address) == 0 and compile(address) == units
entries = sorted(shared.glob("*.kiln"))
assert len(entries) == units
for entry in entries:
    entry.chmod(0o664)
    if os.geteuid() == 0:
        os.chown(entry, OTHER, OTHER)
assert compile(address + "|read-only") == units
# Nobody keeps it small: a limit is for a user's own folder.
os.environ["KILN_CACHE_LIMIT"] = "0"
assert compile(address, root / "third") == units and not list((root / "third").glob("*.kiln"))
assert len(list(shared.glob("*.kiln"))) == units
del os.environ["KILN_CACHE_LIMIT"]
compile("file:///proc/kiln", says="no folder")
(root / "plain").write_text("")
compile(f"file://{root}/plain", says="file")

# Many compiles at once on one folder, a shared one and a user's own, while somebody damages and removes entries.
processes, ends = [], threading.Event()


def vandalise(folder):
    choose = random.Random(1)
    while not ends.is_set():
        for entry in list(folder.glob("*.kiln")):
            try:
                data = entry.read_bytes()
                damage = choose.choice((entry.unlink, lambda: entry.write_bytes(data[:len(data) // 2]), lambda: entry.write_bytes(data[:-1] + b"?"), lambda: None))
                damage()
            except OSError:
                pass
        time.sleep(0.01)


many = root / "many"
own = root / "own"
for folder in (many, own):
    threading.Thread(target=vandalise, args=(folder,), daemon=True).start()
for i in range(16):
    processes.append((f"out-{i}", start(f"file://{many}", out=f"out-{i}") if i % 2 else start("on", own, out=f"out-{i}")))
for out, process in processes:
    stdout, stderr = process.communicate(timeout=120)
    assert process.returncode == 0, stderr
    assert not stderr or "an entry is damaged" in stderr, stderr
    assert (root / out / "libm.a").read_bytes() == wanted, out
ends.set()
time.sleep(0.1)
for folder, again in ((many, (f"file://{many}", "")), (own, ("on", own))):
    assert not list(folder.glob("*tmp"))
    start(*again).communicate(timeout=60)
    assert compile(*again) == units


def is_whole(path):
    hash_of_both, data = path.read_bytes().split(b"\n", 1)
    pieces = (path.name.removesuffix(".kiln").encode(), data)
    return hashlib.sha256(b"".join(b"%d:%s" % (len(piece), piece) for piece in pieces)).hexdigest().encode() == hash_of_both


# Writers that die at any moment, beside others that do not, and what one has left.
grave = root / "grave"
grave.mkdir()
entry = next(shared.glob("*.kiln"))
left = grave / f"{entry.name}-1234.kiln-tmp"
left.write_bytes(entry.read_bytes()[:200])
begin = time.monotonic()
processes = [(f"out-{i}", start(f"file://{grave}", out=f"out-{i}")) for i in range(12)]
for i, (_, process) in enumerate(processes[::2]):
    time.sleep(max(0, begin + 0.1 * (i + 1) - time.monotonic()))
    process.kill()
for i, (out, process) in enumerate(processes):
    _, stderr = process.communicate(timeout=120)
    assert i % 2 == 0 or (process.returncode == 0 and not stderr and (root / out / "libm.a").read_bytes() == wanted), stderr
assert sum(process.returncode == -signal.SIGKILL for _, process in processes) > 0
entries = list(grave.glob("*.kiln"))
assert len(entries) == units and all(map(is_whole, entries)), entries
# What the dead have left is in nobody's way.
assert left.exists() and compile(f"file://{grave}") == units
print("all held")
