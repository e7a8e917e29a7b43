#!/usr/bin/python3
"""The runner judges right: a compiler of our own making answers each case in its own way, and the verdicts are known."""

import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import symbolic
import tensors
from onnx import TensorProto, helper, numpy_helper

RUNNER = pathlib.Path(__file__).resolve().parent / "run"
X = np.array([[1.0, -2.0, np.nan, np.inf]], np.float32)

# case: (how the compiler answers, expected status, words of the reason)
CASES = {
    "right": ("save(x)", "pass", ""),
    "within_bound": ("save(x * np.float32(1.0005))", "pass", ""),
    "off_by_a_percent": ("save(x * np.float32(1.01))", "fail", "2 of 4 values are off, first at 0: 1.0"),
    "nan_lost": ("save(np.nan_to_num(x, nan=0, posinf=np.inf))", "fail", "1 of 4 values are off, first at 2: 0, expected nan"),
    "infinity_lost": ("save(np.where(np.isinf(x), np.float32(3e38), x))", "fail", "first at 3"),
    "wrong_shape": ("save(x[0])", "fail", "its shape is [4], expected [1, 4]"),
    "wrong_type": ("save(x.astype('f8'))", "fail", "its element type is float64, expected float32"),
    "nothing_written": ("pass", "fail", "output 'y/0' was not written"),
    "crash": ("os.kill(os.getpid(), 11)", "fail", "signal SIGSEGV"),
    "hang": ("time.sleep(600)", "fail", "no answer within 2 s"),
    "not_supported": ("sys.exit('model.onnx: error: operator Foo (opset 13) is not supported')", "unsupported", "operator Foo"),
    "unknown": ("sys.exit(\"m.onnx: error: node 'a' (Foo): opset 13, f32: unknown operator\")", "unsupported", "unknown operator"),
    "sequence": ("sys.exit(\"m.onnx: error: input 'x': its type is sequence, only tensors are supported\")", "unsupported", "only tensors"),
    "list": ("assert '--sequence=s=2:3,1' in sys.argv and '--absent=o' in sys.argv; save_list(2)", "pass", ""),
    "list_short": ("save_list(1)", "fail", "output 't_1' was not written"),
    "list_long": ("save_list(3)", "fail", "output 't' has more elements than the 2 expected"),
    "bound": ("'--bind=n=2,3' in sys.argv or sys.exit(\"m.onnx: error: node 'a' (Foo): opset 13, f32: axes is known only at run time\"); save(x)", "pass", ""),
    "bound_in_vain": ("sys.exit(\"m.onnx: error: node 'a' (Foo): opset 13, f32: axes is known only at run time\")", "unsupported", "axes"),
    "refused": ("sys.exit('model.onnx: error: node a (Foo): rank 3, expected 4')", "fail", "rank 3, expected 4"),
    "internal": ("print('error: unsupported state', file=sys.stderr); sys.exit(3)", "fail", "(exit status 3)"),
}
COMPILER = """#!/usr/bin/python3
import os, pathlib, sys, time
import numpy as np, onnx
from onnx import numpy_helper
model, folder = pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[sys.argv.index("--output-dir") + 1])
name, path = sys.argv[sys.argv.index("--input") + 1].split("=")
assert name == "x"
x = numpy_helper.to_array(onnx.load_tensor(path))
def save(y): np.save(folder / "y_0.npy", y)
def save_list(count):
    save(x)
    for number in range(count): np.save(folder / f"t_{number}.npy", np.ones([3, 1, 1][number], np.float32))
exec((model.parent / "answer").read_text())
"""


def build_lists(case, graph, answer):
    data = case / "test_data_set_0"
    data.mkdir(parents=True)
    onnx.save(helper.make_model(graph), str(case / "model.onnx"))
    parts = numpy_helper.from_list([np.ones(3, np.float32), np.ones(1, np.float32)]).SerializeToString()
    nothing = onnx.OptionalProto(elem_type=onnx.OptionalProto.TENSOR).SerializeToString()
    tensor = numpy_helper.from_array(X).SerializeToString()
    for name, held in {"input_0": tensor, "input_1": parts, "input_2": nothing, "output_0": tensor, "output_1": parts}.items():
        (data / f"{name}.pb").write_bytes(held)
    (case / "answer").write_text(answer)


def build(root):
    value = lambda name: helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 4])
    axes = helper.make_tensor_value_info("n", TensorProto.INT64, [2])
    graph = helper.make_graph([helper.make_node("Identity", ["x"], ["y/0"])], "g", [value("x"), axes], [value("y/0")])
    lists = [helper.make_tensor_sequence_value_info(name, TensorProto.FLOAT, None) for name in "st"]
    optional = helper.make_value_info("o", helper.make_optional_type_proto(value("o").type))
    listed = helper.make_graph([helper.make_node("Identity", ["x"], ["y/0"]), helper.make_node("Identity", ["s"], ["t"])], "g",
                               [value("x"), lists[0], optional], [value("y/0"), lists[1]])
    for name, (answer, _, _) in CASES.items():
        if name.startswith("list"):
            build_lists(root / "node" / name, listed, answer)
            continue
        case = root / "node" / name
        (case / "test_data_set_0").mkdir(parents=True)
        onnx.save(helper.make_model(graph), str(case / "model.onnx"))
        onnx.save_tensor(numpy_helper.from_array(X), str(case / "test_data_set_0/input_0.pb"))
        onnx.save_tensor(numpy_helper.from_array(np.array([2, 3])), str(case / "test_data_set_0/input_1.pb"))
        onnx.save_tensor(numpy_helper.from_array(X), str(case / "test_data_set_0/output_0.pb"))
        (case / "answer").write_text(answer)
    (root / "kiln").write_text(COMPILER)
    (root / "kiln").chmod(0o755)


def run(root, *arguments, timeout=100):
    command = [RUNNER, root, "--kiln", root / "kiln", "--timeout", str(timeout), "--json", root / "out.json", *arguments]
    done = subprocess.run(command, capture_output=True, text=True)
    return done, json.loads((root / "out.json").read_text())


def check_half_bounds():
    """f16 and bf16 have the suite's bounds: a step of f16 is inside of them, two are not, and of bf16 two are, three are not."""
    faults = []
    for kind, step, right in [("f2", 1, True), ("f2", 2, False), ("bf16", 2, True), ("bf16", 3, False)]:
        bits = np.array([0x3C80 if kind == "f2" else 0x3F90], np.uint16)
        held = bits.view(np.float16) if kind == "f2" else tensors.widen(bits)
        other = bits + np.uint16(step)
        actual = other.view(np.float16) if kind == "f2" else other
        if (tensors.compare(actual, tensors.Tensor(held, kind), 1e-3, 1e-7)[1] == "") != right:
            faults.append(f"{step} steps of {kind}: expected {'right' if right else 'wrong'}")
    return faults


def check_forms(folder):
    """The dimensions of the inputs in each form; None: the form changes nothing."""
    value = lambda name, shape: helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
    graph = helper.make_graph([helper.make_node("Mul", ["x", "w"], ["y"])], "g", [value("x", [1, 4]), value("w", [4]), value("m", [4, 1])], [value("y", [1, 4])])
    model = folder / "forms.onnx"
    onnx.save(helper.make_model(graph), str(model))
    expected = {"each": "d0_0 d0_1 d1_0 d2_0 d2_1", "shared": "1 n4 4 n4 1", "first": "d0_0 d0_1 4 4 1", "batch": "d0_0 4 4 4 1"}
    faults = []
    for form, dims in expected.items():
        written = onnx.load(str(symbolic.write(model, form, folder))).graph
        have = " ".join(dim.dim_param or str(dim.dim_value) for value in written.input for dim in value.type.tensor_type.shape.dim)
        sizes = [dim.HasField("dim_value") for dim in written.output[0].type.tensor_type.shape.dim]
        if have != dims or sizes != [False, False]:
            faults.append(f"form {form}: {have}, {sizes}")
    del graph.input[0:3]
    onnx.save(helper.make_model(graph), str(model))
    return faults + [f"{form} changes a model without inputs" for form in expected if symbolic.write(model, form, folder)]


def check_resume(root):
    """Results that a run has written are not made again; a line that it has left unfinished is, and another run's results are refused."""
    log, arguments = root / "lines", ["--filter", "*within*", "--resume", root / "lines"]
    run(root, *arguments)
    whole = log.read_text()
    log.write_text(whole + whole.splitlines()[1][:20])
    run(root, "--filter", "*i*t*", "--resume", log)
    lines = log.read_text().splitlines()
    (root / "node/within_bound/answer").write_text("save(x[0])")
    done, results = run(root, *arguments)
    faults = [] if len(lines) > 2 and "\n".join(lines).startswith(whole) and all(json.loads(line) for line in lines) else [f"resumed: {lines}"]
    if done.returncode != 0 or [result["status"] for result in results] != ["pass"] or log.read_text().splitlines() != lines:
        faults.append(f"a result that was there was made again: {results}")
    done = subprocess.run([RUNNER, root, "--kiln", root / "kiln", "--target", "other", *arguments], capture_output=True, text=True)
    return faults if "lines has results of another run: " in done.stderr and done.returncode == 1 else [*faults, f"another run: {done.stderr}"]


def main():
    faults = []
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        build(root)
        # Only one case shall take too long, however slow the machine is.
        _, late = run(root, "--filter", "hang", timeout=2)
        done, results = run(root, "--without", "*/hang")
        for result in results + late:
            _, status, words = CASES[result["case"].split("/")[1]]
            bound = ["n"] if result["case"].startswith("node/bound") else []
            if status == "pass" and result["close"] != (result["case"] != "node/within_bound"):
                faults.append(f"close is wrong: {result}")
            if result["status"] != status or words not in result["reason"] or result["bound"] != bound:
                faults.append(f"expected {status} ({words}): {result}")
        if len(results) != len(CASES) - 1 or len(late) != 1 or done.stdout.splitlines()[-1] != "4 passed, 11 failed" or done.returncode != 1:
            faults.append(done.stdout + done.stderr)
        (root / "passing").write_text("node/right\nnode/within_bound\nnode/not_among_the_cases\n")
        done, results = run(root, "--baseline", root / "passing", "--filter", "*r*")
        if done.returncode != 0 or "1 of 3 cases of the baseline are here" not in done.stdout or any("r" not in result["case"][5:] for result in results):
            faults.append("baseline kept: " + done.stdout)
        (root / "passing").write_text("node/right\nnode/crash\n")
        done, _ = run(root, "--baseline", root / "passing", "--without", "*/hang")
        if done.returncode != 1 or "LOST node/crash" not in done.stdout:
            faults.append("baseline lost: " + done.stdout)
        (root / "node/right/test_data_set_0/output_0.pb").write_bytes(b"no tensor")
        done, _ = run(root, "--baseline", root / "passing", "--filter", "right")
        if done.returncode != 1 or "LOST node/right" not in done.stdout:
            faults.append("a record that cannot be read any more: " + done.stdout)
        faults += check_resume(root)
        faults += check_half_bounds()
        faults += check_forms(root)
    print(*faults, sep="\n", end="\n" if faults else "")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
