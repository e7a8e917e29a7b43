"""The gate for speed: the present revision against a base revision, model by model, in turns.

A model whose library is the same bytes in both is not raced. One that is slower than the base by more than the tolerance is measured again on
six fresh copies of both libraries, and only a loss that repeats fails.
"""

import filecmp
import math
import os
import pathlib
import subprocess
import tempfile

import racing

ROOT = pathlib.Path(__file__).resolve().parents[2]
#: How much slower than the base counts as a loss.
TOLERANCE = 0.03
#: Fresh copies of both libraries: first a quick look, then what decides.
COPIES = (1, 6)


class Build:
    """A build folder with kiln and kiln_rounds."""

    def __init__(self, folder):
        self.kiln, self.rounds = folder / "bin/kiln", folder / "bin/kiln_rounds"


def build_revision(revision, build):
    """Builds kiln and kiln_rounds of a revision as the release preset does, beside the present build; a build of the same commit is taken as it is."""
    def git(*arguments):
        return subprocess.run(["git", "-C", ROOT, *arguments], check=True, capture_output=True, text=True).stdout.strip()
    commit = git("rev-parse", f"{revision}^{{commit}}")
    folder = build.resolve().parent / f"build-gate/{commit[:12]}"
    source, binary = folder / "source", folder / "build"
    if not source.exists():
        git("worktree", "prune")
        git("worktree", "add", "--detach", str(source), commit)
    subprocess.run(["cmake", "--preset", "release", "-S", source, "-B", binary, "--log-level=WARNING"], check=True, cwd=source, stdout=subprocess.DEVNULL)
    subprocess.run(["ninja", "--quiet", "-C", binary, "kiln", "kiln_rounds"], check=True)
    return Build(binary)


def compare(base, present, case, threads, rounds, seconds, options=()):
    """A result for each number of copies that had to be measured; the last one counts. `gain` is the base's time over the present one."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        inputs = racing.save_inputs(case, folder)
        contenders = []
        for build, side in ((present, "present"), (base, "base")):
            racing.compile_model(build.kiln, case, folder / side, ["-q", *options])
            contenders.append(racing.Contender(folder / side / "libmodel.so", build.rounds))
        result = {"model": case.name, "threads": threads, "same": filecmp.cmp(contenders[0].library, contenders[1].library, shallow=False)}
        if result["same"]:
            yield {**result, "gain": 1.0}
            return
        for copies in COPIES:
            times = racing.race_copies(contenders, threads, inputs, folder, copies, rounds, seconds)
            (present_ms, base_ms), (gain, lowest, highest) = racing.summarize(times)
            yield {**result, "present_ms": present_ms, "base_ms": base_ms, "gain": gain, "gain_min": lowest, "gain_max": highest}
            if gain >= 1 - TOLERANCE:
                break


def header():
    return f"{'model':20} {'threads':>7} {'present ms':>11} {'base ms':>11} {'gain':>6} {'range':>12}"


def line(result):
    if result["same"]:
        return f"{result['model']:20} {result['threads']:7} {'the same library':>30}"
    spread = f"{result['gain_min']:.2f}-{result['gain_max']:.2f}"
    return f"{result['model']:20} {result['threads']:7} {result['present_ms']:11.4f} {result['base_ms']:11.4f} {result['gain']:6.2f} {spread:>12}"


def summarize(results):
    """Both directions in words, and whether there is a loss."""
    def names(chosen):
        return ", ".join(f"{r['model']} ({r['threads']}) {r['gain']:.2f}" for r in sorted(chosen, key=lambda r: r["gain"])) or "none"
    gains = [r for r in results if r["gain"] > 1 + TOLERANCE]
    losses = [r for r in results if r["gain"] < 1 - TOLERANCE]
    mean = math.exp(sum(math.log(r["gain"]) for r in results) / len(results))
    return f"faster: {names(gains)}\nslower: {names(losses)}\ngeometric mean of the gains: {mean:.3f} over {len(results)} races", bool(losses)


def judge(base, present, cases, options):
    """Races all cases, prints them, and returns whether any has lost."""
    results = []
    print(header(), flush=True)
    for case in cases:
        for threads in map(int, options.threads.split(",")):
            for result in compare(base, present, case, threads, options.rounds, options.seconds, options.extra):
                print(line(result), flush=True)
            results.append(result)
    if not results:
        raise SystemExit("nothing was measured")
    text, lost = summarize(results)
    print(text)
    return lost
