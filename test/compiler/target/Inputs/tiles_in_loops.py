#!/usr/bin/env python3
"""Looks at the code around the instructions that multiply tiles: tiles_in_loops.py LIBRARY...

Between the first and the last of four in a row, which are the innermost loop's, no tile may be stored or cleared, and each library must release its tiles.
"""
import re
import subprocess
import sys

INSTRUCTION = re.compile(r"\b(tdp\w+|tileload\w*|tilestored|tilezero|tilerelease|ldtilecfg)\b")


def functions(library):
    text = subprocess.run(["llvm-objdump", "-d", "--no-show-raw-insn", library], check=True, capture_output=True, text=True).stdout
    return re.split(r"\n(?=[0-9a-f]+ <)", text)


def main():
    for library in sys.argv[1:]:
        seen = set()
        for function in functions(library):
            names = [match[1] for match in INSTRUCTION.finditer(function)]
            products = [i for i, name in enumerate(names) if name.startswith("tdp")]
            if not products:
                continue
            if len(products) % 4 or "ldtilecfg" not in names or "tilerelease" not in names:
                sys.exit(f"{library}: {names}")
            for i in range(0, len(products), 4):
                inner = names[products[i] : products[i + 3] + 1]
                if set(inner) - {names[products[i]], "tileloadd"} or names[products[i] - 2 : products[i]] != ["tileloadd"] * 2:
                    sys.exit(f"{library}: {inner} in {names}")
                if not re.search(r"\bj\w+\s+0x[0-9a-f]+", function.split(names[products[i]])[-1]):
                    sys.exit(f"{library}: no loop around {inner}")
                seen.add(names[products[i]])
        print(f"{', '.join(sorted(seen, reverse=True))}: every inner loop multiplies two by two tiles")


if __name__ == "__main__":
    main()
