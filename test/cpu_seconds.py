"""CPU seconds (user plus system) of each test, which `lit -o` writes as the metric `cpu`.

lit runs each test in a worker process that runs one test at a time, so the difference of the worker's clocks is the test's. Processes that a test leaves behind
count only if somebody waits for them.
"""

import resource

import lit.formats
import lit.formats.googletest
import lit.Test


def spent():
    """The CPU seconds of this process and of its descendants that were waited for."""
    return sum(usage.ru_utime + usage.ru_stime for usage in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)))


class Measured(lit.formats.TestFormat):
    """A format of lit whose results know their CPU seconds."""

    def __init__(self, tests):
        self.tests = tests

    def getTestsForPath(self, *arguments):
        return self.tests.getTestsForPath(*arguments)

    def getTestsInDirectory(self, *arguments):
        return self.tests.getTestsInDirectory(*arguments)

    def execute(self, test, lit_config):
        before = spent()
        result = self.tests.execute(test, lit_config)
        if not isinstance(result, lit.Test.Result):
            result = lit.Test.Result(*result)
        # lit prints each metric of a test when it ends, so it becomes one only when all tests have ended.
        result.cpu = spent() - before
        return result


divide_shard = lit.formats.GoogleTest.post_process_shard_results


def add_metrics(selected, discovered):
    """Replaces the result of a GoogleTest binary by one for each of its tests, as lit does. They share its CPU seconds as they share its time."""
    shards = [test for test in selected if test.gtest_json_file]
    selected, discovered = divide_shard([test for test in selected if not test.gtest_json_file], discovered)
    for test in selected:
        if hasattr(test.result, "cpu"):
            test.result.addMetric("cpu", lit.Test.RealMetricValue(test.result.cpu))
    for shard in shards:
        tests, _ = divide_shard([shard], [])
        selected, discovered = selected + tests, discovered + tests
        elapsed = sum(test.result.elapsed or 0 for test in tests if test is not shard)
        for test in tests:
            # The binary is among them if it failed outside of its tests.
            share = 0 if test is shard else (test.result.elapsed or 0) / elapsed if elapsed else 1 / len(tests)
            if hasattr(shard.result, "cpu"):
                test.result.addMetric("cpu", lit.Test.RealMetricValue(shard.result.cpu * share))
    return selected, discovered


# lit calls this function of its own class when all tests have ended.
lit.formats.GoogleTest.post_process_shard_results = staticmethod(add_metrics)
