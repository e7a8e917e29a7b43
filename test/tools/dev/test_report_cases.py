"""Checks tools/dev/test-report by results that are made up: test_report_cases.py SOURCE SCRATCH"""

import contextlib
import importlib.machinery
import importlib.util
import io
import json
import os
import pathlib
import sys
import time

SOURCE, SCRATCH = map(pathlib.Path, sys.argv[1:])
sys.dont_write_bytecode = True
sys.path.insert(0, str(SOURCE / "tools/dev"))
import budget

loader = importlib.machinery.SourceFileLoader("test_report", str(SOURCE / "tools/dev/test-report"))
test_report = importlib.util.module_from_spec(importlib.util.spec_from_loader("test_report", loader))
loader.exec_module(test_report)

TABLE = """# A comment.
calibration 0.5
tools/kiln/ 60 5   # a folder
tools/kiln/slow.test 20
unit/ 10 5
"""
#: What the tests and the machine did, and for how long.
OWN, ELAPSED = 100, 1000


def result(name, cpu=None, code="PASS", suite="Kiln"):
    return {"name": f"{suite} :: {name}", "code": code, **({} if cpu is None else {"metrics": {"cpu": cpu}})}


def report(tests, *arguments, calibration=0.5, others=0.0, table=TABLE):
    """(status, lines) of a report. The machine was busy with other processes for a part of the time."""
    (SCRATCH / "budget.txt").write_text(table)
    (SCRATCH / "results.json").write_text(json.dumps({"tests": tests}))
    start = {"calibration": calibration, "busy": budget.busy() - OWN - others * ELAPSED * os.cpu_count(), "time": time.time() - ELAPSED}
    (SCRATCH / "start.json").write_text(json.dumps(start))
    sys.argv = ["test-report", str(SCRATCH / "results.json"), "--start", str(SCRATCH / "start.json"), "--budget", str(SCRATCH / "budget.txt"),
                "--build", "30", "3.4", "--tests", str(OWN), "0", *arguments]
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        status = test_report.main()
    return status, printed.getvalue().splitlines()


def expect(got, status, last, *lines):
    assert got[0] == status and (not last or got[1][-1] == last), f"expected {status} and `{last}`, got {got[0]} and\n" + "\n".join(got[1])
    for line in lines:
        assert any(line in other for other in got[1]), f"expected `{line}` in\n" + "\n".join(got[1])


def expect_none(got, text):
    assert not any(text in line for line in got[1]), f"expected no `{text}` in\n" + "\n".join(got[1])


def check_counts():
    fine = [result("tools/kiln/a.test", 1), result("unit/b", 2, suite="Kiln-Unit")]
    expect(report(fine), 0, "2 passed, 0 failed", "33 of the build, 100 of the tests", "the 2 slowest tests by CPU seconds, of 3:", "2.0  unit/unit/b")
    expect(report([*fine, result("tools/kiln/c.test", 1, "FAIL"), result("x/d.test", code="UNSUPPORTED")]), 1, "2 passed, 1 failed", "1 tests were skipped")
    # lit itself failed, or nothing passed.
    expect(report(fine, "--status", "1"), 1, "2 passed, 1 failed")
    expect(report([]), 1, "0 passed, 1 failed")
    expect(report([result("end-to-end/one.native", code="UNSUPPORTED"), result("end-to-end/two.native", 1), result("end-to-end/two.gcc", code="UNSUPPORTED")]),
           0, "1 passed, 0 failed", "models that are not here, and so were not tested: one")
    many = report([result(f"tools/kiln/{number}.test", number / 10) for number in range(30)])
    expect(many, 0, "30 passed, 0 failed", "the 20 slowest tests by CPU seconds, of 44:", "1.0  tools/kiln/10.test")
    expect_none(many, "tools/kiln/9.test")


def check_budgets():
    # Twice its own figure, and twice what its folder gives to each.
    expect(report([result("tools/kiln/slow.test", 39), result("tools/kiln/a.test", 9.9)]), 0, "2 passed, 0 failed", "takes 1.00 times")
    slow = [result("tools/kiln/slow.test", 41), result("tools/kiln/a.test", 1)]
    expect(report(slow), 1, "1 passed, 1 failed", "error: tools/kiln/slow.test took 41.0 CPU seconds, with a budget of 20.0 here (test/budget.txt)")
    # A short test may take ten seconds more.
    expect(report([result("tools/kiln/a.test", 14.9)]), 0, "1 passed, 0 failed")
    expect(report([result("tools/kiln/a.test", 15.1)]), 1, "0 passed, 1 failed", "error: tools/kiln/a.test took 15.1 CPU seconds, with a budget of 5.0 here")
    # A folder whose tests are each within theirs.
    expect(report([result(f"tools/kiln/{number}.test", 8) for number in range(16)]), 1, "16 passed, 1 failed", "error: tools/kiln/ took 128.0", "a budget of 60.0")
    # A slower machine may take longer, and a faster one may not.
    expect(report(slow, calibration=1.0), 0, "2 passed, 0 failed", "takes 2.00 times")
    expect(report([result("tools/kiln/slow.test", 30)], calibration=0.25), 1, "0 passed, 1 failed", "a budget of 10.0 here")
    # It is a warning where others ran, and where nothing is known.
    expect(report(slow, others=0.3), 0, "2 passed, 0 failed", "warning: tools/kiln/slow.test took 41.0", "other processes took 30% of it")
    expect(report(slow, others=0.05), 1, "1 passed, 1 failed", "other processes took 5% of it")
    expect(report(slow, "--tests", "0", "0"), 0, "2 passed, 0 failed", "warning: tools/kiln/slow.test", "it is not known whether other processes ran")
    expect(report(slow, calibration=None), 0, "2 passed, 0 failed", "test/budget.txt was not looked at")
    # A test that fails is no more over its budget.
    expect(report([result("tools/kiln/slow.test", 41, "FAIL"), result("tools/kiln/a.test", 1)]), 1, "1 passed, 1 failed")


def check_table():
    known = [result("tools/kiln/slow.test", code="UNSUPPORTED"), result("tools/kiln/a.test", 1), result("b", 1, suite="Kiln-Unit")]
    expect(report(known, "--whole"), 0, "2 passed, 0 failed")
    expect(report([*known, result("new/folder/a.test", 1)], "--whole"), 1, "3 passed, 1 failed", "error: test/budget.txt has no line for new/folder/")
    expect(report(known[1:], "--whole"), 1, "2 passed, 1 failed", "error: test/budget.txt has a line for tools/kiln/slow.test, where no test is")
    expect(report(known[1:]), 0, "2 passed, 0 failed")
    # Written from results: tests of more than five seconds have lines, and one that did not run here keeps its own, for this machine.
    tests = [*known, result("tools/kiln/help.test", 12.4), result("tools/kiln/fails.test", 30, "FAIL")]
    expect(report(tests, "--write-budget", calibration=0.25), 0, "")
    text = (SCRATCH / "budget.txt").read_text()
    assert text == "# A comment.\ncalibration 0.250\ntools/kiln/ 23 2\ntools/kiln/help.test 12\ntools/kiln/slow.test 10\nunit/ 1 2\n", text
    budget.Budget(text)
    for wrong, message in (("calibration 1\ntools/kiln 3 4\n", "line 2: expected `FOLDER/"), ("a/b.test x\n", "line 1"), ("a/ 1 1\n", "expected a line `calibration")):
        try:
            budget.Budget(wrong)
            raise AssertionError(f"expected an error for {wrong!r}")
        except ValueError as error:
            assert message in str(error), error


def check_this_machine():
    """The calibration is short, and the tree's own table has each folder of tests."""
    test_report.measure_start(SCRATCH / "start.json")
    start = json.loads((SCRATCH / "start.json").read_text())
    assert 0.02 < start["calibration"] < 10 and start["busy"] > 0, start
    assert budget.others(10, 8, 10, 2) == 0.1 and budget.others(0, 8, 10, 2) is None and budget.others(7, 8, 10, 2) == 0
    table = budget.Budget((SOURCE / "test/budget.txt").read_text())
    root = SOURCE / "test"
    tests = {str(path.relative_to(root)) for suffix in ("mlir", "test", "onnxtxt") for path in root.rglob(f"*.{suffix}") if not {"Inputs", "unit"} & set(path.parts)}
    lacking, needless = table.unknown(tests | {"end-to-end/any", "unit/any"})
    assert not lacking, f"test/budget.txt lacks {lacking}"
    needless = [name for name in needless if not name.startswith(("end-to-end/", "unit/"))]
    assert not needless, f"test/budget.txt has {needless}, which are no tests"


check_counts()
check_budgets()
check_table()
check_this_machine()
