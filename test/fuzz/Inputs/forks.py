"""Calls of kiln by kiln-forks beside those by a start. Usage: forks.py FOLDER, which has relu.onnx"""

import os
import pathlib
import re
import signal
import sys
import threading

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
import kiln_calls  # noqa: E402

FOLDER = pathlib.Path(sys.argv[1])
MODEL = FOLDER / "relu.onnx"
CALLS = [[], ["version"], ["help", "run"], ["nosuch.onnx"], [MODEL, "--nosuch"], [MODEL, "--stop-after=kernel", "--target=generic", "-o", "-"],
         [MODEL, "-o", FOLDER / "out", "--target=generic", "--why"], ["run", MODEL, "--input", "x=ones", "--output-dir", FOLDER / "run", "--json"],
         ["run", MODEL, "--input", "y=ones", "--output-dir", FOLDER / "run"], ["inspect", FOLDER / "out/librelu.a", "--json"]]


def printed(done):
    """What a call gives, but for its times."""
    return done.returncode, *(re.sub(r"[\d.e-]+( s\b|,?$)", "", text, flags=re.M) for text in (done.stdout, done.stderr))


def compare_calls():
    kiln = kiln_calls.Kiln()
    assert kiln.forks and kiln.forks.name == "kiln-forks"
    for call in CALLS:
        forked, started = kiln.call(*call), kiln.start(list(map(str, call)))
        assert printed(forked) == printed(started), (call, vars(forked), vars(started))
        assert forked.mebibytes > 5 and not forked.late, (call, vars(forked))
    assert np.load(FOLDER / "run/y.npy").tolist() == [1, 1, 1, 1]
    return len(CALLS)


def check_environment():
    wrong = kiln_calls.Kiln(environment={**os.environ, "KILN_CACHE_LIMIT": "much"})
    assert "KILN_CACHE_LIMIT=much" in wrong.call(MODEL, "-o", FOLDER / "out").stderr
    assert kiln_calls.call(MODEL, "-o", FOLDER / "out", "-q").returncode == 0


def check_failure():
    try:
        kiln_calls.run("nosuch.onnx")
    except RuntimeError as fault:
        assert "kiln nosuch.onnx\nended with 2\nerror: no output folder" in str(fault), fault
        return
    raise AssertionError("a call that failed was taken for one that succeeded")


def check_time():
    bench = ["bench", MODEL, "--input", "x=ones", "--min-time", "100", "-q"]
    done = kiln_calls.Kiln(seconds=3).call(*bench)
    assert done.late and done.returncode == -signal.SIGALRM, vars(done)
    # The next call has its own time.
    assert kiln_calls.Kiln(seconds=3).call("version").returncode == 0


def check_cpu_time():
    server = kiln_calls.Forks(kiln_calls.Kiln().forks, seconds=600, cpu_seconds=1)
    done = server.call("bench", MODEL, "--input", "x=ones", "--min-time", "100", "-q")
    assert done.returncode == -signal.SIGKILL and not done.late and done.seconds >= 0.9, vars(done)
    server.close()
    assert server.child.returncode == 0


def check_tabs():
    """An argument that no line can have goes to a start."""
    done = kiln_calls.call("no\tsuch.onnx", "-o", FOLDER / "out")
    assert re.search(r"no.{1,4}such\.onnx", done.stderr), done.stderr


def check_threads():
    """Each thread has a server of its own, so that calls run side by side."""
    servers = []

    def call():
        assert kiln_calls.call("version").returncode == 0
        servers.extend(kiln_calls.servers.__dict__.values())

    threads = [threading.Thread(target=call) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(servers) == 2 and servers[0] is not servers[1], servers


def check_other_programs():
    """A program that stands for kiln is started."""
    other = FOLDER / "other/kiln"
    other.parent.mkdir()
    other.write_text("#!/bin/sh\necho started; exit 7\n")
    other.chmod(0o755)
    for command in (other, ["sh", other]):
        done = kiln_calls.Kiln(command).call("version")
        assert kiln_calls.Kiln(command).forks is None and (done.returncode, done.stdout) == (7, "started\n"), vars(done)


def main():
    checks = [check_environment, check_failure, check_time, check_cpu_time, check_tabs, check_threads, check_other_programs]
    same = compare_calls()
    for check in checks:
        check()
    print(f"{same} calls are the same in forks, {len(checks)} checks of the servers")


main()
