"""CPU seconds of the tests: what each may take, by the table test/budget.txt.

A line of the table is `FOLDER/ SECONDS EACH`, the sum of a folder's tests and what each of them takes that has no line of its own, or `TEST SECONDS`.
They are those of the machine that wrote the table. Its first line, `calibration SECONDS`, is the time of a fixed piece of work there, by which another
machine scales them.
"""

import collections
import os
import statistics
import subprocess
import tempfile

#: Tests that take longer have a line of their own.
FLOOR = 5
#: A test is over its budget when it takes more than so many times its figure, and so many seconds more: short tests vary with the machine.
TIMES = 2
SLACK = 10
#: Part of the machine's time that other processes may take while the tests run alone.
OTHERS = 0.1
CLANG = "/usr/lib/llvm-22/bin/clang"
FUNCTION = """float f%d(const float *a, float *b, const int *c, unsigned long n) {
  float s = 0;
  for (unsigned long i = 0; i < n; ++i) {
    for (unsigned long j = 0; j < n; ++j) { float v = a[i * n + j] * b[j]; s += v > %d.f ? v * v : -v; b[i] += v + c[j & %d]; }
    switch (c[i] & 7) {
    case 0: s += a[i]; break;
    case 1: s -= b[i]; break;
    case 2: s *= a[i + %d]; break;
    case 3: s = s > b[i] ? s : b[i]; break;
    default: b[i] = s;
    }
  }
  return s;
}
"""


def calibrate(jobs=os.cpu_count()):
    """CPU seconds of one compile of a fixed text while `jobs` of them run: tests are mostly compiles, and share the caches of their cores in the same way."""
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "calibration.c")
        with open(source, "w") as file:
            file.writelines(FUNCTION % (number, number, number + 1, number) for number in range(24))
        processes = [subprocess.Popen([CLANG, "-O2", "-c", source, "-o", f"{source}.{job}.o"]) for job in range(jobs)]
        seconds = []
        for process in processes:
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            if process.returncode:
                raise OSError(f"{CLANG} failed on the calibration")
            seconds.append(usage.ru_utime + usage.ru_stime)
    return statistics.median(seconds)


def busy():
    """CPU seconds of all processes of the machine since its start, or 0 where the system does not say."""
    try:
        with open("/proc/stat") as file:
            user, nice, system, _, _, irq, softirq, steal = map(int, file.readline().split()[1:9])
    except (OSError, ValueError):
        return 0
    return (user + nice + system + irq + softirq + steal) / os.sysconf("SC_CLK_TCK")


def others(busy_seconds, own_seconds, elapsed, processors):
    """The part of the machine's time that other processes took, or None if the system does not say."""
    if busy_seconds < own_seconds / 2 or elapsed <= 0:
        return None
    return max(0, busy_seconds - own_seconds) / (elapsed * processors)


def short_name(name):
    """`tools/kiln/help.test` for `Kiln :: tools/kiln/help.test`; GoogleTest's begin with `unit/`."""
    suite, test = name.split(" :: ", 1)
    return f"unit/{test}" if suite.endswith("-Unit") else test


def folder_of(test):
    """The folder of a test in the table: at most two levels, and one for all of GoogleTest's."""
    parts = test.split("/")[:-1]
    return "unit/" if parts[:1] == ["unit"] else "/".join(parts[:2]) + "/"


def seconds_of(tests):
    """CPU seconds by short name of the tests that passed, from lit's results."""
    measured = [test for test in tests if test["code"] in ("PASS", "FLAKYPASS") and "cpu" in (test.get("metrics") or {})]
    return {short_name(test["name"]): test["metrics"]["cpu"] for test in measured}


def sums(seconds):
    folders = collections.Counter()
    for test, taken in seconds.items():
        folders[folder_of(test)] += taken
    return folders


class Budget:
    def __init__(self, text):
        self.calibration, self.folders, self.each, self.tests = None, {}, {}, {}
        for number, line in enumerate(text.splitlines(), 1):
            words = line.split("#")[0].split()
            try:
                if len(words) == 3 and words[0].endswith("/"):
                    self.folders[words[0]], self.each[words[0]] = float(words[1]), float(words[2])
                elif len(words) == 2 and words[0] == "calibration":
                    self.calibration = float(words[1])
                elif len(words) == 2 and "/" in words[0][:-1]:
                    self.tests[words[0]] = float(words[1])
                elif words:
                    raise ValueError
            except ValueError:
                raise ValueError(f"line {number}: expected `FOLDER/ SECONDS EACH`, `TEST SECONDS` or `calibration SECONDS`, got `{line}`") from None
        if not self.calibration:
            raise ValueError("expected a line `calibration SECONDS`")

    def figure(self, test):
        return self.tests.get(test, self.each.get(folder_of(test), FLOOR))

    def exceeded(self, seconds, scale):
        """(name, seconds taken, figure on this machine) of each test and folder over its budget."""
        taken = {**seconds, **sums(seconds)}
        figures = {name: scale * (self.folders.get(name, float("inf")) if name.endswith("/") else self.figure(name)) for name in taken}
        return [(name, taken[name], figures[name]) for name in sorted(taken) if taken[name] > max(TIMES * figures[name], figures[name] + SLACK)]

    def unknown(self, tests):
        """(folders of tests without a line, lines that name no test), by all of the suite's tests."""
        folders = {folder_of(test) for test in tests}
        return sorted(folders - set(self.folders)), sorted({*self.tests, *self.folders} - set(tests) - folders)


def written(seconds, calibration):
    """The lines of a table for these results."""
    lines = [f"calibration {calibration:.3f}"]
    for folder, total in sorted(sums(seconds).items()):
        own = {test: taken for test, taken in seconds.items() if folder_of(test) == folder}
        short = [taken for taken in own.values() if taken <= FLOOR]
        lines.append(f"{folder} {max(1, round(total))} {min(FLOOR, max(2, 2 * round(max(short, default=0))))}")
        lines += [f"{test} {taken:.0f}" for test, taken in sorted(own.items()) if taken > FLOOR]
    return "\n".join(lines) + "\n"
