#!/usr/bin/python3
"""Puts foreign text into every string and symbol of kernel-stage IR, and looks for it in what kiln writes.

Usage: inject.py KILN-FORKS FOLDER IR...      IR is text as --emit=mlir writes it
A mutant is refused, or its C, C++ and CMake text is that of the model but for what stands inside of literals, comments, identifiers and words: the tokens
are the same. Prints a line for each mutant that is neither, and how many there were.
"""

import pathlib
import re
import shutil
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3]))
import kiln_calls  # noqa: E402

PAYLOADS = [
    '"; } __asm__(".incbin \\"/etc/passwd\\""); {',
    'x\n__asm__(".incbin \\"/etc/passwd\\"");\n',
    '*/ __asm__(""); /*',
    "KILN_STATUS_OK; __asm__(\"\")",
    "a\\",
    "??/\n#include \"/etc/passwd\"\n//",
    '${ENV{HOME}} $<1:x> @CMAKE_COMMAND@',
    '"; execute_process(COMMAND touch pwned) #',
    ")\nexecute_process(COMMAND touch pwned)\n#",
    "$(shell touch pwned)",
    "x;y\t\x01\x7f\x1b[2J",
    "../../../etc/passwd",
    "",
    "__asm__",
    "\u00fc\u4e2d",
]
# A string, or a symbol behind an @, which may be one.
TEXT = re.compile(r'@?"(?:[^"\\]|\\.)*"|@[A-Za-z_.$][\w.$]*')
CPP = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'|[A-Za-z_]\w*|[0-9][\w.+-]*|\n\s*#|\S', re.S)
CMAKE = re.compile(r'#[^\n]*|[A-Za-z0-9_.+=/:,-]+|\n|\S')
MOST_OF_A_KIND = 1


def escape(text):
    return '"' + "".join(c if c.isprintable() and c not in '"\\' and c.isascii() else "".join(f"\\{b:02X}" for b in c.encode()) for c in text) + '"'


def kind(text, match):
    """What stands before a string: the attribute and the operation that it belongs to."""
    before = text[max(0, match.start() - 80):match.start()].split("\n")[-1]
    return re.sub(r'"[^"]*"|%\w+|\d+', "", before)[-24:], match[0][0]


def mutants(text, seen):
    number = 0
    for match in TEXT.finditer(text):
        place = kind(text, match)
        seen[place] = seen.get(place, 0) + 1
        if seen[place] > MOST_OF_A_KIND:
            continue
        is_symbol = match[0].startswith("@")
        for payload in PAYLOADS[number % 2::2] if seen[place] == 1 else PAYLOADS[(number + 1) % 2::2]:
            new = ("@" if is_symbol else "") + escape(payload)
            # A symbol stays one: all that refer to it change, too.
            yield match[0], payload, text.replace(match[0] + "(", new + "(").replace(match[0] + " ", new + " ") if is_symbol else \
                text[:match.start()] + new + text[match.end():]
        number += 1


def tokens(path):
    """The structure of a file: names, numbers, literals and comments stand for any."""
    text = path.read_text(errors="surrogateescape")
    if path.suffix in (".h", ".cpp"):
        found = []
        # A target with other instruction sets asks the CPU for others.
        text = re.sub(r"kiln::cpu::with\([\w:, \n]*\)", "cpu", text)
        for token in CPP.findall(text):
            if token.startswith(("//", "/*")):
                # A comment ends where it did: not in the middle, and not on the next line.
                assert not re.search(r"\\\n|\?\?/|[^\x20-\x7e\n]", token), token
                continue
            found.append("I" if token[0].isalpha() or token[0] == "_" else "0" if token[0].isdigit() else '""' if token[0] == '"' else token.strip())
        assert not re.search(r"\bincbin|passwd\"|\b__asm__|\basm\b", re.sub(r'//[^\n]*|/\*.*?\*/|"(?:[^"\\\n]|\\.)*"', "", text, flags=re.S)), path
        return found
    # A target without a CPU, or of another architecture, has fewer options.
    text = re.sub(r'(COMPILE_OPTIONS) "[A-Za-z0-9_.+=/:,;-]*"', r'\1 "W"', text)
    return ["W" if token[0].isalnum() or token[0] in "_.+=/:,-" else "#" if token[0] == "#" else token for token in CMAKE.findall(text)]


def structure(folder):
    """The files that the model's text reaches; their names have that of the model."""
    files = sorted(path for path in folder.rglob("*") if path.suffix in (".h", ".cpp", ".cmake", ".txt") and "runtime" not in path.parts)
    return sorted((path.suffix, tokens(path)) for path in files if not path.name.endswith("_weights.cpp"))


class Kiln:
    def __init__(self, program, folder):
        self.folder, self.forks = folder, kiln_calls.Forks(program, seconds=120, cpu_seconds=20)

    def compile(self, text):
        """(status, the folder with what was written, what was printed)"""
        model, out = self.folder / "m.mlir", self.folder / "out"
        shutil.rmtree(out, ignore_errors=True)
        model.write_text(text)
        done = self.forks.call(model, "-o", out, "--emit=cpp", "-q")
        return done.returncode, out, done.stdout + done.stderr


def main():
    program, folder, sources = sys.argv[1], pathlib.Path(sys.argv[2]), [pathlib.Path(name) for name in sys.argv[3:]]
    folder.mkdir(parents=True, exist_ok=True)
    kiln = Kiln(program, folder)
    refused = harmless = 0
    # What an earlier model has had.
    faults, seen = [], {}
    for source in sources:
        text = source.read_text()
        status, out, said = kiln.compile(text)
        assert status == 0, (source, said)
        wanted = structure(out)
        for old, payload, mutant in mutants(text, seen):
            status, out, said = kiln.compile(mutant)
            if status in (1, 3) and "error:" in said and "please report it with the model and" not in said:
                refused += 1
                continue
            try:
                same = status == 0 and structure(out) == wanted
            except AssertionError as reason:
                said, same = str(reason), False
            harmless += same
            if not same:
                faults.append(f"{source.name}: {old} -> {payload!r}: status {status} {said[-300:]}")
    print(*faults, sep="\n", end="\n" if faults else "")
    print(f"{refused} refused, {harmless} harmless, {len(faults)} faults")
    return 1 if faults or min(refused, harmless) < 20 else 0


if __name__ == "__main__":
    sys.exit(main())
