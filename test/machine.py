"""Features and targets of this machine, as kiln sees it: without what KILN_CPU_WITHOUT takes away."""

import functools
import json
import os
import shutil
import subprocess


@functools.cache
def describe_targets(kiln):
    """Targets by their names, or nothing where there is no kiln."""
    kiln = shutil.which(kiln)
    if not kiln:
        return {}
    listed = json.loads(subprocess.run([kiln, "--target=list", "--json"], check=True, capture_output=True, text=True).stdout)
    return {target["name"]: target for target in listed["targets"]}


def find_kiln():
    return os.environ.get("KILN", "kiln")


def features(kiln=None):
    """The instruction sets that a compile for `native` uses."""
    return set(describe_targets(kiln or find_kiln()).get("native", {}).get("features", []))


def targets(kiln=None):
    """The names of all targets whose code the machine can run."""
    listed = describe_targets(kiln or find_kiln())
    own = listed.get("native", {"triple": ""})["triple"]
    return {name for name, target in listed.items() if target["triple"] == own and set(target["features"]) <= features(kiln)}
