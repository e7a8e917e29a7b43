"""Writes a compiler that makes one form for any CPU, so that it is slower: one_form_is_slow.py FILE KILN none|all"""

import pathlib
import sys

file, kiln, form = sys.argv[1:]
file = pathlib.Path(file)
file.write_text(f"""#!/bin/sh
case "$*" in *--decompose={form}*) exec {kiln} "$@" --target=generic ;; esac
exec {kiln} "$@"
""")
file.chmod(0o755)
