"""Which files of the tree are in each program and library of a build, by Ninja's rules and by the headers that the compiler has named."""

import functools
import os
import re
import subprocess

LINKED = ("EXECUTABLE_LINKER", "STATIC_LIBRARY_LINKER", "SHARED_LIBRARY_LINKER", "MODULE_LIBRARY_LINKER")


def read_rules(text):
    """(inputs by output, compiled outputs, linked outputs) of a build.ninja. What must only be older than an output (`||`) is no input: the compiler names what
    it reads of it."""
    inputs, compiled, linked = {}, [], []
    for line in text.replace("$\n", "").splitlines():
        if not line.startswith("build "):
            continue
        outputs, _, rest = re.sub(r"\$ ", "\0", line.removeprefix("build ")).partition(": ")
        rule, *words = rest.split(" || ")[0].split(" ")
        words = [word.replace("\0", " ").replace("$:", ":") for word in words if word not in ("", "|")]
        outputs = [word.replace("\0", " ") for word in outputs.split(" ") if word not in ("", "|")]
        for output in outputs:
            inputs.setdefault(output, []).extend(words)
        if rule.startswith(("C_COMPILER", "CXX_COMPILER")):
            compiled.append(outputs[0])
        elif rule.startswith(("C_", "CXX_")) and any(kind in rule for kind in LINKED):
            linked.append(outputs[0])
    return inputs, compiled, linked


def read_headers(text):
    """Headers by object, of `ninja -t deps`."""
    headers, current = {}, None
    for line in text.splitlines():
        if line.startswith("    /usr/"):
            continue
        if line.startswith("    "):
            current.append(line[4:])
        elif ": #deps" in line:
            current = headers.setdefault(line.split(": #deps")[0], [])
    return headers


def read_depfile(path):
    """Headers by output of a file that a command has written for Ninja: `OUTPUT...: INPUT...`."""
    try:
        with open(path) as file:
            outputs, _, rest = file.read().replace("\\\n", " ").partition(":")
    except OSError:
        return {}
    return {output: rest.split() for output in outputs.split()}


def link(inputs, headers, compiled, linked, root, build):
    """Files of the tree by linked output, or None for an output whose headers are not known yet. A path may be absolute, or relative to the build folder."""
    @functools.cache
    def absolute(path):
        return os.path.normpath(os.path.join(build, path))

    edges = {}
    for table in (inputs, headers):
        for output, paths in table.items():
            edges.setdefault(absolute(output), set()).update(map(absolute, paths))
    unknown = {absolute(output) for output in compiled if output not in headers}
    prefix, below = root + os.sep, os.path.normpath(build) + os.sep
    files = {}
    for output in linked:
        seen, waiting = set(), [absolute(output)]
        while waiting:
            path = waiting.pop()
            if path not in seen:
                seen.add(path)
                waiting += edges.get(path, ())
        files[output] = None if seen & unknown else {path.removeprefix(prefix) for path in seen if path.startswith(prefix) and not path.startswith(below)}
    return files


def read(root, build):
    """Files by linked output of the build folder, or nothing if there is none."""
    try:
        with open(os.path.join(build, "build.ninja")) as file:
            text = file.read()
        headers = read_headers(subprocess.run(["ninja", "-C", build, "-t", "deps"], capture_output=True, text=True, check=True).stdout)
    except (OSError, subprocess.CalledProcessError):
        return {}
    for path in re.findall(r"^  depfile = (.+)$", text, re.M):
        headers.update(read_depfile(os.path.join(build, path)))
    inputs, compiled, linked = read_rules(text)
    return link(inputs, headers, compiled, linked, str(root), str(build))
