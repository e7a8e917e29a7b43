"""What the standard says of each operator and opset: Debian's onnx for opsets up to 17, Kiln's own table (Schemas.def) for later ones."""

import dataclasses
import pathlib
import re

import onnx.defs
from onnx import AttributeProto, TensorProto

ROOT = pathlib.Path(__file__).resolve().parents[3]
ELEMENTS = {"f16": "FLOAT16", "f32": "FLOAT", "f64": "DOUBLE", "bf16": "BFLOAT16", "i8": "INT8", "i16": "INT16", "i32": "INT32", "i64": "INT64", "u8": "UINT8", "u16": "UINT16",
            "u32": "UINT32", "u64": "UINT64", "bool": "BOOL", "string": "STRING", "c64": "COMPLEX64", "c128": "COMPLEX128"}
NUMBERS = {name: getattr(TensorProto, number) for name, number in ELEMENTS.items()}
NUMBERS |= {"seq": 100, "opt": 101, "map": 102}
#: Those that Debian's onnx has no name for.
LATE = {"f8": (17, 18, 19, 20), "e4m3": (17,), "n4": (21, 22), "f4": (23,), "e8": (24,), "n2": (25, 26), "f6": (27, 28)}
GROUPS = {"fp": "f16 f32 f64", "fp4": "fp bf16", "int": "i8 i16 i32 i64", "uint": "u8 u16 u32 u64", "num": "fp int uint", "num4": "num bf16", "wide": "fp i32 i64 u32 u64",
          "all": "num bool string c64 c128", "ir4": "all bf16"}
KINDS = {"f": "FLOAT", "i": "INT", "s": "STRING", "t": "TENSOR", "g": "GRAPH", "F": "FLOATS", "I": "INTS", "S": "STRINGS", "T": "TENSORS", "G": "GRAPHS", "p": "SPARSE_TENSOR", "y": "TYPE_PROTO"}


@dataclasses.dataclass(frozen=True)
class Parameter:
    name: str
    kind: str  # Single, Optional or Variadic
    is_homogeneous: bool
    least: int
    variable: str
    types: frozenset


@dataclasses.dataclass(frozen=True)
class Facts:
    inputs: tuple
    outputs: tuple
    attributes: dict  # name: (kind, whether it is required)

    def most(self, parameters):
        return 1 << 30 if parameters and parameters[-1].kind == "Variadic" else len(parameters)

    def least(self, parameters):
        return max([i + 1 for i, p in enumerate(parameters) if p.kind == "Single"] + [i + p.least for i, p in enumerate(parameters) if p.kind == "Variadic" and p.least] + [0])


def expand(text):
    types = set()
    for part in re.split(r"[| ]", text):
        types |= expand(GROUPS[part]) if part in GROUPS else set(LATE[part]) if part in LATE else {NUMBERS[part]}
    return types


def read_table():
    """{(domain, operator): {since: row}}, the row's fields as Schemas.def has them."""
    table = {}
    for line in (ROOT / "compiler/import/Schemas.def").read_text().splitlines():
        if line.startswith("SCHEMA("):
            domain, name, since, *row = re.fullmatch(r'SCHEMA\("(.*?)", "(.*?)", (\d+), "(.*?)", "(.*?)", "(.*?)", "(.*?)"\)', line).groups()
            table.setdefault((domain, name), {})[int(since)] = row
    return table


def read_row(inputs, outputs, types, attributes):
    variables = dict(part.split("=") for part in types.split())

    def parameters(text):
        for part in text.split():
            name, mark, least, kind = re.fullmatch(r"([\w.]+)([?*&]?)(\d*):([^/]*)(?:/.*)?", part).groups()
            option = {"": "Single", "?": "Optional"}.get(mark, "Variadic")
            yield Parameter(name, option, mark != "&", int(least or 0), kind if kind in variables else "", frozenset(expand(variables.get(kind, kind))))
    read = {}
    for part in attributes.split():
        name, letter = re.match(r"(\w+):(.)", part).groups()
        read[name] = getattr(AttributeProto, KINDS[letter]), part.endswith("!")
    return Facts(tuple(parameters(inputs)), tuple(parameters(outputs)), read)


def read_types(texts):
    found = set()
    for text in texts:
        match = re.fullmatch(r"tensor\((\w+)\)", text)
        found.add(getattr(TensorProto, match[1].upper()) if match else NUMBERS["seq" if text.startswith("seq") else "opt" if text.startswith("optional") else "map"])
    return frozenset(found)


def read_schema(schema):
    variables = {t.type_param_str for t in schema.type_constraints}

    def parameters(formal, least):
        for at, p in enumerate(formal):
            kind = str(p.option).split(".")[-1]
            yield Parameter(p.name, kind, p.isHomogeneous, max(0, least - at) if kind == "Variadic" else 0, p.typeStr if p.typeStr in variables else "", read_types(p.types))
    attributes = {name: (int(getattr(AttributeProto, str(a.type).split(".")[-1])), a.required) for name, a in schema.attributes.items()}
    return Facts(tuple(parameters(schema.inputs, schema.min_input)), tuple(parameters(schema.outputs, schema.min_output)), attributes)


def supported_opsets():
    """{operator with its domain: [(first opset, last)]}, from the generated list."""
    found = {"If": [(1, 99)], "Loop": [(1, 99)], "Scan": [(9, 99)]}
    for line in (ROOT / "docs/generated/OnnxSupport.md").read_text().splitlines():
        match = re.match(r"\| ([\w.]+) \| (\d+) (?:on|to (\d+)) \|", line)
        if match:
            found.setdefault(match[1], []).append((int(match[2]), int(match[3] or 99)))
    return found


def list_operators():
    """(domain, operator, opset, facts) for each operator and opset that Kiln has."""
    opsets, table = supported_opsets(), read_table()
    older = {(s.domain, s.name, s.since_version): read_schema(s) for s in onnx.defs.get_all_schemas_with_history() if not s.deprecated}
    keys = {(*key, since) for key, rows in table.items() for since in rows} | set(older)
    for domain, name, since in sorted(keys):
        ranges = opsets.get(f"{domain}.{name}" if domain else name, ())
        if any(first <= since <= last for first, last in ranges):
            facts = older.get((domain, name, since))
            yield domain, name, since, facts or read_row(*table[domain, name][since])
