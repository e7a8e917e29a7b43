#!/usr/bin/env python3
"""The shell commands of the pages: each is run here, or by a test that commands.txt names, or its options are those that the script offers.

Usage: commands.py SOURCE --check                      no command is without a test, and commands.txt names nothing that is not there
       commands.py SOURCE FOLDER PAGE [NAME=FILE...]   runs those of a page that commands.txt leaves to it in a new folder with these files, as they are printed
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys

PROGRAMS = ("kiln|head|mpicc|mpicxx|mpirun|printf|mkfifo|timeout|ls|rm|pkg-config|kiln-opt|kiln-reduce|kiln-lsp-server|cmake|ctest|cpack|ninja|lit|make|meson|cc|c\\+\\+|clang|clang\\+\\+|gcc|g\\+\\+|ld|python3?|tar|apt-get|npm|npx|node|code|cp|cd|mkdir|echo|"
            "gh|git|curl|docker|podman|wineboot|perf|gdb|qemu-[\\w-]+|arm-none-eabi-\\w+|\\./[\\w./-]+|build[\\w/-]*/[\\w./-]+|(?:tools|test)/[\\w./-]+|[\\w./-]+/bin/[\\w-]+")
COMMAND = re.compile(rf"(?:[A-Z_]+=(?:\"[^\"]*\"|\S+) )*(?:{PROGRAMS})(?: |$)")
# Words that begin like a command and are none: output, and the lines of a program.
NO_COMMAND = re.compile(r"kiln_|test_|test/[\w.-]+:|cc:|make:")


def find_pages(source):
    pages = [*source.glob("*.md"), *(source / "docs").glob("*.md"), *(source / "docs/measurements").glob("*.md"), *(source / "docs/examples").rglob("*.md"),
             *(source / "tools").rglob("*.md")]
    return sorted(page for page in pages if page.name != "CHANGELOG.md")


def find_commands(page):
    """(line, command) of every command in a block of code of a page; lines that end in a backslash go on."""
    fence, waiting, start = None, "", 0
    for number, line in enumerate(page.read_text().splitlines(), 1):
        if line.strip().startswith("```"):
            fence = None if fence is not None else line.strip()[3:]
            continue
        is_code = fence in ("", "sh", "bash", "console") if fence is not None else re.match(r" {4,}\S", line)
        text = line.strip().removeprefix("$ ") if is_code else ""
        if waiting or (COMMAND.match(text) and not NO_COMMAND.match(text)):
            start = start if waiting else number
            waiting += text.removesuffix("\\")
            if not text.endswith("\\"):
                yield start, re.sub(r"\s+# .*", "", waiting).strip()
                waiting = ""


class Known:
    """The lines of commands.txt: `run PAGE`, whose other commands are run here; `test PATTERN = TEST`, which has the same; `script PATTERN`, which takes too long; `person PATTERN`."""

    def __init__(self, source):
        self.source, self.run, self.tests, self.scripts, self.persons, self.used = source, set(), {}, [], [], set()
        for line in (source / "test/docs/commands.txt").read_text().splitlines():
            kind, _, rest = line.partition(" ")
            if kind == "run":
                self.run.add(rest)
            elif kind == "test":
                pattern, _, test = rest.rpartition(" = ")
                self.tests[pattern] = test
            elif kind in ("script", "person"):
                (self.scripts if kind == "script" else self.persons).append(rest)
        self.texts = {path: path.read_text(errors="replace") for path in (source / "test").rglob("*.test")}

    def judge(self, page, command):
        """None, or what is missing."""
        for pattern, test in self.tests.items():
            if re.search(pattern, command):
                self.used.add(pattern)
                unknown = self.missing(command, (self.source / test).read_text() if (self.source / test).exists() else command)
                return f"{test} has no {unknown}" if unknown else None
        for pattern in self.persons:
            if re.search(pattern, command):
                self.used.add(pattern)
                return None
        for pattern in self.scripts:
            if match := re.match(pattern, command):
                self.used.add(pattern)
                return self.missing_option(match[0], command)
        return None if str(page.relative_to(self.source)) in self.run else "no test runs it, says commands.txt"

    def is_elsewhere(self, command):
        return any(re.search(pattern, command) for pattern in [*self.tests, *self.persons]) or any(re.match(pattern, command) for pattern in self.scripts)

    def missing_option(self, script, command):
        """Scripts that take hours are not run: what the command gives them is what they, or the modules beside them, read."""
        path = self.source / script
        if not path.exists():
            return f"there is no {script}"
        texts = path.read_text() + "".join(module.read_text() for module in path.parent.glob("*.py"))
        unknown = self.missing(command, texts)
        return f"{script} has no {unknown}" if unknown else None

    @staticmethod
    def missing(command, text):
        """The options of a command that a text does not have."""
        return ", ".join(option for option in re.findall(r"(?<= )--[a-z][\w-]*", command.partition(" -- ")[0]) if option not in text and f'"{option[2:]}"' not in text)

    def faults(self):
        for pattern, test in self.tests.items():
            if not (self.source / test).exists():
                yield f"commands.txt: there is no {test}"
        for pattern in [*self.tests, *self.persons, *self.scripts]:
            if pattern not in self.used:
                yield f"commands.txt: no page has a command like {pattern}"
        for page in self.run:
            if not any(str(page) in text for text in self.texts.values()):
                yield f"commands.txt: no test runs the commands of {page}"


def check(source):
    known, count, faults = Known(source), 0, []
    for page in find_pages(source):
        for line, command in find_commands(page):
            count += 1
            if reason := known.judge(page, command):
                faults.append(f"{page.relative_to(source)}:{line}: {command}: {reason}")
    faults += known.faults()
    print(*faults, sep="\n", end="\n" if faults else "")
    print(f"{count} commands")
    return 1 if faults or count < 50 else 0


def run(source, folder, page, files):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    known = Known(source)
    for name, file in (pair.split("=", 1) for pair in files):
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copytree(file, target) if pathlib.Path(file).is_dir() else shutil.copy(file, target)
    for line, command in find_commands(source / page):
        # Those on trained models by themselves, where these are.
        if known.is_elsewhere(command) or ("$MODELS" in command) != ("MODELS" in os.environ):
            continue
        print(f"$ {command}", flush=True)
        # Programs of the build stand for those of an installation, and a pager for a reader.
        words = re.sub(r"^build(-release)?/bin/(?=kiln)", "", command).replace("| less", "| cat")
        words = f"{source}/{words}" if words.startswith("tools/") else words
        done = subprocess.run(["bash", "-c", f"set -o pipefail; {words}"], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        print(done.stdout, end="", flush=True)
        if match := re.fullmatch(r"cd (\S+)", command):
            folder = (folder / match[1]).resolve()
        if done.returncode != 0:
            print(f"{page}:{line}: status {done.returncode}")
            return 1
    return 0


def main():
    source = pathlib.Path(sys.argv[1]).resolve()
    if sys.argv[2:] == ["--check"]:
        return check(source)
    return run(source, pathlib.Path(sys.argv[2]).resolve(), sys.argv[3], sys.argv[4:])


if __name__ == "__main__":
    sys.exit(main())
