"""Compares Kiln's table of operators (Schemas.def) with the schemas of Debian's onnx, for each opset that this knows."""

import dataclasses
import sys

import onnx.defs
from schemas import read_row, read_schema, read_table, supported_opsets

#: What later releases of the standard have corrected, or exporters are known to leave out.
EXCEPTIONS = {("", "GridSample", 16), ("", "BatchNormalization", 1)}


def plain(facts):
    """Names of variables do not matter, only which parameters have the same; outputs' names do not matter either."""
    def parameters(given, is_output):
        first = {}
        for at, p in enumerate(given):
            first.setdefault(p.variable or f"#{at}", at)
            yield dataclasses.replace(p, name="" if is_output else p.name, variable=str(first[p.variable or f"#{at}"]))
    return list(parameters(facts.inputs, False)), list(parameters(facts.outputs, True)), facts.attributes


def main():
    table, supported, compared, faults = read_table(), supported_opsets(), 0, []
    for schema in onnx.defs.get_all_schemas_with_history():
        key = schema.domain, schema.name
        name = f"{schema.domain}.{schema.name}" if schema.domain else schema.name
        if schema.deprecated or (*key, schema.since_version) in EXCEPTIONS or not any(low <= schema.since_version <= high for low, high in supported.get(name, ())):
            continue
        rows = {since: row for since, row in table.get(key, {}).items() if since <= schema.since_version}
        compared += 1
        if not rows:
            faults.append(f"{name} {schema.since_version}: not in the table")
        elif plain(read_row(*rows[max(rows)])) != plain(read_schema(schema)):
            faults.append(f"{name} {schema.since_version}: {plain(read_row(*rows[max(rows)]))} is not {plain(read_schema(schema))}")
    keys = [(domain, name, since) for (domain, name), rows in table.items() for since in rows]
    if keys != sorted(keys):
        faults.append("the table is not sorted")
    print(*faults, f"{compared} schemas compared, {len(faults)} differ", sep="\n")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
