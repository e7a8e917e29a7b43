"""Runs a model with dynamic dimensions at the corners of their bounds, under ASan and UBSan: each run gives a status or the right numbers.

corners.py MODEL.onnx FOLDER [--reference 'y = a + b']... [-- OPTIONS OF KILN]

The driver is made from the model's signature. Dimensions are 0, 1, 2 and the most, those whose product passes 2^31, 2^32, 2^62, 2^63 and 2^64, some outside
of their bounds, and random ones. Where memory and time allow, the model runs in buffers of exactly its sizes. Where they do not, no buffer is there: the
size of the workspace must be SIZE_MAX if a tensor is larger than 2^62 bytes, and if it is, the run must refuse. References are numpy's.
"""

import argparse
import json
import pathlib
import random
import re
import struct
import subprocess
import sys

import numpy

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3]))
import kiln_calls  # noqa: E402
import sanitized  # noqa: E402

TYPES = {"f32": "f4", "f64": "f8", "f16": "f2", "i8": "i1", "u8": "u1", "i16": "i2", "u16": "u2", "i32": "i4", "u32": "u4", "i64": "i8", "u64": "u8", "bool": "u1"}
MOST_BYTES, MOST_ELEMENTS, MOST_WORK = 1 << 62, 1 << 18, 1 << 20
OK = 0

DRIVER = r"""
#include "NAME.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct tensor {
  size_t elements, bytes; /* as they wrap around */
};
struct corner {
  int64_t dims[DIMS];
  tensor tensors[TENSORS];
  int runs, overflows;
};
static const corner corners[] = {
CORNERS};

static void fill(void *memory, const char *type, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    const int value = int((i * 7 + 3) % 13) - 6;
    if (!strcmp(type, "f32"))
      static_cast<float *>(memory)[i] = float(value) / 4;
    else if (!strcmp(type, "f64"))
      static_cast<double *>(memory)[i] = double(value) / 4;
    else if (!strcmp(type, "i64"))
      static_cast<int64_t *>(memory)[i] = value;
    else if (!strcmp(type, "i32"))
      static_cast<int32_t *>(memory)[i] = value;
    else if (!strcmp(type, "bool"))
      static_cast<uint8_t *>(memory)[i] = value > 0;
    else if (!strcmp(type, "f16"))
      static_cast<_Float16 *>(memory)[i] = static_cast<_Float16>(float(value) / 4);
    else if (!strcmp(type, "i8"))
      static_cast<int8_t *>(memory)[i] = int8_t(value);
    else if (!strcmp(type, "u8"))
      static_cast<uint8_t *>(memory)[i] = uint8_t(value + 6);
    else
      abort();
  }
}

/* Nothing may be read or written here. */
static char *const nowhere = reinterpret_cast<char *>(4096);

static kiln_status call_wrapper(const corner &at) {
  NAME_call call;
  SETTERS
  return call.run(WEIGHTS{reinterpret_cast<unsigned char *>(nowhere), SIZE_MAX});
}

static void require(int condition, const char *what, size_t corner) {
  if (condition)
    return;
  printf("corner %zu: %s\n", corner, what);
  exit(1);
}

int main(int, char **argv) {
  FILE *out = fopen(argv[1], "wb");
  static const char *const types[] = {TYPE_LIST};
  for (size_t c = 0; c < sizeof(corners) / sizeof(*corners); ++c) {
    const corner &at = corners[c];
    NAME_dims dims;
    memcpy(&dims, at.dims, sizeof(dims));
    const size_t size = NAME_workspace_size(&dims);
    void *memory[TENSORS + 1] = {};
    NAME_inputs inputs;
    NAME_outputs outputs;
    const bool runs = at.runs && size < (size_t(1) << 28);
    for (size_t t = 0; t < TENSORS; ++t) {
      memory[t] = runs ? malloc(at.tensors[t].bytes) : nowhere;
      if (runs && t < INPUTS)
        fill(memory[t], types[t], at.tensors[t].elements);
    }
    memcpy(static_cast<void *>(&inputs), memory, INPUTS * sizeof(void *));
    memcpy(static_cast<void *>(&outputs), memory + INPUTS, (TENSORS - INPUTS) * sizeof(void *));
    void *workspace = nowhere;
    if (runs && posix_memalign(&workspace, KILN_ALIGNMENT, size ? size : 1))
      abort();
    require(!at.overflows || size == SIZE_MAX, "a tensor is too large, but the workspace has a size", c);
    kiln_status status = KILN_STATUS_OUT_OF_MEMORY;
    if (runs || size == SIZE_MAX)
      status = NAME_run(&dims, &inputs, &outputs, workspace, NULL);
    require(runs || status, "the run does not refuse what has no size", c);
    if (size == SIZE_MAX)
      require(call_wrapper(at) != KILN_STATUS_OK, "the C++ wrapper does not refuse what has no size", c);
    const int64_t head[2] = {runs ? 1 : size == SIZE_MAX ? 2 : 3, status};
    fwrite(head, sizeof(head), 1, out);
    fwrite(&dims, sizeof(dims), 1, out);
    for (size_t t = 0; runs && t < TENSORS; ++t) {
      if (t >= INPUTS)
        fwrite(memory[t], 1, at.tensors[t].bytes, out);
      free(memory[t]);
    }
    if (runs)
      free(workspace);
  }
  fclose(out);
  return 0;
}
"""


# What sizes are written with.
FUNCTIONS = {"max": max, "min": min, "ceil_div": lambda number, by: -(-number // by), "ceil_to": lambda number, by: -(-number // by) * by,
             "broadcast": lambda one, other: other if one == 1 else one}


def split_outside(text):
    """The parts between commas that are in no parentheses."""
    parts, depth = [""], 0
    for char in text:
        depth += (char == "(") - (char == ")")
        if char == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += char
    return parts


class Tensor:
    def __init__(self, row):
        self.name = row["name"]
        self.type, dims = re.fullmatch(r"(\w+)\[(.*)\]", row["type"]).groups()
        self.dims = [part.replace(" / ", " // ") for part in split_outside(dims) if part]

    def shape(self, symbols):
        return [eval(dim, FUNCTIONS, symbols) for dim in self.dims]


def product(sizes):
    result = 1
    for size in sizes:
        result *= size
    return result


def list_corners(dimensions):
    """Values of the dimensions that the caller gives."""
    count = len(dimensions)
    same = lambda value: [value] * count
    clamp = lambda values: [min(max(value, d["min"]), d["max"]) for value, d in zip(values, dimensions)]
    least, most = [d["min"] for d in dimensions], [d["max"] for d in dimensions]
    corners = [least, most] + [clamp(same(value)) for value in (1, 2, 3, 5, 17)]
    for exponent in (31, 32, 61, 62, 63, 64):
        for divisor in range(1, count + 1):
            root = int(round(2 ** (exponent / divisor)))
            for value in (root - 1, root, root + 1):
                for first in range(count):
                    corners.append(clamp([value if (position - first) % count < divisor else 1 for position in range(count)]))
    for position in range(count):
        for others in (least, most, clamp(same(1)), clamp(same(0)), clamp(same(3))):
            for value in (dimensions[position]["min"], dimensions[position]["min"] + 1, 2, 9, dimensions[position]["max"]):
                corners.append(clamp(others[:position] + [value] + others[position + 1:]))
            for value in (-1, dimensions[position]["min"] - 1, dimensions[position]["max"] + 1, -(1 << 63), (1 << 63) - 1):
                corners.append(others[:position] + [value] + others[position + 1:])
    choice = random.Random(1)
    for _ in range(60):
        corners.append(clamp([choice.choice((0, 1, 2, 3, 4, 7, 8, 13, 16, 33)) for _ in range(count)]))
    for _ in range(60):
        corners.append(clamp([choice.choice((0, 1, 2, 1 << 8, 1 << 16, 1 << 20, 1 << 31, 1 << 40)) for _ in range(count)]))
    unique = []
    for corner in corners:
        if corner not in unique:
            unique.append(corner)
    return unique


def make_corner(values, dimensions, tensors):
    """The row of the driver's table, and the values of all symbols at their most."""
    symbols = dict(zip((d["name"] for d in dimensions), values))
    # In shapes, keywords of C++ stand as the header has them.
    symbols.update({name + "_": value for name, value in list(symbols.items())})
    inside = all(d["min"] <= value <= d["max"] for value, d in zip(values, dimensions))
    for dimension in dimensions[len(values):]:
        symbols[dimension["name"]] = eval(dimension["bound"].replace(" / ", " // "), {"max": max}, symbols) if inside else 0
    rows, runs, overflows = [], inside and product(max(value, 1) for value in values) <= MOST_WORK, False
    for tensor in tensors:
        try:
            shape = tensor.shape(symbols)
        except ZeroDivisionError:
            shape, runs = [0], False
        elements = product(shape)
        width = numpy.dtype(TYPES[tensor.type]).itemsize
        runs = runs and 0 <= elements <= MOST_ELEMENTS and all(size >= 0 for size in shape)
        overflows |= inside and all(size >= 0 for size in shape) and elements * width > MOST_BYTES
        rows.append(f"{{{elements % 2**64}u, {elements * width % 2**64}u}}")
    literals = [f"{value}" if value > -(1 << 63) else "INT64_MIN" for value in values] + ["0"] * (len(dimensions) - len(values))
    return f"  {{{{{', '.join(literals)}}}, {{{', '.join(rows)}}}, {int(runs)}, {int(overflows or not inside)}}},\n", symbols


def fill(tensor, shape):
    count = product(shape)
    value = (numpy.arange(count, dtype=numpy.int64) * 7 + 3) % 13 - 6
    if tensor.type[0] == "f":
        value = value / 4
    elif tensor.type == "bool":
        value = value > 0
    elif tensor.type == "u8":
        value = value + 6
    return value.astype(TYPES[tensor.type]).reshape(shape)


def check(data, corners, dimensions, inputs, outputs, references):
    """Compares what the driver has written; returns how many corners ran, were refused, and were too large to try."""
    at, counts, statuses = 0, {1: 0, 2: 0, 3: 0}, {}
    for values in corners:
        kind, status = struct.unpack_from("<qq", data, at)
        found = struct.unpack_from(f"<{len(dimensions)}q", data, at + 16)
        at += 16 + 8 * len(dimensions)
        counts[kind] += 1
        if kind != 1:
            continue
        _, symbols = make_corner(values, dimensions, inputs + outputs)
        statuses[status] = statuses.get(status, 0) + 1
        given = {tensor.name: fill(tensor, tensor.shape(symbols)) for tensor in inputs}
        for tensor in outputs:
            room = product(tensor.shape(symbols))
            whole = numpy.frombuffer(data, TYPES[tensor.type], room, at)
            at += whole.nbytes
            if status != OK or tensor.name not in references:
                continue
            shape = tensor.shape(dict(symbols, **dict(zip((d["name"] for d in dimensions), found))))
            try:
                with numpy.errstate(all="ignore"):
                    expected = numpy.asarray(eval(references[tensor.name], {"np": numpy}, given))
            except ValueError:  # the maximum of nothing, and the like
                continue
            result = whole[:product(shape)].reshape(shape)
            if list(expected.shape) != shape or not numpy.allclose(result, expected, rtol=1e-4, atol=1e-5, equal_nan=True):
                sys.exit(f"{tensor.name} is wrong for {values}: {result} of {shape}, expected {expected} of {list(expected.shape)}")
    return counts, statuses


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--reference", action="append", default=[], metavar="OUTPUT=EXPRESSION")
    split = sys.argv.index("--") if "--" in sys.argv else len(sys.argv)
    options = parser.parse_args(sys.argv[1:split])
    references = dict([part.strip() for part in text.split("=", 1)] for text in options.reference)
    folder = options.folder
    folder.mkdir(parents=True, exist_ok=True)
    kiln_calls.run(options.model, "-o", folder, "--name=model", f"--cxx={sanitized.COMPILER}", "-q", *sys.argv[split + 1:])
    described = json.loads(kiln_calls.run("inspect", folder / "libmodel.a", "--json").stdout)
    inputs, outputs = [Tensor(row) for row in described["inputs"]], [Tensor(row) for row in described["outputs"]]
    dimensions = described["dimensions"]
    given = [d for d in dimensions if "bound" not in d]
    if not given:
        print("no dimension is dynamic")
        return
    corners = list_corners(given)
    rows = [make_corner(corner, dimensions, inputs + outputs)[0] for corner in corners]
    # Keywords of C++ have an underscore behind them in the header.
    header = (folder / "model.h").read_text()
    field = lambda name: name if re.search(rf"\b{name} ?[;(]", header) else name + "_"
    setters = "".join(f"call.{field(d['name'])}(at.dims[{i}]);\n  " for i, d in enumerate(given))
    for i, tensor in enumerate(inputs + outputs):
        owner, name = "model_inputs" if i < len(inputs) else "model_outputs", field(tensor.name)
        setters += f"call.{name}({{reinterpret_cast<decltype({owner}::{name})>(nowhere), at.tensors[{i}].elements}});\n  "
    text = DRIVER
    for word, value in (("CORNERS", "".join(rows)), ("TENSORS", len(inputs + outputs)), ("INPUTS", len(inputs)), ("DIMS", len(dimensions)),
                        ("SETTERS", setters), ("TYPE_LIST", ", ".join(json.dumps(tensor.type) for tensor in inputs + outputs)), ("WEIGHTS", ""), ("NAME", "model")):
        text = re.sub(rf"\b{word}\b" if word != "NAME" else word, lambda match: str(value), text)
    driver = folder / "driver.cpp"
    driver.write_text(text)
    program = folder / "driver"
    subprocess.run([sanitized.COMPILER, "-std=c++17", "-Wall", "-Wextra", "-Werror", f"-I{folder}", driver, folder / "libmodel.a", "-lm", "-o", program], check=True)
    done = subprocess.run([program, folder / "results"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          env={"ASAN_OPTIONS": "detect_leaks=0", "UBSAN_OPTIONS": sanitized.UBSAN_OPTIONS})
    if done.returncode:
        corner = re.match(r"corner (\d+)", done.stdout)
        sys.exit(f"{done.stdout}\nexit status {done.returncode}" + (f" for {corners[int(corner.group(1))]}" if corner else ""))
    counts, statuses = check((folder / "results").read_bytes(), corners, dimensions, inputs, outputs, references)
    refused = ", ".join(f"{count} with status {status}" for status, count in sorted(statuses.items()) if status)
    print(f"{len(corners)} corners: {counts[1]} ran{' (' + refused + ')' if refused else ''}, {counts[2]} have no size, {counts[3]} are too large to try")


main()
