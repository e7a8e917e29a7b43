"""other_build.py PROGRAM COPY: the same program, with the build ID of another one."""
import pathlib
import re
import sys

program, copy = map(pathlib.Path, sys.argv[1:])
data = bytearray(program.read_bytes())
# The ELF note NT_GNU_BUILD_ID: the lengths of its name and value, its type, its name, and then the value.
note = re.search(rb"\x04\0\0\0(.)\0\0\0\x03\0\0\0GNU\0", data, re.DOTALL)
assert note and note[1][0] >= 8
data[note.end()] ^= 1
copy.write_bytes(data)
copy.chmod(0o755)
