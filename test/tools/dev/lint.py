#!/usr/bin/python3
"""Each rule of tools/dev/lint: a tree that breaks it is reported by that rule's name, and the same tree put right is not."""

import pathlib
import subprocess
import sys
import tempfile

LINT = pathlib.Path(__file__).resolve().parents[3] / "tools/dev/lint"
LONG_FUNCTION = "void\nwalk(int step,\n     int other) {\n" + "  ++step;\n" * 61 + "}\n"
PASS = 'def FuseThings : Pass<"nn-fuse-things", "mlir::ModuleOp"> {}\n'
OPS = "def CheckOp { let arguments = (ins I1:$condition, StrAttr:$status); }\n"
LISTED = "kiln_add_library(X A.cpp FuseThings.cpp)\n"

# rule: ({path: text that breaks it}, {path: text that keeps it})
CASES = {
    "file-size": ({"compiler/import/A.cpp": "int a;\n" * 601}, {"compiler/import/A.cpp": "int a;\n" * 120}),
    "median-size": ({f"dialects/nn/A{i}.h": "int a;\n" * 151 for i in range(20)}, {f"dialects/nn/A{i}.h": "int a;\n" * 150 for i in range(20)}),
    "function-size": ({"passes/graph/A.cpp": LONG_FUNCTION}, {"passes/graph/A.cpp": LONG_FUNCTION.replace("  ++step;\n", "", 1)}),
    "include-direction": ({"dialects/nn/A.h": '#include "passes/graph/Passes.h"\n'}, {"passes/graph/A.h": '#include "dialects/nn/A.h"\n'}),
    "pass-order": ({"passes/target/groups/A.cpp": '#include "passes/lowering/builder/A.h"\n'},
                   {"passes/lowering/rows/A.cpp": '#include "passes/target/groups/A.h"\n'}),
    "runtime-independence": ({"runtime/src/pool.c": '#include "dialects/nn/A.h"\n'}, {"runtime/src/pool.c": '#include "kiln/abi.h"\n'}),
    "measured-numbers": ({"passes/target/choice/A.h": '#include "dialects/kernel/Tuning.h"\n'}, {"passes/target/choice/A.cpp": '#include "dialects/kernel/Tuning.h"\n'}),
    "widely-included": ({"compiler/Precompiled.h": '#include "dialects/nn/NN.h"\n', "passes/graph/A.h": '#include "dialects/nn/NNElementwiseOps.h"\n'},
                        {"compiler/Precompiled.h": '#include "mlir/IR/Builders.h"\n', "passes/graph/A.cpp": '#include "dialects/nn/NNElementwiseOps.h"\n'}),
    "kernel-header-includes": ({"runtime/include/kiln/a.h": "#include <iostream>\n"}, {"runtime/include/kiln/a.h": "#include <stdint.h>\n"}),
    "vague-name": ({"compiler/emit/StringUtils.h": "int a;\n"}, {"compiler/emit/StringTable.h": "int a;\n"}),
    "folder-depth": ({"docs/a/b/c/d/A.md": "a\n"}, {"docs/a/b/c/A.md": "a\n"}),
    "target-fact": ({"passes/lowering/rows/A.cpp": "int most = target.getRegisters() >= 32 ? 8 : 4;\n", "passes/lowering/rows/B.h": "// AVX-512 only\n"},
                    {"passes/target/choice/RegisterBudget.cpp": "int most = target.getRegisters() / 4;\n", "compiler/target/A.cpp": "// AVX-512 only\n"}),
    "option-place": ({"compiler/A.h": "llvm::cl::opt<int> a;\n"}, {"tools/kiln/A.h": "llvm::cl::opt<int> a;\n"}),
    "machine-path": ({"README.md": "see /home/somebody/kiln\n"}, {"README.md": "see $HOME/kiln and docs/home/page\n"}),
    "namespace-in-header": ({"compiler/A.h": "using namespace mlir;\n"}, {"compiler/A.h": "using mlir::Value;\n"}),
    "pass-stem": ({"passes/graph/Passes.td": PASS},
                  {"passes/Passes.td": PASS, "passes/graph/FuseThings.cpp": "int a;\n", "passes/graph/CMakeLists.txt": LISTED,
                   "test/passes/graph/fuse-things.mlir": "// RUN: true\n"}),
    "unlisted-source": ({"compiler/emit/A.cpp": "int a;\n", "compiler/emit/CMakeLists.txt": "kiln_add_library(X BA.cpp)\n"},
                        {"compiler/emit/A.cpp": "int a;\n", "compiler/emit/CMakeLists.txt": LISTED}),
    "raw-text": ({"dialects/kernel/KernelOps.td": OPS, "compiler/emit/A.cpp": 'text += "return " + op.getStatus().str() + ";";\n'},
                 {"dialects/kernel/KernelOps.td": OPS, "compiler/emit/A.cpp": 'text += "return " + takeName(op.getStatus()) + ";";\n'}),
    "attribute-name": ({"passes/graph/A.cpp": 'auto axis = op->getAttrOfType<IntegerAttr>("axis");\nfunction.setArgAttr(0, "nn.name", name);\n',
                        "passes/graph/A.h": 'inline constexpr llvm::StringLiteral markAttrName = "nn.mark";\n'},
                       {"passes/graph/A.cpp": "auto axis = cast<AlongAxis>(op).getAxis();\nfunction.setArgAttr(0, nn::nameAttrName, name);\n",
                        "dialects/nn/OperationAttributeNames.h": 'inline constexpr llvm::StringLiteral markAttrName = "nn.mark";\n'}),
    "raw-output": ({"tools/kiln/A.cpp": 'WithColor::error(errs()) << reason;\n'}, {"tools/kiln/A.cpp": "printLine(WithColor::error(errs()), reason);\n"}),
    "files-opened": ({"compiler/A.cpp": "auto file = MemoryBuffer::getFile(path);\n"}, {"compiler/A.cpp": "auto file = readInputFile(path, mostTextBytes);\n"}),
    "own-numbers": ({"tools/kiln/A.cpp": "return text.getAsDouble(number);\n"}, {"tools/kiln/A.cpp": "return parseReal(text, number);\n"}),
    "own-escapes": ({"compiler/emit/A.cpp": "text += '\\\\';\n"}, {"compiler/emit/BuildText.cpp": "text += '\\\\';\n", "compiler/emit/CMakeLists.txt": "X(BuildText.cpp)\n"}),
    "expected-failure": ({"test/a.mlir": "// XFAIL: *\n"}, {"test/a.mlir": "// RUN: true\n"}),
    "comment-share": ({"compiler/A.cpp": "// says what the next line says\nint a;\n" * 40}, {"compiler/A.cpp": "// why\n" + "int a;\n" * 40}),
    "diagnostic-style": ({"compiler/A.cpp": 'op.emitOpError("Expects two operands.");\n'}, {"compiler/A.cpp": 'op.emitOpError("expects two operands");\n'}),
    "unfinished": ({"compiler/A.h": "int a; // TODO: more\n"}, {"compiler/A.h": "int a; // the mastodon\n"}),
    "dead-link": ({"docs/A.md": "see [B](B.md)\n"}, {"docs/A.md": "see [B](B.md#part) and [C](https://c.example)\n", "docs/B.md": "b\n"}),
    "whitespace": ({"compiler/A.h": "int a; \n"}, {"compiler/A.h": "int a;\n"}),
}


def lint(files):
    with tempfile.TemporaryDirectory() as root:
        for path, text in files.items():
            (pathlib.Path(root) / path).parent.mkdir(parents=True, exist_ok=True)
            (pathlib.Path(root) / path).write_text(text)
        run = subprocess.run([LINT, "--root", root], capture_output=True, text=True)
        return run.returncode, {line.split(": ")[1] for line in run.stdout.splitlines()}, run.stdout + run.stderr


def main():
    rules = subprocess.run([LINT, "--list"], capture_output=True, text=True, check=True).stdout.split()
    faults = [f"{rule}: no case proves it" for rule in rules if rule not in CASES]
    for rule, (bad, good) in CASES.items():
        status, reported, output = lint(bad)
        if status != 1 or rule not in reported:
            faults.append(f"{rule}: not reported\n{output}")
        status, reported, output = lint(good)
        if rule in reported:
            faults.append(f"{rule}: reported without a reason\n{output}")
    print(*faults, sep="\n", end="\n" if faults else "")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
