#!/usr/bin/env python3
"""borders.py FOLDER GCC RUNTIME_INCLUDE MODEL...: counts the layout conversions of seeded models at their borders, and the copies and allocations of a run, by a
program in which memcpy, memmove and the allocator are replaced."""
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "end-to-end"))
import cases

import json

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3]))
import kiln_calls  # noqa: E402


def compile_model(case, folder, *options):
    """What the compile says of itself."""
    done = kiln_calls.run(str(case.path), *case.options(), "--name=net", "-o", str(folder), "--json", *options)
    return json.loads(done.stdout)


def plural(count, word):
    return f"{count} {word}{'' if count == 1 else 's'}"


def main():
    folder, gcc, include, *names = sys.argv[1:]
    for name in names:
        case, plain, moved = cases.load()[name], pathlib.Path(folder) / name, pathlib.Path(folder) / f"{name}-nhwc"
        conversions = compile_model(case, plain)["layout_conversions"]
        without = compile_model(case, moved, "--io-layout=nhwc")["layout_conversions"]
        described = json.loads(kiln_calls.run("inspect", str(plain / "libnet.a"), "--json").stdout)
        rank_4 = sum(tensor["type"].count(",") == 3 for tensor in described["inputs"] + described["outputs"])
        wrapped = [f"-Wl,--wrap={function}" for function in ("memcpy", "memmove", "malloc", "calloc", "realloc", "aligned_alloc", "posix_memalign", "free")]
        source = pathlib.Path(__file__).with_name("borders.c")
        program = plain / "program"
        subprocess.run([*gcc.split(), "-std=c11", "-fno-builtin", f"-I{plain}", f"-I{include}", source, plain / "libnet.a", *wrapped, "-lm", "-o", program], check=True)
        counted = subprocess.run([program], check=True, capture_output=True, text=True).stdout.strip()
        print(f"{name}: {plural(rank_4, 'input')} or {'output' if rank_4 == 1 else 'outputs'} of rank 4, {plural(conversions, 'conversion')}, {without} with --io-layout; {counted}")
        if conversions > rank_4:
            sys.exit(f"{name}: {conversions} layout conversions")


if __name__ == "__main__":
    main()
