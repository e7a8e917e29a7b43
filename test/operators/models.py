"""Many cases side by side in one model, run by kiln at once."""

import pathlib
import re
import tempfile

import numpy as np
import onnx
from cases import Map
from cuts import Cuts
from elements import TYPES, as_bytes, to_proto
from judging import difference
from onnx import helper

NEWEST_IR = 13
SCHEMAS = pathlib.Path(__file__).resolve().parents[2] / "compiler/import/Schemas.def"
AGREED, DISAGREED, UNSUPPORTED = "agreed", "disagreed", "not supported"


def attribute(name, value):
    if isinstance(value, np.ndarray):
        return helper.make_attribute(name, to_proto(value, {np.dtype(e.held): n for n, e in TYPES.items() if e.held and n != "bf16" and not e.is_narrow}[value.dtype]))
    if isinstance(value, (list, tuple)) and not value:
        return onnx.AttributeProto(name=name, type=onnx.AttributeProto.INTS)
    return helper.make_attribute(name, value)


def info(name, type, shape):
    return helper.make_tensor_value_info(name, TYPES[type].number, shape)


def write_input(path, array, type):
    """A file that kiln reads; its path."""
    if TYPES[type].is_narrow:
        path = path.with_suffix(".pb")
        path.write_bytes(to_proto(array, type).SerializeToString())
        return path
    path = path.with_suffix(".npy")
    np.save(path, as_bytes(array).view("V2") if type == "bf16" else array)
    return path


class Model:
    """The graph of some cases. Names of case K: inputs iK_0, ..., outputs oK_0, ..., nodes nK."""

    def __init__(self, cases):
        self.nodes, self.inputs, self.outputs, self.weights, self.files = [], [], [], [], {}
        #: The inputs that are maps, each of two files.
        self.maps = {}
        self.cases = cases
        for index, case in enumerate(cases):
            self.add(index, case, np.random.default_rng([*case.origin, 1]))

    def add_input(self, name, tensor, constant, transposes):
        """An initializer or an input; an input may come in another order of dimensions, so that the node reads through a view."""
        if constant:
            self.weights.append(to_proto(tensor.array, tensor.type, name))
            return
        array, own = tensor.array, name
        if transposes is not None:
            own = name + "_t"
            array = np.ascontiguousarray(np.transpose(array, transposes))
            self.nodes.append(helper.make_node("Transpose", [own], [name], name + "_transpose", perm=[int(at) for at in np.argsort(transposes)]))
        self.inputs.append(info(own, tensor.type, array.shape))
        self.files[own] = array, tensor.type

    def add_map(self, name, given):
        """An input that is a map, whose parts kiln takes as NAME_keys and NAME_values."""
        value = onnx.ValueInfoProto(name=name)
        value.type.map_type.key_type = TYPES[given.keys.type].number
        value.type.map_type.value_type.tensor_type.elem_type = TYPES[given.values.type].number
        self.inputs.append(value)
        self.maps[name] = [(part.array, part.type) for part in (given.keys, given.values)]
        self.files.update(zip((f"{name}_keys", f"{name}_values"), self.maps[name]))

    def add(self, index, case, random):
        style = random.random()
        names = {}
        for at, tensor in enumerate(case.inputs):
            name = f"i{index}_{at}"
            if tensor is None:
                continue
            names[f"i{at}"] = name
            if isinstance(tensor, Map):
                self.add_map(name, tensor)
                continue
            constant = tensor.constant if tensor.constant is not None else style < 0.08 or (style < 0.25 and random.random() < 0.5)
            movable = len(tensor.shape) > 1 and not constant and not TYPES[tensor.type].is_narrow and random.random() < 0.12
            self.add_input(name, tensor, constant, random.permutation(len(tensor.shape)) if movable else None)
        for at, output in enumerate(case.outputs):
            if output is not None:
                names[f"o{at}"] = f"o{index}_{at}"
                self.outputs.append(info(f"o{index}_{at}", output.type, output.array.shape))
        own = [f"i{at}" if tensor is not None else "" for at, tensor in enumerate(case.inputs)], [f"o{at}" if output is not None else "" for at, output in enumerate(case.outputs)]
        for op, inputs, outputs, attributes in case.nodes or [(case.op, *own, case.attributes)]:
            label = lambda name: "" if not name else names.get(name, f"v{index}_{name}")
            node = helper.make_node(op, list(map(label, inputs)), list(map(label, outputs)), f"n{index}", domain=case.domain)
            node.attribute.extend(attribute(name, value) for name, value in attributes.items())
            self.nodes.append(node)

    def proto(self):
        graph = helper.make_graph(self.nodes, "cases", self.inputs, self.outputs, self.weights)
        # The newest opset of other domains is part of a model's opset.
        domains = {case.domain: case for case in self.cases if case.domain}
        imports = [helper.make_opsetid("", self.cases[0].opset)] + [helper.make_opsetid(domain, DOMAINS[domain]) for domain in sorted(domains)]
        return helper.make_model(graph, ir_version=NEWEST_IR, opset_imports=imports)

    def run(self, kiln, options, folder):
        """(status, standard error) of a kiln_calls.Kiln."""
        folder = pathlib.Path(folder)
        onnx.save(self.proto(), str(folder / "model.onnx"))
        arguments = ["run", folder / "model.onnx", "--output-dir", folder / "out", *options]
        for name, (array, type) in self.files.items():
            arguments += ["--input", f"{name}={write_input(folder / name, array, type)}"]
        done = kiln.call(*arguments)
        return (-1, f"no answer within {kiln.seconds} s") if done.late else (done.returncode, done.stderr.strip())

    def judge(self, index, folder):
        """What is wrong with the outputs of a case."""
        wrong = []
        for at, output in enumerate(self.cases[index].outputs):
            if output is None:
                continue
            path = pathlib.Path(folder) / "out" / f"o{index}_{at}.npy"
            text = difference(np.load(path), output) if path.exists() else "it was not written"
            if text:
                wrong.append(f"output {at}: {text}")
        return "; ".join(wrong)


def read_domains():
    """The newest opset of each domain other than ONNX's. Layouts of ONNX Runtime's are ONNX's operators under another domain, and have no rows."""
    newest = {"com.ms.internal.nhwc": 13}
    for domain, since in re.findall(r'^SCHEMA\("([^"]+)", "[^"]*", (\d+),', SCHEMAS.read_text(), re.M):
        newest[domain] = max(newest.get(domain, 0), int(since))
    return newest


DOMAINS = read_domains()


def blame(error, count):
    """The cases that messages of the importer name, and whether that is for want of support."""
    blamed = {}
    for line in error.splitlines():
        if match := re.search(r"node 'n(\d+)'", line):
            kind = UNSUPPORTED if re.search(r"\): opset \d+|is not supported", line) else DISAGREED
            blamed.setdefault(int(match[1]), (kind, re.sub(r"^.*?error: ", "", line)))
    return {index: verdict for index, verdict in blamed.items() if index < count}


def judge_together(cases, kiln, options, grid=None):
    """[(verdict, what is wrong)] of cases that share a model. Those that cannot be compiled or run are found by name, or by halves. With a grid, ranks run the model, whose
    nodes are cut at random; what cannot be cut so is left to kiln."""
    if not cases:
        return []
    with tempfile.TemporaryDirectory() as folder:
        model, cuts = Model(cases), Cuts(cases, grid) if grid else None
        status, error = model.run(kiln, [*options, *(cuts.options(folder) if cuts else [])], folder)
        while cuts and status == 1 and cuts.drop(error):
            status, error = model.run(kiln, [*options, *cuts.options(folder)], folder)
        if status == 0:
            wrong = [model.judge(index, folder) for index in range(len(cases))]
            return [(DISAGREED, text) if text else (AGREED, "") for text in wrong]
    verdicts = blame(error, len(cases)) if status == 1 else {}
    if not verdicts and len(cases) == 1:
        return [(DISAGREED, f"status {status}: {error[-400:]}")]
    rest = [index for index in range(len(cases)) if index not in verdicts]
    parts = [rest] if verdicts else [rest[: len(rest) // 2], rest[len(rest) // 2:]]
    for part in parts:
        verdicts.update(zip(part, judge_together([cases[index] for index in part], kiln, options, grid)))
    return [verdicts[index] for index in range(len(cases))]
