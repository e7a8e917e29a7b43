"""Weights beside the model's file: places, offsets and lengths that must not be believed."""

import os

from onnx import StringStringEntryProto, TensorProto
from suite import FLOAT, model, node


def beside(entries, dims=(4,)):
    tensor = TensorProto(name="w", data_type=FLOAT, dims=dims, data_location=TensorProto.EXTERNAL)
    tensor.external_data.extend(StringStringEntryProto(key=key, value=text) for key, text in entries)
    return model([node("Relu", ("w",))], [], weights=[tensor])


def add(suite):
    suite.path("w.bin").write_bytes(bytes(64))
    suite.path("short.bin").write_bytes(bytes(8))
    suite.path("empty.bin").write_bytes(b"")
    suite.path("folder").mkdir()
    suite.path("folder/w.bin").write_bytes(bytes(64))
    os.mkfifo(suite.path("pipe.bin"))
    os.symlink("/etc/hostname", suite.path("out.bin"))
    os.symlink("/dev/full", suite.path("device.bin"))
    os.symlink("nowhere.bin", suite.path("dangling.bin"))
    os.symlink("/", suite.path("root"))
    (suite.folder / "secret.bin").write_bytes(bytes(64))
    for name, entries in {"good": [], "offset": [("offset", "16")], "offset_and_length": [("offset", "48"), ("length", "16")], "inside_folder": None}.items():
        suite.add(name, beside([("location", "folder/w.bin" if entries is None else "w.bin"), *(entries or [])]), "accept")
    places = {"absolute": "/etc/hostname", "parent": "../secret.bin", "parent_in_the_middle": "folder/../../secret.bin", "parent_of_nothing": "nothing/../../secret.bin", "home": "~/w.bin", "drive": "C:\\w.bin",
              "backslashes": "..\\secret.bin", "share": "\\\\host\\w.bin", "url": "https://example.com/w.bin", "empty": "", "blank": " ", "here": ".", "root": "/", "folder": "folder", "folder_slash": "folder/",
              "nul": "w.bin\0.txt", "newline": "w\n.bin", "long": "n" * 5000, "deep": "a/" * 3000 + "w.bin", "pipe": "pipe.bin", "link": "out.bin", "device": "device.bin", "dangling": "dangling.bin",
              "through_link": "root/etc/hostname", "proc": "/proc/self/environ", "stdin": "/dev/stdin", "environment": "$HOME/w.bin", "command": "$(touch x)", "missing": "nothing.bin", "short": "short.bin", "no_bytes": "empty.bin"}
    for name, place in places.items():
        suite.add(f"location_{name}", beside([("location", place)]), say="w")
    numbers = {"negative": "-16", "hex": "0x10", "float": "16.0", "exponent": "1e1", "blank": " 16", "empty": "", "words": "sixteen", "past_end": "64", "far_past_end": "4611686018427387904", "over_64_bits": "99999999999999999999",
               "wraps": "18446744073709551600", "plus": "+99"}
    for name, text in numbers.items():
        suite.add(f"offset_{name}", beside([("location", "w.bin"), ("offset", text)]), say=["w", "offset|size|length|range"])
    for name, text in {"zero": "0", "negative": "-1", "short": "15", "long": "17", "past_end": "1000", "huge": "9223372036854775807", "words": "all"}.items():
        suite.add(f"length_{name}", beside([("location", "w.bin"), ("length", text)]), say=["w", "length|size|byte|offset|range"])
    suite.add("tensor_larger_than_file", beside([("location", "w.bin")], (1 << 28,)), say=["w", "size|length|byte"])
    suite.add("offset_twice", beside([("location", "w.bin"), ("offset", "0"), ("offset", "16")]), say=["w", "offset|twice|dupl"])
    suite.add("no_entries", beside([]), say=["w", "location"])
    suite.add("keys_1000", beside([("location", "w.bin"), *((f"k{index}", "v") for index in range(1000))]), "either")
