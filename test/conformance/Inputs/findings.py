"""A program that has one fault for each of its arguments ends at it: findings.py FOLDER"""

import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
import sanitized  # noqa: E402

PROGRAM = """#include <climits>
#include <cstdlib>
int main(int count, char **names) {
  int *values = static_cast<int *>(calloc(4, sizeof(int)));
  volatile int fault = atoi(names[1]), large = INT_MAX;
  if (fault == 1)
    values[3 + count] = 1;
  if (fault == 2)
    large = large + count;
  if (fault == 3)
    values[0] = 1 << (large & 63);
  if (fault == 4)
    values[0] = reinterpret_cast<long>(values + (LONG_MAX / 2 - large)) != 0;
  free(values);
  return 0;
}
"""
FINDINGS = ["", "heap-buffer-overflow", "signed integer overflow", "shift exponent 63 is too large", "addition of unsigned offset|pointer index expression"]


def main():
    source = pathlib.Path(sys.argv[1]) / "findings.cpp"
    source.write_text(PROGRAM)
    program = source.with_suffix("")
    subprocess.run([sanitized.COMPILER, "-std=c++17", "-O2", source, "-o", program], check=True)
    environment = {name: value for name, value in {**os.environ, **sanitized.environment()}.items() if name != "LD_PRELOAD"}
    for fault, text in enumerate(FINDINGS):
        done = subprocess.run([program, str(fault)], capture_output=True, text=True, env=environment)
        assert (done.returncode != 0) == bool(text), f"fault {fault} ended with {done.returncode}: {done.stderr}"
        assert any(part in done.stderr for part in text.split("|")), f"expected {text} in\n{done.stderr}"
    print(f"{len(FINDINGS) - 1} faults end the program")


main()
