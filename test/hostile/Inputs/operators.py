"""One violated "must" each, for every operator and opset that Kiln has: counts, attributes and types of the standard's schemas.

Each starts from a valid node (bases.py), which is a case of its own, so that a refusal is the violation's doing.
"""

import copy
import zlib

import numpy as np
import onnx
from bases import STEP, find_base
from onnx import AttributeProto, TensorProto, helper
from schemas import NUMBERS, list_operators
from suite import FLOAT, model, value, weight

KNOWN = {TensorProto.FLOAT: "f4", TensorProto.DOUBLE: "f8", TensorProto.FLOAT16: "f2", TensorProto.INT8: "i1", TensorProto.INT16: "i2", TensorProto.INT32: "i4", TensorProto.INT64: "i8",
         TensorProto.UINT8: "u1", TensorProto.UINT16: "u2", TensorProto.UINT32: "u4", TensorProto.UINT64: "u8", TensorProto.BOOL: "?"}
VALUES = {AttributeProto.FLOAT: 1.5, AttributeProto.INT: 1, AttributeProto.STRING: "text", AttributeProto.INTS: [1, 2], AttributeProto.FLOATS: [1.5], AttributeProto.STRINGS: ["text"],
          AttributeProto.TENSOR: helper.make_tensor("v", FLOAT, [1], [1.0]), AttributeProto.GRAPH: STEP}


class Case:
    """A node with its inputs and attributes, to be changed and written."""

    def __init__(self, domain, operator, opset, outputs=None):
        self.domain, self.operator, self.opset = domain, operator, opset
        inputs, attributes, count = find_base(f"{domain}.{operator}" if domain else operator, opset)
        self.inputs, self.attributes = list(inputs), copy.copy(attributes)
        self.outputs = ["y"] + [f"y{index}" for index in range(1, outputs or count)]
        self.extra = []  # more attributes as they stand in the file
        self.declared = {}  # types of outputs

    def write(self):
        before, names, values, weights = [], [], [], []
        for index, given in enumerate(self.inputs):
            name = f"i{index}"
            if given is None:
                name = ""
            elif isinstance(given, str) and given == "map":
                values.append(onnx.ValueInfoProto(name=name))
                values[-1].type.map_type.key_type = TensorProto.INT64
                values[-1].type.map_type.value_type.tensor_type.elem_type = FLOAT
            elif isinstance(given, str):
                values.append(value(f"{name}_x"))
                before.append(helper.make_node({"seq": "SequenceConstruct", "opt": "Optional"}[given], [f"{name}_x"], [name], f"before_{index}"))
            elif isinstance(given, tuple):
                values.append(value(name, given[1], given[0]))
            else:
                weights.append(weight(name, given))
            names.append(name)
        node = helper.make_node(self.operator, names, self.outputs, "bad_node", domain=self.domain, **self.attributes)
        node.attribute.extend(self.extra)
        results = [self.declared.get(name, helper.make_value_info(name, onnx.TypeProto())) for name in dict.fromkeys(self.outputs) if name]
        opset, domains = (self.opset, ()) if not self.domain else (17, [(self.domain, self.opset)])
        written = model([*before, node], values, results, weights, opset)
        written.opset_import.extend(helper.make_opsetid(*domain) for domain in domains)
        return written


def retyped(given, element):
    """The same input with another element type; None where there is no such constant."""
    if isinstance(given, tuple):
        return element, given[1]
    if isinstance(given, np.ndarray | np.generic) and element in KNOWN:
        return np.asarray(given).astype(KNOWN[element])
    return (element, np.shape(given)) if element == TensorProto.STRING else None


def counts(case, facts):
    """(name, changed case, words of the message)"""
    least, most = facts.least(facts.inputs), facts.most(facts.inputs)
    if least:
        yield "inputs_none", {"inputs": []}, "input"
        yield "inputs_few", {"inputs": case.inputs[:least - 1]}, "input"
        for index in range(min(least, len(case.inputs))):
            if facts.inputs[min(index, len(facts.inputs) - 1)].kind == "Single":
                yield f"input_{index}_blank", {"inputs": [*case.inputs[:index], None, *case.inputs[index + 1:]]}, "input"
    if most < 100:
        filler = case.inputs[-1] if case.inputs and case.inputs[-1] is not None else (FLOAT, (2, 3))
        yield "inputs_many", {"inputs": [*case.inputs, *[None] * (most - len(case.inputs)), filler]}, "input"
    if facts.least(facts.outputs):
        yield "outputs_blank", {"outputs": [""] * len(case.outputs)}, "output"
    if facts.most(facts.outputs) < 100:
        yield "outputs_many", {"outputs": ["y"] + [f"y{i}" for i in range(1, facts.most(facts.outputs) + 1)]}, "output"
    if facts.most(facts.outputs) > 1:
        yield "output_twice", {"outputs": ["y", "y"]}, "twice|already|duplicate"


def attribute(name, kind):
    made = helper.make_attribute(name, VALUES[kind])
    made.type = kind
    return made


def attributes(case, facts):
    yield "attribute_unknown", {"extra": [helper.make_attribute("kiln_made_this_up", 1)]}, "kiln_made_this_up"
    yield "attribute_unnamed", {"extra": [helper.make_attribute("", 1)]}, "attribute"
    for name, (kind, is_required) in facts.attributes.items():
        if name == "consumed_inputs":
            continue
        without = {key: given for key, given in case.attributes.items() if key != name}
        if is_required:
            yield f"without_{name}", {"attributes": without}, name
        if kind not in VALUES:
            continue
        for other in (AttributeProto.INT, AttributeProto.STRING, AttributeProto.INTS):
            if other != kind:
                yield f"{name}_is_{AttributeProto.AttributeType.Name(other).lower()}", {"attributes": without, "extra": [attribute(name, other)]}, name
        given = helper.make_attribute(name, case.attributes[name]) if name in case.attributes else attribute(name, kind)
        yield f"{name}_twice", {"attributes": without, "extra": [given, given]}, [name, "twice"]
        reference = AttributeProto(name=name, type=kind, ref_attr_name="of_a_function")
        yield f"{name}_refers", {"attributes": without, "extra": [reference]}, [name, "function"]
        disagreeing = copy.deepcopy(given)
        disagreeing.type = AttributeProto.INT if kind != AttributeProto.INT else AttributeProto.FLOAT
        yield f"{name}_disagrees", {"attributes": without, "extra": [disagreeing]}, name
        unknown = AttributeProto()
        unknown.ParseFromString(given.SerializeToString().replace(b"\xa0\x01" + bytes([given.type]), b"\xa0\x01\x63"))
        yield f"{name}_of_type_99", {"attributes": without, "extra": [unknown]}, name


def wrong_elements(types):
    """Element types that are not allowed."""
    return [element for element in (TensorProto.STRING, TensorProto.BOOL, TensorProto.FLOAT, TensorProto.INT64, TensorProto.UINT16, TensorProto.DOUBLE) if element not in types]


def types(case, facts):
    """Each input, and all of its type's variable with it, of a type that is not allowed; and one of another type than the others of the variable."""
    def parameter(index):
        return facts.inputs[min(index, len(facts.inputs) - 1)] if facts.inputs else None
    variables = {}
    for index, given in enumerate(case.inputs):
        if given is not None and not isinstance(given, str):
            variables.setdefault(parameter(index).variable or index, []).append(index)
    for places in variables.values():
        allowed = parameter(places[0]).types
        for wrong in wrong_elements(allowed)[:2]:
            changed = list(case.inputs)
            for index in places:
                changed[index] = retyped(changed[index], wrong)
            if all(changed[index] is not None for index in places):
                yield f"input_{places[0]}_of_{TensorProto.DataType.Name(wrong).lower()}", {"inputs": changed}, "type|expected"
        for index in places[1:]:
            others = [e for e in (TensorProto.DOUBLE, TensorProto.FLOAT, TensorProto.INT64, TensorProto.UINT8, TensorProto.INT8) if e in allowed]
            given = case.inputs[index]
            now = given[0] if isinstance(given, tuple) else onnx.mapping.NP_TYPE_TO_TENSOR_TYPE[np.asarray(given).dtype]
            others = [e for e in others if e != now]
            if others and parameter(index).is_homogeneous:
                changed = list(case.inputs)
                changed[index] = retyped(changed[index], others[0])
                yield f"input_{index}_of_another_type", {"inputs": changed}, "type"
    for index, given in enumerate(case.inputs):
        if isinstance(given, tuple) and not parameter(index).types & {NUMBERS["seq"], NUMBERS["opt"]}:
            yield f"input_{index}_is_sequence", {"inputs": [*case.inputs[:index], "seq", *case.inputs[index + 1:]]}, "sequence"
        if isinstance(given, str) and FLOAT not in parameter(index).types:
            yield f"input_{index}_is_tensor", {"inputs": [*case.inputs[:index], (FLOAT, (2, 3)), *case.inputs[index + 1:]]}, "sequence|optional|map"


def changed(case, changes):
    made = copy.copy(case)
    for name, content in changes.items():
        setattr(made, name, content)
    return made


#: Of opsets that are not an operator's last, one violation of so many.
OLDER = 5


def add(suite):
    listed = list(list_operators())
    last = {(domain, operator): opset for domain, operator, opset, _ in listed}
    for domain, operator, opset, facts in listed:
        case = Case(domain, operator, opset)
        if any(isinstance(given, str) and given == "skip" for given in case.inputs):
            continue
        stem = f"{operator}_{opset}"
        suite.add(stem, case.write(), "accept", is_import=True)
        seen = set()
        for kind in (counts, attributes, types):
            for name, changes, say in kind(case, facts):
                if name in seen or (name.endswith("_is_sequence") and (domain or opset < 11)):
                    continue
                seen.add(name)
                if opset != last[domain, operator] and zlib.crc32(f"{stem}_{name}".encode()) % OLDER:
                    continue
                suite.add(f"{stem}_{name}", changed(case, changes).write(), "reject", say, "bad_node", is_import=True)
