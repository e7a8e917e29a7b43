"""Writes DIR/m.onnx with COUNT weights of 64 MiB in a file beside it, and with a command runs it and prints whether it took less than LIMIT MiB.

The file is sparse, or has random numbers between 1 and 2.

Usage: large_external.py [--random] DIR COUNT [LIMIT COMMAND...]
"""

import os
import resource
import struct
import subprocess
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper

WIDTH = 4096


def write_model(folder, count, is_random):
    os.makedirs(folder, exist_ok=True)
    nodes, weights, value = [], [], "x"
    random = np.random.default_rng(1)
    size = WIDTH * WIDTH * 4
    with open(os.path.join(folder, "w.bin"), "wb") as data:
        data.truncate(count * size)
        for number in range(count):
            # Equal weights would be stored once.
            data.seek(number * size)
            if is_random:
                data.write(random.integers(0x3f800000, 0x40000000, WIDTH * WIDTH, np.uint32))
            else:
                data.write(struct.pack("<f", number + 1))
            weight = TensorProto(name=f"w{number}", data_type=TensorProto.FLOAT, dims=[WIDTH, WIDTH], data_location=TensorProto.EXTERNAL)
            for key, text in (("location", "w.bin"), ("offset", str(number * size)), ("length", str(size))):
                weight.external_data.add(key=key, value=text)
            weights.append(weight)
            nodes.append(helper.make_node("MatMul", [value, weight.name], [f"y{number}"]))
            value = f"y{number}"
    graph = helper.make_graph(nodes, "large", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, WIDTH])],
                              [helper.make_tensor_value_info(value, TensorProto.FLOAT, [1, WIDTH])], weights)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), os.path.join(folder, "m.onnx"))


def main():
    is_random = sys.argv[1] == "--random"
    folder, count, *rest = sys.argv[1 + is_random:]
    write_model(folder, int(count), is_random)
    if rest:
        subprocess.run(rest[1:], check=True)
        used = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024
        print("less" if used < int(rest[0]) else f"{used} MiB")


main()
