"""The innermost loops of a compiled library: their instructions, what moves vectors to the stack, and what llvm-mca says of them."""

import re
import subprocess
import sys
import tempfile

import ending  # noqa: F401

# llvm-mca judges instructions that a CPU lacks all the same. Its model begins one multiplication of 512 bits in a cycle, or two of less.
PRODUCTS_OF_BYTES = re.compile(r"^(usdot|sudot|bfdot|smmla|usmmla|bfmmla)\b")
AVX512 = re.compile(r".*(%zmm|%[xy]mm(1[6-9]|2\d|3[01])|\{%k)")
SHORTER = re.compile(r"^\w+(?!.*%zmm).*%[xy]mm")
NONE = re.compile(r"(?!)")
# The instruction that is counted, how an access of the stack looks, what ends a loop, and the CPUs: their names in LLVM, the multiplications of vectors that
# they begin in a cycle, and the instructions with which they are no judges of a loop.
ARCHITECTURES = {
    "aarch64": {
        "triple": "aarch64-linux-gnu",
        "attributes": "+all",
        "multiply": re.compile(r"^(fmla|fmul|s?u?dot|usdot|sudot|bfdot|smmla|usmmla|bfmmla)\b"),
        "spill": re.compile(r"^(str|ldr|stp|ldp|stur|ldur)\s+[qz].*\[sp"),
        "branch": re.compile(r"^(b\.\w+|cbn?z|tbn?z|b)\s.*?0x([0-9a-f]+)"),
        "cpus": {"neoverse-n1": (2, PRODUCTS_OF_BYTES), "neoverse-v1": (4, NONE), "neoverse-v2": (4, NONE), "apple-m1": (3, PRODUCTS_OF_BYTES)},
    },
    "riscv64": {
        "triple": "riscv64-linux-gnu",
        "attributes": "+v,+f,+d,+c,+m,+a",
        "multiply": re.compile(r"^(vfmacc|vfmadd|fmadd)\b"),
        "spill": re.compile(r"^(v[sl]\w*\.v\s.*\(sp\)|vs[1248]r\.v|vl[1248]r(e\d+)?\.v)"),  # whole registers are only ever moved to and from the stack
        "branch": re.compile(r"^(b\w+|c\.b\w+|j|c\.j)\s.*?0x([0-9a-f]+)"),
        "cpus": {},  # llvm-mca does not know how long vectors are
    },
    "x86-64": {
        "triple": "x86_64-linux-gnu",
        "attributes": "",
        "multiply": re.compile(r"^(v?fn?m(add|sub)\w*p[sd]|v?mulp[sd]|vpdp\w+|v?pmaddubsw|v?pmaddwd)\b"),
        "spill": re.compile(r"^v?mov[au]p[sd]\b(?=.*%[xyz]mm).*\(%rsp"),
        "branch": re.compile(r"^(j\w+)\s.*?0x([0-9a-f]+)"),
        "cpus": {"haswell": (2, AVX512), "znver3": (2, AVX512), "sapphirerapids": (1, SHORTER)},
    },
}
# How llvm-objdump calls the files of each.
FORMATS = {"elf64-littleaarch64": "aarch64", "elf64-littleriscv": "riscv64", "elf64-x86-64": "x86-64"}
FEWEST = 8  # multiplications of a loop that is judged


def architecture_of(library):
    text = subprocess.run(["llvm-objdump", "--file-headers", str(library)], check=True, capture_output=True, text=True).stdout
    return ARCHITECTURES[FORMATS[re.search(r"file format (\S+)", text).group(1)]]


def disassemble(library, architecture):
    """The instructions of each function: (name, [(address, text)])."""
    text = subprocess.run(["llvm-objdump", "-d", "--no-show-raw-insn", f"--mattr={architecture['attributes']}", str(library)],
                          check=True, capture_output=True, text=True).stdout
    functions = []
    for line in text.splitlines():
        if head := re.match(r"^[0-9a-f]+ <(.+)>:$", line):
            if head.group(1).startswith(".L"):  # a label of the compiler inside of a function
                continue
            functions.append((head.group(1), []))
        elif found := re.match(r"^\s*([0-9a-f]+):\s+(.*)$", line):
            functions[-1][1].append((int(found.group(1), 16), re.sub(r"\s+", " ", found.group(2)).strip()))
    return functions


def find_loops(instructions, architecture):
    """The bodies between a place and a branch back to it that contain no other branch, without the branch."""
    places = {address: i for i, (address, _) in enumerate(instructions)}
    for end, (address, text) in enumerate(instructions):
        branch = architecture["branch"].match(text)
        start = places.get(int(branch.group(2), 16)) if branch else None
        if start is None or start >= end:
            continue
        body = [text for _, text in instructions[start:end]]
        if not any(architecture["branch"].match(each) for each in body):
            yield body


def simulate(body, architecture, cpu):
    """Cycles of an iteration."""
    rounds = 100
    lines = [re.sub(r"\s*<[^>]*>", "", line) for line in body]
    with tempfile.NamedTemporaryFile("w", suffix=".s") as source:
        source.write("\n".join(lines) + "\n")
        source.flush()
        command = ["llvm-mca", f"-mtriple={architecture['triple']}", f"-mcpu={cpu}", f"-iterations={rounds}", "-skip-unsupported-instructions=parse-failure",
                   "--resource-pressure=false", "--instruction-info=false", source.name]
        done = subprocess.run(command, capture_output=True, text=True)
    cycles = re.search(r"Total Cycles:\s+(\d+)", done.stdout)
    if not cycles:
        sys.exit(f"inner-loops: llvm-mca does not know the loop for {cpu}: {done.stderr.strip().splitlines()[:1]}")
    return int(cycles.group(1)) / rounds


def count_spills(library, architecture):
    """The innermost loops that move vectors to or from the stack: (function, instructions, how many of them do)."""
    for name, instructions in disassemble(library, architecture):
        for body in find_loops(instructions, architecture):
            if spills := sum(bool(architecture["spill"].match(text)) for text in body):
                yield name, len(body) + 1, spills


def judge(library, architecture, cpus):
    """A row for each innermost loop with enough multiplications of vectors."""
    rows = []
    for name, instructions in disassemble(library, architecture):
        for body in find_loops(instructions, architecture):
            multiplies = sum(bool(architecture["multiply"].match(text)) for text in body)
            if multiplies < FEWEST:
                continue
            row = {"function": name, "multiplies": multiplies, "instructions": len(body) + 1,
                   "spills": sum(bool(architecture["spill"].match(text)) for text in body), "share": {}}
            for cpu in cpus:
                most, lacking = architecture["cpus"][cpu]
                if not any(lacking.match(text) for text in body):
                    row["share"][cpu] = round(multiplies / simulate(body, architecture, cpu) / most, 3)
            rows.append(row)
    return rows
