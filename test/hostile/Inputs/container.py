"""Files that are no models, or end too soon, or break protobuf's rules."""

import gzip
import os

from suite import field, model, node, varint


def add(suite):
    good = model([node("Relu")]).SerializeToString()
    suite.add("whole", good, "accept")
    for part in (2, 3, 5, 8, 13, 21, 34, 55):
        suite.add(f"first_{part}_bytes", good[:part], say="pars|truncat|graph|no opset|ir_version|output")
    suite.add("without_last", good[:-1], say="pars|truncat")
    add_other_formats(suite, good)
    add_broken_wire(suite, good)
    add_odd_files(suite, good)
    add_text(suite)


def add_other_formats(suite, good):
    formats = {"gzip": gzip.compress(good), "tar": b"model.onnx".ljust(257, b"\0") + b"ustar\0" + bytes(249), "elf": b"\x7fELF\2\1\1" + bytes(57), "npy": b"\x93NUMPY\1\0v\0{'descr': '<f4'}",
               "hdf5": b"\x89HDF\r\n\x1a\n" + bytes(40), "tflite": b"\x1c\0\0\0TFL3" + bytes(24), "ort": b"\x28\0\0\0ORTM" + bytes(24), "png": b"\x89PNG\r\n\x1a\n" + bytes(25),
               "json": b'{"irVersion": "8", "graph": {}}', "xml": b'<?xml version="1.0"?><net name="m"></net>', "html": b"<!DOCTYPE html><html>404</html>",
               "script": b"#!/usr/bin/env python3\nimport torch\n", "bom": b"\xef\xbb\xbf" + good, "utf16": "ir_version: 8".encode("utf-16"), "newline_first": b"\n" + good,
               "lfs_pointer": b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 12345\n", "zeros": bytes(4096), "ones": b"\xff" * 4096}
    for name, content in formats.items():
        suite.add(name, content, say="pars|not an onnx|ir_version|graph")


def add_broken_wire(suite, good):
    broken = {"field_0": b"\2\0", "field_too_high": varint((1 << 29) << 3) + b"\0", "wire_type_6": b"\x0e\0", "group_open": b"\x3b", "group_close": b"\x3c", "groups_cross": b"\x3b\x43\x3c\x44",
              "varint_11_bytes": b"\x08" + b"\x80" * 10 + b"\1", "length_2g": b"\x3a\xff\xff\xff\xff\x07", "length_4g": b"\x3a\x80\x80\x80\x80\x10", "length_negative": b"\x3a" + varint(-1),
              "inner_past_outer": field(7, b"\x0a\x7f"), "tag_only": b"\x3a"}
    for name, content in broken.items():
        suite.add(f"wire_{name}", good + content, say="pars|graph")
    suite.add("wire_graph_as_number", good + b"\x38\1", "either")
    suite.add("wire_unknown_field", good + field(1000, b"?" * 100) + field(1001, 1), "accept")
    suite.add("wire_fixed_unknown", good + varint(1002 << 3 | 1) + bytes(8), "accept")
    suite.add("model_twice", good + good, say="y|twice|duplicate|two")
    suite.add("groups_1000", good + b"\x3b" * 1000 + b"\x3c" * 1000, "either")
    suite.add("groups_1m", good + b"\x3b" * (1 << 20), say="pars")


def add_odd_files(suite, good):
    suite.path("plain.bin").write_bytes(good)
    links = {"link_to_zero": "/dev/zero", "link_to_null": "/dev/null", "link_to_itself": "link_to_itself.onnx", "link_to_folder": "."}
    for name, target in links.items():
        os.symlink(target, suite.path(f"{name}.onnx"))
        suite.entry(f"{name}.onnx", "reject", "regular|device|empty|directory|open|levels|file")
    os.symlink("plain.bin", suite.path("link_to_model.onnx"))
    suite.entry("link_to_model.onnx", "accept")
    os.mkfifo(suite.path("pipe.onnx"))
    suite.entry("pipe.onnx", "reject", "regular|pipe")
    suite.entry("plain.onnx", "reject", "no such file")
    suite.entry("n" * 300 + ".onnx", "reject", "long|no such file|open")
    suite.add("sp ace 'quote\" $(id);.onnx", good, "accept")
    suite.add("new\nline\x1b[31m.onnx", good[:20], say="error")


def add_text(suite):
    suite.add("whole.textproto", 'ir_version: 8 opset_import { version: 17 } graph { name: "g" node { op_type: "Relu" input: "x" output: "y" } '
              'input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } } } } } output { name: "y" } }', "accept")
    broken = {"unclosed": "graph {", "unclosed_string": 'producer_name: "x', "closed_twice": "graph {} }", "huge_number": "ir_version: 99999999999999999999999", "not_utf8": b'producer_name: "\xff\xfe"',
              "wrong_type": 'ir_version: "eight"', "deep": "graph { node { attribute { g { " * 4000, "zero_bytes": b"ir_version\0: 8", "twice": "ir_version: 8 ir_version: 9"}
    for name, content in broken.items():
        suite.add(f"{name}.textproto", content, say="pars|text|UTF|protobuf")
