"""Gives hostile definitions to kiln. Usage: hostile.py FOLDER"""

import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3]))
import kiln_calls  # noqa: E402

folder = pathlib.Path(sys.argv[1])
file = folder / "d.kiln"
np.save(folder / "x.npy", np.arange(12, dtype=np.float32))
# Of a call: exponential ones would take minutes and gigabytes.
kiln = kiln_calls.Kiln(seconds=60)
MOST_SECONDS, MOST_MEBIBYTES = 10, 2000


def call(text, *arguments):
    file.write_text(text)
    done = kiln.call("ops", file, *arguments)
    if done.late or done.seconds > MOST_SECONDS or done.mebibytes > MOST_MEBIBYTES:
        sys.exit(f"{text[:200]}\ntook {done.seconds} s and {done.mebibytes} MiB")
    return done


def calls(count, parameter):
    return f"f0({parameter})[...] = x[...] + 1.0\n" + "".join(f"f{i}({parameter})[...] = f{i - 1}(x[...]) + f{i - 1}(x[...])\n" for i in range(1, count + 1))


large = call(calls(60, "x")).returncode == 0
large += call(calls(60, "x: float"), "--onnx=" + str(folder / "o.onnx")).returncode == 0
names = [f"i{k}" for k in range(40)]
sums = [f"x{k}[" + " + ".join(f"2 * i{j}" for j in range(k + 1)) + "]" for k in range(40)]
done = call(f"f({', '.join(f'x{k}' for k in range(40))})[{', '.join(names)}] = {' * '.join(sums)}\n")
large += done.returncode == 1 and "follows from those of too many others" in done.stderr
if call("\n".join(f"f{i}(x)[...] = x[...]" for i in range(20000))).returncode != 0:
    sys.exit("20,000 definitions are refused")

wraps = [("f(x; a = 1)[i < a * a * a * a] = x[0]", ["--attribute", "a=65536"]), ("f(x)[i < 4] = x[i * 9223372036854775807 * 9223372036854775807]", []),
         ("f(x)[i < 4] = x[i + 9223372036854775807 + 9223372036854775807 + 5]", []), ("f(x)[i < dim(x, 0) * 4611686018427387904 * 4 + 5] = x[i]", []),
         ("f(x)[i < 5] = x[i * 4611686018427387904]", []), ("f(x)[i < 5] = x[i * 4611686018427387904] else 0.0", []),
         ("f(x)[i < 4, j < 2] = x[i * j * 4611686018427387904] else 0.0", [])]
passed = 0
for text, options in wraps:
    done = call(text + "\n", "--eval", "f", "--input", f"x={folder / 'x.npy'}", "-o", folder / "y.npy", *options)
    passed += done.returncode == 1 and "may pass 64 bits" in done.stderr
done = call("f(x)[i < 5] = x[3 * i - 2] else 7.5\n", "--eval", "f", "--input", f"x={folder / 'x.npy'}", "-o", folder / "y.npy")
if done.returncode or np.load(folder / "y.npy").tolist() != [7.5, 1, 4, 7, 10]:
    sys.exit(f"small numbers: {done.stderr}")

refused = 0
for name in "memcpy", "free", "_start", "int", "errno", "kiln_status", "printf", "pthread_create", "main":
    done = call(f'domain "d"\nextern f(x: float[b]) -> float[b] = {name}\n')
    refused += done.returncode == 1 and f"'{name}' is a name of C" in done.stderr
print(large, "are large,", passed, "pass 64 bits,", refused, "names are refused")
