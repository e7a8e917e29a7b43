"""Makes projects of models with names that mean something in CMake, and compares the arguments that programs get. Usage: new_names.py FOLDER CMAKE"""

import json
import pathlib
import subprocess
import sys

import onnx
from onnx import TensorProto, helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3]))
import kiln_calls  # noqa: E402

NAMES = ["my input", "n]==])\nfile(WRITE PWNED x)\nmessage([==[", 'a"b', "${FOLDER}", "$ENV{HOME}", "a;b", "x[", "]y", "back\\", "tab\tcr\rend", "@KILN@", "#c", "$<1:2>",
         "\u00e9", "[=[z", "COMMAND", "RESULT_VARIABLE", "\\\n", '\\"']
OPTIONS = ["--dim", "my size=4", "--input-range", 'a"b=0:1', "--input-range=${FOLDER}=0:1", "--input-range", "#c=-1:1"]
RECORDER = f"#!{sys.executable}\nimport json, sys\nopen(__file__ + '.json', 'a').write(json.dumps(sys.argv[1:]) + chr(10))\n"
ADD_MODEL = """function(kiln_add_model target)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "" "MODEL" "OPTIONS")
  execute_process(COMMAND ${RECORDER} "${ARG_MODEL}" ${ARG_OPTIONS})
endfunction()
"""
folder, cmake = pathlib.Path(sys.argv[1]), sys.argv[2]


def save(path, names, sizes):
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [size]) for name, size in zip(names, sizes)]
    nodes = [helper.make_node("Concat", names, ["y"], axis=0)]
    graph = helper.make_graph(nodes, "g", values, [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 8
    onnx.save(model, path)


def recorder(name):
    path = folder / name
    path.write_text(RECORDER)
    path.chmod(0o755)
    return path


def recorded(path):
    return [json.loads(line) for line in (path.parent / (path.name + ".json")).read_text().splitlines()]


def check(what, got, expected):
    if got != expected:
        sys.exit(f"{what}:\n{got}\nexpected\n{expected}")


# In the test's script, names of inputs and of dimensions.
project, model = folder / "project", folder / "m;[.onnx"
save(model, NAMES, NAMES[:4] + ["my size"] * (len(NAMES) - 4))
done = kiln_calls.Kiln().start(["new", project, model, *OPTIONS])
check("kiln new", (done.returncode, done.stderr), (0, ""))
program, kiln, runs = recorder("program"), recorder("kiln"), folder / "ru;ns"
subprocess.run([cmake, f"-DFOLDER={runs}", f"-DPROGRAM={program}", f"-DKILN={kiln}", f"-DMODEL={model}", "-P", project / "test.cmake"], check=True, cwd=folder)
check("the program", recorded(program), [["write", str(runs)], ["compare", str(runs)]])
inputs = [word for i, name in enumerate(NAMES) for word in ("--input", f"{name}={runs}/input_{i}.npy")]
got = recorded(kiln)[0]
check("kiln run", got[:len(OPTIONS) + 4] + got[-len(inputs):], ["run", str(model), "--output-dir", f"{runs}/expected", *OPTIONS, *inputs])
sizes = got[len(OPTIONS) + 4:-len(inputs)]
check("dimensions", sorted(sizes[1::2]), sorted(f"{name}=1" for name in NAMES[:4]))
check("what runs", (folder / "PWNED").exists(), False)

# In the list for kiln_add_model.
(folder / "list.cmake").write_text("cmake_minimum_required(VERSION 3.20)\n" + ADD_MODEL)
with open(folder / "list.cmake", "a") as script:
    script.writelines(line + "\n" for line in (project / "CMakeLists.txt").read_text().splitlines() if line.startswith(("set(MODEL", "kiln_add_model(")))
listed = recorder("listed")
subprocess.run([cmake, f"-DRECORDER={listed}", "-P", folder / "list.cmake"], check=True, cwd=folder)
check("kiln_add_model", recorded(listed), [[str(model), *OPTIONS]])

# Names that no list and no text of CMake keeps are refused.
for option in "--dim=a;b=1", "--dim=a\\b=1", "--dim=a[=1":
    done = kiln_calls.Kiln().start(["new", folder / "other", model, option])
    check(option, (done.returncode, "lists of CMake keep no ';'" in done.stderr), (2, True))
save(folder / "zero.onnx", ["a\0b"], [4])
done = kiln_calls.Kiln().start(["new", folder / "other", folder / "zero.onnx"])
check("a zero byte", (done.returncode, "zero byte" in done.stderr), (1, True))
