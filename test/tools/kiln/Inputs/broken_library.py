"""Breaks a library in the ways that a reader of objects falls for. Usage: broken_library.py LIBRARY FOLDER"""
import pathlib
import resource
import struct
import subprocess
import sys

library, folder = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
whole = library.read_bytes()
SECTION = struct.Struct("<IIQQQQIIQQ")  # name, type, flags, address, offset, size, link, info, alignment, entry
SYMTAB, STRTAB, RELA = 2, 3, 4


def members(data):
    at = 8
    while at < len(data):
        size = int(data[at + 48:at + 58])
        yield at, at + 60, size
        at += 60 + size + size % 2


def sections(data, begin):
    offset, = struct.unpack_from("<Q", data, begin + 40)
    size, count = struct.unpack_from("<HH", data, begin + 58)
    assert size == SECTION.size
    for i in range(count):
        yield begin + offset + i * size


def objects():
    return [(begin, size) for _, begin, size in members(whole) if whole[begin:begin + 4] == b"\x7fELF"]


def change(data, field, value, of=lambda kind: True):
    """Sets one field of all section headers of some types."""
    data = bytearray(data)
    for begin, _ in objects():
        for at in sections(whole, begin):
            fields = list(SECTION.unpack_from(data, at))
            if of(fields[1]):
                fields[field] = value
                SECTION.pack_into(data, at, *fields)
    return bytes(data)


def header(field, value, form="<H"):
    data = bytearray(whole)
    for begin, _ in objects():
        struct.pack_into(form, data, begin + field, value)
    return bytes(data)


without_record = whole.replace(b".kiln.record\0", b".kiln_record\0")
biggest = (1 << 64) - 1
first, begin, size = list(members(whole))[-1]
cases = {
    "thin": (b"!<thin>\n" + whole[8:], "a thin archive, whose members are other files"),
    "cut": (whole[:-size // 2], "the archive is cut off: the member at byte "),
    "half-header": (whole[:first + 30], f"the archive is cut off: no whole header at byte {first}"),
    "no-size": (whole[:first + 48] + b"many      " + whole[first + 58:], f"the archive is broken: no header of a member at byte {first}"),
    "negative-size": (whole[:first + 48] + b"-1        " + whole[first + 58:], "the archive is broken: no header of a member at byte "),
    "no-end": (whole[:first + 58] + b"xx" + whole[first + 60:], "the archive is broken: no header of a member at byte "),
    "empty": (b"!<arch>\n", "not a library made by Kiln"),
    "no-sections": (header(60, 0), "not a library made by Kiln"),
    "names-outside": (header(62, 0xfffe), "not a library made by Kiln"),
    "sections-outside": (header(40, biggest - 10, "<Q"), "not a library made by Kiln"),
    "other-class": (header(4, 1, "<B"), "not a library made by Kiln"),
    "texts-outside": (change(whole, 4, biggest - 3, lambda kind: kind == STRTAB), "not a library made by Kiln"),
    "data-outside": (change(without_record, 5, biggest, lambda kind: kind == 1), "not a library made by Kiln"),
    "relocations-of-nothing": (change(without_record, 7, 0xffffffff, lambda kind: kind == RELA), "not a library made by Kiln"),
    "no-relocations": (change(without_record, 1, 1, lambda kind: kind == RELA), "not a library made by Kiln"),
    "rel-for-rela": (change(without_record, 1, 9, lambda kind: kind == RELA), "not a library made by Kiln"),
    "symbols-nowhere": (change(without_record, 6, 0xffffffff, lambda kind: kind == SYMTAB), "not a library made by Kiln"),
    "without-record": (without_record, None),
    "many-relocations": (change(change(without_record, 4, 0, lambda kind: kind == RELA), 5, len(whole), lambda kind: kind == RELA), ""),
}
# Counts without a limit: kiln_model_info stands behind its name's relocation; every 2 of four bytes may be the number of inputs.
for i, at in enumerate(range(0, len(without_record) - 4, 4)):
    if without_record[at:at + 8] == struct.pack("<ii", 1, 1):
        cases[f"counts-{i}"] = (without_record[:at] + struct.pack("<ii", -1, -1) + without_record[at + 8:], "")


def limit():
    resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))
    resource.setrlimit(resource.RLIMIT_CPU, (10, 10))


bad = []
for name, (data, message) in cases.items():
    path = folder / f"{name}.a"
    path.write_bytes(data)
    done = subprocess.run(["kiln", "inspect", path], capture_output=True, text=True, preexec_fn=limit)
    wanted = (0,) if message is None else (0, 1) if message == "" else (1,)
    if done.returncode not in wanted or (message or "") not in done.stderr or len(done.stdout) > 100000:
        bad.append(f"{name}: status {done.returncode}, expected '{message}', got: {done.stderr}")
print("\n".join(bad) if bad else f"{len(cases)} libraries")
sys.exit(1 if bad else 0)
