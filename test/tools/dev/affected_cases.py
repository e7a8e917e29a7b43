"""Checks tools/dev/affected: affected_cases.py SOURCE BUILD SCRATCH"""

import contextlib
import importlib.machinery
import importlib.util
import io
import pathlib
import shutil
import subprocess
import sys

SOURCE, BUILD, SCRATCH = map(pathlib.Path, sys.argv[1:])
sys.dont_write_bytecode = True
sys.path.insert(0, str(SOURCE / "tools/dev"))
import build_graph
import test_inputs

loader = importlib.machinery.SourceFileLoader("affected", str(SOURCE / "tools/dev/affected"))
affected = importlib.util.module_from_spec(importlib.util.spec_from_loader("affected", loader))
loader.exec_module(affected)

NINJA = """
build gen/Ops.inc: CUSTOM_COMMAND ROOT/dialects/Ops.td | /usr/bin/tblgen || before
build a.o: CXX_COMPILER__A_Release ROOT/compiler/A.cpp | a.pch || gen/Ops.inc other
build a.pch: CXX_COMPILER__A_Release ROOT/compiler/Precompiled.h
build b.o: CXX_COMPILER__B_Release ROOT/tools/kiln/B.cpp
build liba.a: CXX_STATIC_LIBRARY_LINKER__A_Release a.o
build bin/kiln: CXX_EXECUTABLE_LINKER__kiln_Release b.o | liba.a $
  /usr/lib/libc.so || liba.a
build bin/kiln-opt: CXX_EXECUTABLE_LINKER__kilnopt_Release a.o
build c.o: CXX_COMPILER__C_Release ROOT/with$ space/C.cpp
build bin/kiln-late: CXX_EXECUTABLE_LINKER__late_Release c.o
build lib/kiln/kiln_loaded.so: CXX_MODULE_LIBRARY_LINKER__loaded_Release b.o
build all: phony bin/kiln
"""
DEPS = """a.o: #deps 2, deps mtime 1 (VALID)
    gen/Ops.inc
    ../dialects/B.h

a.pch: #deps 1, deps mtime 1 (VALID)
    ROOT/dialects/InPch.h

b.o: #deps 2, deps mtime 1 (VALID)
    /usr/include/string.h
    ROOT/tools/kiln/B.h
"""
TREE = {
    ".gitignore": "__pycache__/\n", "CMakeLists.txt": "", "README.md": "", "docs/Page.md": "", "compiler/A.cpp": "", "dialects/Ops.td": "", "dialects/B.h": "", "tools/kiln/B.cpp": "", "tools/kiln/B.h": "",
    "tools/kiln/Orphan.h": "", "test/lit.cfg.py": "", "test/passes/lit.local.cfg": "",
    "test/passes/one.mlir": "// RUN: kiln-opt %s | FileCheck %s\n// kiln is only named here\n",
    "test/tools/run.test": "RUN: env A=1 kiln run %S/Inputs/model.onnxtxt \\\nRUN:   --late && bash -c 'for i in 1 2; do %python %S/Inputs/drive.py; done'\n",
    "test/tools/Inputs/model.onnxtxt": "RUN: kiln-opt\n",
    "test/tools/Inputs/drive.py": 'import models\nHERE / "list.txt"\n# README.md\n',
    "test/tools/Inputs/list.txt": "docs/Page.md\n", "test/tools/Inputs/models.py": 'subprocess.run(["kiln-late"])\n', "test/other/models.py": "",
    "test/docs/pages.test": "RUN: cat %source/docs/Page.md\n",
    "test/docs/all.test": "RUN: true %source\n",
}


def make_tree(folder):
    for path, text in TREE.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    return test_inputs.Tree(folder, list(TREE))


def expect(got, wanted, what):
    assert got == wanted, f"{what}: expected {wanted}, got {got}"


def made_up_graph(root):
    rules = build_graph.read_rules(NINJA.replace("ROOT", root))
    return build_graph.link(rules[0], build_graph.read_headers(DEPS.replace("ROOT", root)), rules[1], rules[2], root, f"{root}/build")


def check_graph():
    graph = made_up_graph("/root")
    expect(graph["bin/kiln-opt"], {"compiler/A.cpp", "compiler/Precompiled.h", "dialects/Ops.td", "dialects/B.h", "dialects/InPch.h"}, "kiln-opt")
    expect(graph["bin/kiln"], graph["bin/kiln-opt"] | {"tools/kiln/B.cpp", "tools/kiln/B.h"}, "kiln")
    expect(graph["bin/kiln-late"], None, "a program whose headers nobody knows yet")
    expect(build_graph.read(SCRATCH, SCRATCH / "nothing"), {}, "no build")
    (SCRATCH / "ops.d").write_text("gen/Ops.inc: \\\n  dialects/Ops.td \\\n  dialects/Base.td\n")
    expect(build_graph.read_depfile(SCRATCH / "ops.d"), {"gen/Ops.inc": ["dialects/Ops.td", "dialects/Base.td"]}, "a file of dependencies")


def check_map():
    tree = make_tree(SCRATCH / "tree")
    graph = made_up_graph(str(SCRATCH / "tree"))
    known = affected.Map(tree, {**graph, "bin/kiln-late": {"late/C.cpp"}})
    opt, run, pages, everything = "passes/one.mlir", "tools/run.test", "docs/pages.test", "docs/all.test"
    expect(known.started(opt), {"kiln-opt"}, "programs of a test")
    expect(known.started(run), {"kiln", "kiln-late"}, "programs of a test and of its scripts")
    for path, reached in {
        "compiler/A.cpp": {opt, run, everything}, "dialects/Ops.td": {opt, run, everything}, "tools/kiln/B.cpp": {run, everything},
        # Nothing is built from it, or it configures the build or the tests.
        "tools/kiln/Orphan.h": None, "CMakeLists.txt": None, "test/lit.cfg.py": None, "test/other/models.py": None,
        "test/passes/lit.local.cfg": {opt}, "test/passes/one.mlir": {opt, everything},
        "test/tools/Inputs/model.onnxtxt": {run, everything}, "test/tools/Inputs/models.py": {run, everything}, "test/tools/Inputs/list.txt": {run, everything},
        "README.md": {pages, everything}, "docs/Page.md": {pages, everything},
    }.items():
        expect(known.reached(path), reached, path)
    # kiln-late may be built from any file, but not from a page.
    known = affected.Map(tree, graph)
    expect(known.reached("test/passes/one.mlir"), {opt, run, everything}, "a test beside a program of unknown files")
    expect(known.reached("tools/kiln/Orphan.h"), None, "a file that no program is known to have")
    selected, _ = affected.select(known, ["docs/Page.md", "test/passes/gone.mlir"], tree.paths)
    expect(selected, {pages, everything}, "a page and a test that is gone")
    expect(affected.select(known, ["docs/Page.md", "compiler/Gone.cpp"], tree.paths)[0], None, "a source that is gone")
    expect(affected.lit_arguments({opt, "end-to-end/", "unit/emit/EmitTests"}, "b"), ["b/test/end-to-end", "b/test/passes/one.mlir", "b/test/unit/emit"], "arguments of lit")
    commands = [*test_inputs.commands_in("not env A=1 -u B kiln x | FileCheck %s && bash -c 'for i in 1 2; do timeout 3 other $i; done; test 1'")]
    expect(commands, ["kiln", "FileCheck", "bash", "other", "done", "test"], "commands of a line")


def run(folder, *words):
    done = subprocess.run([folder / "tools/dev/affected", *words], capture_output=True, text=True)
    return done.returncode, done.stdout.splitlines(), done.stderr.strip()


def check_commits():
    """Changes since a commit, in the index, in files and in new files, without a build."""
    folder = SCRATCH / "repository"
    make_tree(folder)
    (folder / "tools/dev").mkdir()
    for name in ("affected", "budget.py", "build_graph.py", "test_inputs.py"):
        shutil.copy(SOURCE / "tools/dev" / name, folder / "tools/dev")
    (folder / "test/end-to-end").mkdir()
    git = ["git", "-C", folder, "-c", "user.name=a", "-c", "user.email=a@b"]
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "first"]):
        subprocess.run([*git, *words], check=True)
    status, lines, error = run(folder, "HEAD", "--lit", folder / "build.txt")
    assert status == 0 and lines[-1].startswith("0 of 5 tests") and (folder / "build.txt").read_text() == "", (status, lines, error)
    (folder / "build.txt").unlink()
    (folder / "docs/Page.md").write_text("new\n")
    (folder / "test/passes/one.mlir").unlink()
    (folder / "test/passes/two.mlir").write_text("// RUN: kiln-opt %s\n")
    subprocess.run([*git, "add", "test/passes/two.mlir"], check=True)
    (folder / "test/passes/three.mlir").write_text("// RUN: kiln-opt %s\n")
    status, lines, error = run(folder, "HEAD", "--lit", SCRATCH / "lit.txt")
    assert status == 0 and "docs/Page.md: 2 tests" in lines and "tools/ 1 of 1" in lines[-1] and "end-to-end/ 1 of 1" in lines[-1], (status, lines, error)
    arguments = (SCRATCH / "lit.txt").read_text().split()
    expect([argument.rsplit("build/test/", 1)[1] for argument in arguments], ["docs/all.test", "docs/pages.test", "passes/three.mlir", "passes/two.mlir"], "lit's arguments")
    (folder / "compiler/A.cpp").write_text("new\n")
    status, lines, error = run(folder, "HEAD", "--lit", SCRATCH / "lit.txt")
    assert lines == ["compiler/A.cpp: all tests"] and (SCRATCH / "lit.txt").read_text().count("\n") == 2, (lines, error)
    status, lines, error = run(folder, "nothing")
    assert status == 2 and "nothing" in error, (status, lines, error)


def check_this_tree():
    tree, graph = test_inputs.Tree(SOURCE), build_graph.read(SOURCE, BUILD)
    known = affected.Map(tree, graph)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        status = affected.check(known)
    assert status == 0, printed.getvalue()

    def reaches(path, *tests):
        return [known.reached(path) is None or test in known.reached(path) for test in tests]

    tests = ["tools/kiln/help.test", "conformance/conformance.test", "passes/lowering/movement/pad-copy.mlir", "runtime/convert.test", "docs/links.test"]
    expect(reaches("passes/graph/ObserveValues.cpp", *tests), [True, True, True, False, True], "a pass")
    expect(reaches("tools/kiln/RunCommand.cpp", *tests), [True, True, False, False, True], "a command")
    expect(reaches("runtime/include/kiln/convert.h", *tests), [True, True, False, True, True], "a header of the runtime")
    expect(reaches("docs/Ranks.md", *tests), [False, False, False, False, True], "a page")
    expect(reaches("test/tools/kiln/help.test", *tests), [True, False, False, False, True], "a test")
    # A file without a place is found. One test is enough to look at.
    tree.tests = lambda: ["tools/kiln/unmapped.test"]
    tree.paths.add("test/tools/kiln/unmapped.test")
    tree.text = lambda path: "RUN: no-such-program" if path == "test/tools/kiln/unmapped.test" else test_inputs.Tree.text(tree, path)
    tree.paths.add("passes/graph/Unmapped.cpp")
    with contextlib.redirect_stdout(printed):
        status = affected.check(affected.Map(tree, graph))
    assert status == 1
    for text in ("tools/kiln/unmapped.test: expected programs", "tools/kiln/unmapped.test: no-such-program is no program", "passes/graph/Unmapped.cpp: no test"):
        assert text in printed.getvalue(), printed.getvalue()


check_graph()
check_map()
check_commits()
check_this_tree()
