"""What numpy's module says about sizes of explain.onnxtxt: explain_elsewhere.py sizes | explain LIBRARY SIZES | run LIBRARY."""
import itertools
import sys

import numpy

NAMES = ("height", "seq", "rows", "columns")
HEIGHTS, LENGTHS, ROWS, COLUMNS = (-1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 33), (2, 0, 6, 7), (3, 0, 4), (3, 0, 4, 64, 65)


def explain(library, sizes):
    net = Model(library)
    for line in open(sizes):
        print(net.explain(dict(zip(NAMES, map(int, line.split())))))


def run(library):
    net = Model(library)
    zeros = lambda *shape: numpy.zeros(shape, numpy.float32)
    inputs = lambda height, seq: {"x": zeros(1, 1, height, 8), "t": zeros(seq, 2), "a": zeros(2, 3), "b": zeros(3, 3), "c": zeros(1, 2, seq)}
    assert net(inputs(8, 2))["y"].shape == (1, 1, 4, 4)
    for call in (lambda: net(inputs(6, 2)), lambda: net(inputs(8, 7)), lambda: net.explain(height=8)):
        try:
            call()
        except KilnError as error:
            print(error.status, error)


if __name__ == "__main__":
    if sys.argv[1] == "sizes":
        for sizes in itertools.product(HEIGHTS, LENGTHS, ROWS, COLUMNS):
            print(*sizes)
    else:
        from kiln_model import KilnError, Model
        {"explain": explain, "run": run}[sys.argv[1]](*sys.argv[2:])
