# The GoogleTest binaries: each of their tests counts as one.
import os

import lit.formats

config.name = "Kiln-Unit"
config.test_format = lit.formats.GoogleTest(".", "Tests")
config.suffixes = []
config.test_source_root = config.test_exec_root = os.path.join(config.kiln_binary_dir, "test", "unit")
