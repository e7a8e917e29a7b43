"""lit's view of models.json: one test for a model under each way to compile it."""

import json
import pathlib
import subprocess
import sys

import lit.formats
import lit.Test

WAYS = {
    "native": ["--target=native", "--threads=1,2"],
    "x86-64-v3": ["--target=x86-64-v3"],
    "generic": ["--target=generic"],
    "gcc": ["--target=native", "--cxx=g++"],
    "dynamic": ["--target=native", "--threads=1,2", "--dynamic"],
}


class ModelTests(lit.formats.TestFormat):
    def getTestsInDirectory(self, suite, path, lit_config, config):
        if path[-1] != "end-to-end":
            return
        yield lit.Test.Test(suite, path + ("verdicts.py",), config)
        models = json.loads((pathlib.Path(suite.getSourcePath(path)) / "models.json").read_text())
        for name, entry in models.items():
            for way in WAYS:
                if way != "dynamic" or "dims" in entry:
                    yield lit.Test.Test(suite, path + (f"{name}.{way}",), config)

    def execute(self, test, lit_config):
        name, way = test.path_in_suite[-1].rsplit(".", 1)
        here = pathlib.Path(__file__).resolve().parent
        if way == "x86-64-v3" and "avx2" not in test.config.available_features:
            return lit.Test.Result(lit.Test.UNSUPPORTED, "no AVX2 here")
        command = [sys.executable, str(here / "verdicts.py")] if way == "py" else [sys.executable, str(here / "verify"), name, *WAYS[way]]
        try:
            done = subprocess.run(command, capture_output=True, text=True, env=test.config.environment, timeout=1200)
        except subprocess.TimeoutExpired:
            return lit.Test.Result(lit.Test.TIMEOUT, " ".join(command))
        code = {0: lit.Test.PASS, 77: lit.Test.UNSUPPORTED}.get(done.returncode, lit.Test.FAIL)
        return lit.Test.Result(code, f"{' '.join(command)}\n{done.stdout}{done.stderr}")
