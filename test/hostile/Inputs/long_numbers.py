"""Gives numbers of 33,000 digits to everything that reads numbers. Usage: long_numbers.py FOLDER"""

import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
import kiln_calls  # noqa: E402

folder = pathlib.Path(sys.argv[1])
DIGITS = "0." + "9" * 33000
HEAD = '<ir_version: 8, opset_import: ["" : 17]>\n'
np.save(folder / "x.npy", np.zeros(4, np.float32))
np.save(folder / "minus.npy", np.full(4, -1, np.float32))


def write(name, text):
    (folder / name).write_text(text)
    return folder / name


def check_run(model, given, expected, *options):
    kiln_calls.run("run", model, "--input", f"x={folder / given}", "--output-dir", folder / "out", "-q", *options)
    if not np.array_equal(got := np.load(folder / "out/y.npy"), np.full(4, expected, np.float32)):
        sys.exit(f"{model}: {got}, expected {expected}")


constant = write("constant.onnxtxt", HEAD + "g (float[4] x) => (float[4] y) <float[1] c = {%s}> { y = Add(x, c) }\n" % DIGITS)
attribute = write("attribute.onnxtxt", HEAD + "g (float[4] x) => (float[4] y) { y = LeakyRelu<alpha: float = %s>(x) }\n" % DIGITS)
plain = write("plain.onnxtxt", HEAD + "g (float[4] x) => (float[4] y) { y = Identity(x) }\n")
definition = write("d.kiln", f"f(x; a = 2.0)[...] = x[...] + {DIGITS} * a\n")
check_run(constant, "x.npy", 1)
check_run(attribute, "minus.npy", -1)
check_run(plain, "minus.npy", -1, f"--input-range=x=-{DIGITS}:{DIGITS}")
kiln_calls.run("run", plain, "--input", f"x={DIGITS}", "--output-dir", folder / "filled", "-q")
right = 3 + int(np.array_equal(np.load(folder / "filled/y.npy"), np.ones(4, np.float32)))
for options, expected in ([], 2), (["--attribute", f"a={DIGITS}"], 1):
    kiln_calls.run("ops", definition, "--eval", "f", "--input", f"x={folder / 'x.npy'}", "-o", folder / "d.npy", *options)
    right += int(np.array_equal(np.load(folder / "d.npy"), np.full(4, expected, np.float32)))
kiln_calls.run("kernels", "layer_norm:epsilon=" + DIGITS, "-o", folder / "kernels", "-q", "--target=generic")
right += 1

IR = "module attributes {a = %s} {}\n"
TARGET = '#kernel.target<name = "t", triple = "x86_64-unknown-linux-gnu", cpu = "x86-64", vector_bits = %s>\n'
texts = {"float.mlir": IR % DIGITS, "integer.mlir": IR % ("9" * 33000), "hexadecimal.mlir": IR % ("0x" + "f" * 33000)}
refused = 0
for name, text in texts.items():
    done = kiln_calls.call(write(name, text), "-o", folder / "out")
    refused += done.returncode == 1 and "a number has more than 2000 digits" in done.stderr
done = kiln_calls.call(plain, "--target", write("target.mlir", TARGET % DIGITS), "-o", folder / "out")
refused += done.returncode != 0 and "a number has more than 2000 digits" in done.stderr
(folder / "bytecode.mlirbc").write_bytes(b"ML\xefR" + DIGITS.encode())
done = kiln_calls.call(folder / "bytecode.mlirbc", "-o", folder / "out")
refused += done.returncode == 1 and "a number has more than 2000 digits" in done.stderr
print(right, "right,", refused, "refused")
