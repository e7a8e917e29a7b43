"""Recorded values of a sequence and an optional, of each kind that there is.

Usage: sequences.py FOLDER
"""

import pathlib
import sys

import numpy as np
import onnx
from onnx import numpy_helper


def main():
    folder = pathlib.Path(sys.argv[1])
    (folder / "data").mkdir(parents=True)
    parts = [np.array(numbers, np.float32) for numbers in ([1, 2], [3, 4, 5, 6], [7])]

    def save(name, proto):
        (folder / name).write_bytes(proto.SerializeToString())

    save("data/input_0.pb", numpy_helper.from_list(parts))
    save("data/input_1.pb", numpy_helper.from_optional(np.ones(1, np.float32)))
    save("data/output_0.pb", numpy_helper.from_array(np.array(3)))
    save("data/output_1.pb", numpy_helper.from_list([part + 1 for part in parts]))
    save("none.pb", onnx.SequenceProto(elem_type=onnx.SequenceProto.TENSOR))
    save("absent.pb", onnx.OptionalProto(elem_type=onnx.OptionalProto.TENSOR))
    (folder / "torn.pb").write_bytes(numpy_helper.from_list(parts).SerializeToString()[:-3])


if __name__ == "__main__":
    main()
