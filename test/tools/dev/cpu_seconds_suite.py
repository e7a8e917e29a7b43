"""Runs lit over a suite of its own and checks the CPU seconds in the results: cpu_seconds_suite.py TEST_FOLDER SCRATCH"""

import json
import pathlib
import subprocess
import sys

CONFIG = """
import lit.formats, sys
sys.path.insert(0, {tests!r})
import cpu_seconds
config.name = "Made-Up"
config.test_format = cpu_seconds.Measured({format})
config.suffixes = [".test"]
config.test_exec_root = {folder!r}
config.substitutions.append(("%burn", "/usr/bin/python3 {burn}"))
"""
BURN = "import sys, time\nwhile time.process_time() < float(sys.argv[1]): pass\n"
TESTS = {
    "burn": "RUN: %burn 0.3",
    "sleep": "RUN: sleep 0.6",
    # The processes are a child of the test, one that it ends, and one that it leaves behind.
    "grandchild": "RUN: bash -c '%burn 0.3; true'",
    "killed": "RUN: bash -c '%burn 60 & sleep 1; kill -KILL $!; wait $!; test $? = 137'",
    "left": "RUN: bash -c 'setsid %burn 0.3 >/dev/null 2>&1 & true'",
    # It comes next, and has nothing of what was left.
    "left-behind": "RUN: sleep 1",
    "fails": "RUN: %burn 0.3 && false",
    "unsupported": "REQUIRES: nothing\nRUN: true",
}
# A GoogleTest binary, as far as lit looks at it: of its two tests, one takes three quarters of the time.
BINARY = """
import json, os, sys, time
if "--gtest_list_tests" in sys.argv:
    print("Suite.\\n  Long\\n  Short")
    sys.exit()
while time.process_time() < 0.4: pass
test = lambda name, seconds: {"name": name, "result": "COMPLETED", "time": f"{seconds}s"}
with open(os.environ["GTEST_OUTPUT"].removeprefix("json:"), "w") as file:
    json.dump({"testsuites": [{"name": "Suite", "testsuite": [test("Long", 0.6), test("Short", 0.2)]}]}, file)
"""


def run(results, *arguments):
    """(code, CPU seconds) by test."""
    # lit makes at least as many parts of a binary as there are processors; here it is one.
    done = subprocess.run(["lit", "-v", "-j1", "--order=lexical", "--no-gtest-sharding", "-o", results, *arguments], capture_output=True, text=True)
    assert results.exists(), done.stdout + done.stderr
    assert "cpu:" not in done.stdout, "lit prints metrics of each test"
    return {test["name"].split(" :: ")[1]: (test["code"], (test.get("metrics") or {}).get("cpu")) for test in json.loads(results.read_text())["tests"]}


def main():
    tests, scratch = map(pathlib.Path, sys.argv[1:])
    burn = scratch / "burn.py"
    shell = "lit.formats.ShTest(execute_external=False)"
    for name, format in (("shell", shell), ("ended", shell), ("google", 'lit.formats.GoogleTest(".", "Tests")')):
        folder = scratch / name
        folder.mkdir(parents=True)
        (folder / "lit.cfg.py").write_text(CONFIG.format(tests=str(tests), format=format, folder=str(folder), burn=burn))
    burn.write_text(BURN)
    for name, text in TESTS.items():
        (scratch / "shell" / f"{name}.test").write_text(text + "\n")
    (scratch / "ended" / "times-out.test").write_text("RUN: %burn 0.3 && sleep 60\n")
    (scratch / "google" / "MadeUpTests.py").write_text(BINARY)
    seen = run(scratch / "results.json", scratch / "shell", scratch / "google") | run(scratch / "ended.json", scratch / "ended", "--timeout=3")
    print(json.dumps(seen, indent=2))

    def check(name, code, least, most):
        assert seen[name][0] == code and least <= seen[name][1] <= most, f"{name}: expected {code} with {least} to {most} CPU seconds, got {seen[name]}"

    for name in ("burn", "grandchild"):
        check(f"{name}.test", "PASS", 0.3, 0.9)
    for name in ("sleep", "left", "left-behind"):
        check(f"{name}.test", "PASS", 0, 0.2)
    check("killed.test", "PASS", 0, 1.5)
    check("fails.test", "FAIL", 0.3, 0.9)
    # On a machine with much to do, it is ended before it has computed.
    check("times-out.test", "TIMEOUT", 0, 0.9)
    check("unsupported.test", "UNSUPPORTED", 0, 0.2)
    long, short = seen["Suite/Long"][1], seen["Suite/Short"][1]
    assert 0.4 <= long + short <= 1 and abs(long / short - 3) < 0.01, f"expected 3 to 1 of 0.4 CPU seconds, got {long} and {short}"


main()
