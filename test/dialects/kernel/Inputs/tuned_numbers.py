#!/usr/bin/env python3
"""Compares the numbers of Tuning.def with docs/AddATarget.md, and looks for the command of each section."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[4]
# What introduces a section: its meaning, a colon, and the commands.
SECTION = re.compile(r"// (?P<meaning>[^:]+): (?P<commands>test/benchmark/.*)")

faults, sections, numbers, section = [], 0, 0, None
rows = [line for line in (ROOT / "docs/AddATarget.md").read_text().splitlines() if line.startswith("| `")]
listed = {name: row for row in rows for name in re.findall(r"`(\w+)`", row.split("|")[1])}
for line in (ROOT / "dialects/kernel/Tuning.def").read_text().splitlines():
    if not line:
        section = None
    if match := SECTION.match(line):
        section, sections = match, sections + 1
        faults += [f"{command} does not exist" for command in re.findall(r"test/benchmark/[\w-]+", match["commands"]) if not (ROOT / command).exists()]
    if match := re.match(r'KILN_TUNING\(\w+, "(\w+)", ([^,]+),', line):
        numbers += 1
        name, usual = match[1], eval(match[2])
        if not section:
            faults.append(f"'{name}' stands in no section that names the command which measures it")
        if name not in listed:
            faults.append(f"'{name}' is not in the table of docs/AddATarget.md")
        elif str(usual) not in re.findall(r"\d+", listed[name].split("|")[2]):
            faults.append(f"docs/AddATarget.md does not say that '{name}' is usually {usual}")
if faults:
    sys.exit("\n".join(faults))
print(f"{numbers} numbers in {sections} sections")
