# The GoogleTest binaries: each of their tests counts as one.
import os
import sys

import lit.formats

sys.path.insert(0, os.path.dirname(os.path.dirname(__file__)))
import cpu_seconds

config.name = "Kiln-Unit"
config.test_format = cpu_seconds.Measured(lit.formats.GoogleTest(".", "Tests"))
config.suffixes = []
config.test_source_root = config.test_exec_root = os.path.join(config.kiln_binary_dir, "test", "unit")
