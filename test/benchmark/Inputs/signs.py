"""The judge of signs, each verdict provoked: signs.py BYTES"""

import importlib.machinery
import importlib.util
import sys

sys.dont_write_bytecode = True
loader = importlib.machinery.SourceFileLoader("bytes_of_forms", sys.argv[1])
module = importlib.util.module_from_spec(importlib.util.spec_from_loader("bytes_of_forms", loader))
loader.exec_module(module)

for whole, split, us, gain, verdict in [(10, 20, 100, 1.5, "agrees"), (10, 20, 100, 0.98, "agrees"), (10, 20, 100, 0.9, "differs"), (20, 10, 100, 1.1, "differs"),
                                        (20, 10, 100, 0.9, "agrees"), (10, 10, 100, 0.5, "agrees"), (10, 20, 49, 0.5, "too short")]:
    got = module.judge({"whole_bytes": whole, "split_bytes": split, "whole_us": us, "gain": gain}, 0.03)
    if got != verdict:
        sys.exit(f"{whole} and {split} bytes, {us} us, gain {gain}: {got}, expected {verdict}")
