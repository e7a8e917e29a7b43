"""Writes DIR/m.onnx with COUNT weights of 64 MiB in a sparse file beside it, and with a command runs it and prints whether it took less than LIMIT MiB.

Usage: large_external.py DIR COUNT [LIMIT COMMAND...]
"""

import os
import resource
import struct
import subprocess
import sys

import onnx
from onnx import TensorProto, helper

WIDTH = 4096


def write_model(folder, count):
    os.makedirs(folder, exist_ok=True)
    nodes, weights, value = [], [], "x"
    size = WIDTH * WIDTH * 4
    with open(os.path.join(folder, "w.bin"), "wb") as data:
        data.truncate(count * size)
        for number in range(count):
            # Equal weights would be stored once.
            data.seek(number * size)
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
    write_model(sys.argv[1], int(sys.argv[2]))
    if len(sys.argv) > 3:
        subprocess.run(sys.argv[4:], check=True)
        used = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024
        print("less" if used < int(sys.argv[3]) else f"{used} MiB")


main()
