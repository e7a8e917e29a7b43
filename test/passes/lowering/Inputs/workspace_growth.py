"""Whether workspaces grow linearly from 4,096 to 8,192: workspace_growth.py LIBRARY WHY.txt

The library has one dynamic dimension; WHY.txt is what --why printed for the two sizes, one behind the other.
"""

import ctypes
import pathlib
import re
import sys

SIZES = (4096, 8192)
SLACK = 4096


def judge(what, short, long):
    """Twice the length takes twice the memory, and less than one score for every eight pairs of a query and a key."""
    linear = abs(long - 2 * short) <= SLACK and 0 < long < SIZES[1] ** 2 * 4 // 8
    print(f"{what}: {'linear' if linear else 'NOT LINEAR'}, {short} and {long} bytes")


def main():
    said = [int(size) for size in re.findall(r"^workspace: (\d+) bytes", pathlib.Path(sys.argv[2]).read_text(), re.M)]
    judge("static", *said)
    measure = ctypes.CDLL(sys.argv[1]).model_workspace_size
    measure.restype = ctypes.c_size_t
    judge("dynamic", *(measure((ctypes.c_int64 * 1)(size)) for size in SIZES))


if __name__ == "__main__":
    main()
