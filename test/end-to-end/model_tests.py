"""lit's view of models.json: each model in its native form and, in turn, in one of the others; in all of them with KILN_TEST_ALL=1. The seeded models
also run under sanitizers."""

import json
import os
import pathlib
import subprocess
import sys

import lit.formats
import lit.Test

WAYS = {
    "native": [],
    "generic": ["--targets=generic"],
    "gcc": ["--compilers=g++"],
    "dynamic": ["--dims=dynamic"],
    "decomposed": ["--decompose=all"],
    "x86-64-v3": ["--targets=x86-64-v3"],
    "whole": ["--decompose=none"],
    "dynamic-decomposed": ["--dims=dynamic", "--decompose=all"],
    "generic-gcc": ["--targets=generic", "--compilers=g++"],
}
#: What quantised models give on every target; those that compute in f32 between their integers only give nearly the same.
SAME_BITS = {"quantized_cnn": ["--compilers=built-in,g++"], "quantized_encoder": ["--close=1e-5"]}
#: All seeded models in one test for each.
SANITIZERS = ("address", "thread")
#: A dozen models in one test for each, and what runs them.
MACHINES = {"aarch64": "qemu-aarch64", "riscv64-v256": "qemu-riscv64", "wasm32-simd128": "node", "x86-64-v3@windows": "wine"}


def ways_of(index, entry):
    """All ways make an evening; models take turns, so that each way is tried on several."""
    dynamic = any(set(size) - {"fill"} for size in entry.get("sizes", []))
    allowed = [way for way in WAYS if "dynamic" not in way or dynamic]
    if os.environ.get("KILN_TEST_ALL"):
        return allowed
    turns = [way for way in allowed if way != "native"]
    return ["native", turns[index % len(turns)]]


class ModelTests(lit.formats.TestFormat):
    def getTestsInDirectory(self, suite, path, lit_config, config):
        if path[-1] != "end-to-end":
            return
        for name in ("verdicts.py", "seeded_kernels.py", *(f"seeded.{sanitizer}" for sanitizer in SANITIZERS), *(f"dozen.{machine}" for machine in MACHINES)):
            yield lit.Test.Test(suite, path + (name,), config)
        for name in SAME_BITS:
            yield lit.Test.Test(suite, path + (f"{name}.same-bits",), config)
        models = json.loads((pathlib.Path(suite.getSourcePath(path)) / "models.json").read_text())
        for index, (name, entry) in enumerate(models.items()):
            for way in ways_of(index, entry):
                yield lit.Test.Test(suite, path + (f"{name}.{way}",), config)

    def command(self, here, name, way, config):
        if way == "py":
            return [str(here / f"{name}.py")]
        if way == "same-bits":
            return [str(here / way), name, *SAME_BITS[name]]
        if way in SANITIZERS:
            return [str(here / "sanitize"), "--seeded", "--sanitizers", way, "--compilers", os.path.join(config.llvm_tools_dir, "clang++")]
        if way in MACHINES:
            return [str(here / "verify"), "--dozen", f"--targets={way}"]
        return [str(here / "verify"), name, *WAYS[way]]

    def execute(self, test, lit_config):
        name, way = test.path_in_suite[-1].rsplit(".", 1)
        here = pathlib.Path(__file__).resolve().parent
        if way == "x86-64-v3" and "avx2" not in test.config.available_features:
            return lit.Test.Result(lit.Test.UNSUPPORTED, "no AVX2 here")
        if way in MACHINES and not {MACHINES[way], "wasm-ld" if way.startswith("wasm") else "ld.lld"} <= set(test.config.available_features):
            return lit.Test.Result(lit.Test.UNSUPPORTED, f"no {MACHINES[way]} here, or no linker")
        command = [sys.executable, *self.command(here, name, way, test.config)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, env=test.config.environment, timeout=1200)
        except subprocess.TimeoutExpired:
            return lit.Test.Result(lit.Test.TIMEOUT, " ".join(command))
        code = {0: lit.Test.PASS, 77: lit.Test.UNSUPPORTED}.get(done.returncode, lit.Test.FAIL)
        return lit.Test.Result(code, f"{' '.join(command)}\n{done.stdout}{done.stderr}")
