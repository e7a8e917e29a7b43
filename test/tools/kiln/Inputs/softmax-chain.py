"""Prints a model of the shape of stack.onnxtxt with so many launches in a row."""

import sys

count = int(sys.argv[1])
print('<ir_version: 8, opset_import: ["" : 17]>')
print(f"m (float[n, 48, 64] x) => (float[n, 48, 64] s{count}) {{")
print("  s0 = Identity(x)")
for i in range(count):
    print(f"  s{i + 1} = Softmax<axis = {1 + i % 2}>(s{i})")
print("}")
