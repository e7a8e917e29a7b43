"""The text of a model that adds up twelve tensors, each of a size of its own that the model computes."""
count = 12
print('<ir_version: 8, opset_import: ["" : 13]>')
print("m (" + ", ".join(f"float[1, 4, N{i}] x{i}" for i in range(count)) + ") => (float[1, 4, K] y) {")
for i in range(count):
    print(f"  p{i} = MaxPool<kernel_shape = [2], strides = [2]>(x{i})")
for i in range(1, count):
    left = f"s{i - 1}" if i > 1 else "p0"
    print(f"  s{i} = Add({left}, p{i})")
print(f"  y = Relu(s{count - 1})\n}}")
