#!/usr/bin/env python3
"""Every path, kiln option and pass that a guide names exists: guides.py SOURCE. Words in capitals or angle brackets stand for something."""
import pathlib
import re
import subprocess
import sys

ROOTS = "compiler|dialects|docs|passes|runtime|test|tools|cmake"
PATH = re.compile(rf"`(?:%?)((?:{ROOTS})/[\w./+-]+|[A-Z]\w+\.(?:cpp|h|td|md|txt))`")
COMMAND = re.compile(rf"^ {{4,}}((?:{ROOTS})/[\w./-]+)", re.M)
OPTION = re.compile(r"(?<![\w-])--([a-z][a-z0-9-]+)")
# Options of CMake, cargo, lit, git, linkers, Node, Python's server and of the emitted project's own tools, and those of Kiln's own scripts, which their usage texts describe.
OTHERS = {"preset", "filter", "targets", "build", "check", "json", "passing", "jobs", "test", "run-reproducer", "mlir-print-debuginfo",
          "full", "live", "without", "compilers", "dims", "results", "svg", "markdown", "from", "sanitize", "split", "forks", "imports", "missed",
          "ways", "again", "definitions", "option", "exceptions", "symbolic", "kiln", "gate", "op", "count", "seed", "family", "pictures", "every", "optimized", "cpu", "copies", "rounds", "small", "random", "domain",
          "onnxruntime-web", "release", "seconds", "skip", "repetitions", "directory", "elements", "export", "no-entry", "experimental-wasm-relaxed-simd", "no-liftoff", "no-wasm-tier-up", "install", "prefix", "component", "config",
          "test-dir", "resume", "dozen", "start", "write-budget", "since",
          # Those of benchmarks.
          "connections", "largest", "charts", "rows", "race", "types", "sizes",
          # Those of mpirun and podman.
          "enable-recovery", "mca", "hostfile", "map-by", "timeout", "env-host", "network", "pid", "ipc", "rm",
          # Those of pkg-config, VS Code and other engines.
          "cflags", "libs", "install-extension", "executor", "output-format", "runtime"}


def offered(*command):
    return set(OPTION.findall(subprocess.run(command, capture_output=True, text=True).stdout))


def main():
    source = pathlib.Path(sys.argv[1])
    options = OTHERS | offered("kiln-opt", "--help") | offered("kiln-reduce", "--help")
    for command in ("compile", "run", "verify", "bench", "tune", "quantize", "inspect", "report", "plan", "ops", "kernels", "new"):
        options |= offered("kiln", command, "--help")
    names = {path.name for root in ROOTS.split("|") for path in (source / root).rglob("*")}
    pages = [*source.glob("*.md"), *(source / "docs").glob("*.md"), *(source / "docs/measurements").glob("*.md"), *(source / "docs/examples").rglob("*.md")]
    faults = []
    for page in pages:
        text = page.read_text()
        for path in PATH.findall(text) + COMMAND.findall(text):
            if not (source / path).exists() and not ("/" not in path and path in names) and "FoldThings" not in path:
                faults.append(f"{page.name}: there is no {path}")
        if page.name != "CHANGELOG.md":
            faults += [f"{page.name}: no tool has --{name}" for name in sorted(set(OPTION.findall(text))) if name not in options and "fold-things" not in name]
    print(*faults, sep="\n", end="\n" if faults else "")
    return 1 if faults or len(pages) < 8 else 0


if __name__ == "__main__":
    sys.exit(main())
