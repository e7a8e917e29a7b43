"""damage.py FOLDER: breaks each entry of a kernel cache, in turn by another byte at its end, by cutting it off, by emptying it."""
import pathlib
import sys

for index, path in enumerate(sorted(pathlib.Path(sys.argv[1]).glob("*.kiln"))):
    data = path.read_bytes()
    path.write_bytes([data[:-1] + bytes([data[-1] ^ 1]), data[:len(data) // 2], b""][index % 3])
