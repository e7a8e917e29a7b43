"""Programs that take turns: each in a process of its own, pinned alike, measured round by round."""

import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test/end-to-end"))
sys.path.insert(0, str(ROOT / "test/benchmark"))
import cases  # noqa: E402
import ending  # noqa: E402, F401
import generated_models  # noqa: E402


class Side:
    """A process that answers SECONDS with a latency in milliseconds. With `errors`, what it prints where it does not start is that of the exception."""

    def __init__(self, command, cpus, errors=False):
        printed = tempfile.TemporaryFile() if errors else None
        self.process = subprocess.Popen(list(map(str, command)), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=printed, text=True,
                                        preexec_fn=lambda: os.sched_setaffinity(0, cpus))
        answer = self.process.stdout.readline().split()
        if not answer:
            self.close()
            said = printed and printed.seek(0) == 0 and printed.read().decode(errors="replace").strip().splitlines()
            raise RuntimeError(said[-1] if said else f"{pathlib.Path(command[0]).name} ended without an answer, status {self.process.returncode}")
        self.load_ms, *self.others = map(float, answer[1:])

    def measure(self, seconds):
        self.process.stdin.write(f"{seconds}\n")
        self.process.stdin.flush()
        return float(self.process.stdout.readline())

    def peak_mb(self):
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.split("VmHWM:")[1].split()[0]) / 1024

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def start_once(command, cpus):
    """What a process says of its start: milliseconds to the first result, and the page-in."""
    side = Side(command, cpus)
    side.close()
    return side.load_ms, side.others[0]


def load_cases(generated=False):
    """The models of the end-to-end tests and those that are only raced, by name. Seeded models are too small to be raced. Those of
    generated_models.py are among them if that is asked for: they take time to write."""
    own = json.loads((ROOT / "test/benchmark/cases.json").read_text())
    tested = {name: case for name, case in cases.load().items() if not case.seeded}
    raced = {name: cases.Case(name, entry) for name, entry in own.items()}
    written = {name: generated_models.Case(name) for name in generated_models.MODELS if generated}
    return {**tested, **raced, **written}


def first_cpus(count):
    return sorted(os.sched_getaffinity(0))[:count]


def save_inputs(case, folder):
    """The arguments NAME=FILE of the programs that run a model."""
    arguments = []
    for index, (key, array) in enumerate(case.inputs().items()):
        np.save(folder / f"{index}.npy", np.ascontiguousarray(array))
        arguments.append(f"{key}={folder}/{index}.npy")
    return arguments


def compile_model(kiln, case, folder, options):
    """A shared library libmodel.so in the folder: the seconds it took, and what kiln said."""
    command = [kiln, case.path, "-o", folder, "--name=model", "--emit=so", "--no-cache", *case.options(), *options]
    start = time.monotonic()
    said = subprocess.run(list(map(str, command)), check=True, capture_output=True, text=True).stderr
    return time.monotonic() - start, said


def rounds_in_turns(one, other, rounds, seconds):
    """The latencies (one, other) of each round, after one that does not count."""
    one.measure(seconds), other.measure(seconds)
    times = []
    for index in range(rounds):
        order = [one, other] if index % 2 else [other, one]
        measured = {side: side.measure(seconds) for side in order}
        times.append((measured[one], measured[other]))
    return times


def summarize(times):
    """The medians of both, and the median, the smallest and the largest of the rounds' ratios other / one."""
    ratios = [second / first for first, second in times]
    return [statistics.median(side) for side in zip(*times)], (statistics.median(ratios), min(ratios), max(ratios))


def take_turns(one, other, rounds, seconds):
    """The summary of rounds in turns."""
    return summarize(rounds_in_turns(one, other, rounds, seconds))


class Contender:
    """A library and the kiln_rounds that measures it. Each build measures its own: the ABI may differ between revisions."""

    def __init__(self, library, rounds_program):
        self.library, self.rounds_program = library, rounds_program


def race_copies(contenders, threads, inputs, folder, copies, rounds, seconds):
    """The rounds (one, other) in milliseconds, the same number on each of so many fresh copies of both libraries.

    Two copies of one library differ by up to 6 % when weights come from memory, by where the system happens to put their pages; the copy that
    is written first is the other contender's each time.
    """
    cpus, times = first_cpus(threads), []
    for index in range(copies):
        paths = [folder / f"copy-{index}-{side}.so" for side in range(2)]
        for side in (0, 1) if index % 2 else (1, 0):
            shutil.copyfile(contenders[side].library, paths[side])
        sides = [Side([contender.rounds_program, path, "model", threads, *inputs], cpus) for contender, path in zip(contenders, paths)]
        times += rounds_in_turns(*sides, rounds, seconds)
        for side in sides:
            side.close()
        for path in paths:
            path.unlink()
    return times
