"""Models with symbols in place of their inputs' dimensions, for the conformance runner's --symbolic."""

import onnx

# From the boldest on: every dimension a symbol of its own; one symbol for each size, and size 1 as it is; the dimensions of the first input;
# its first dimension. From the second on inputs of rank 0 and 1 behind the first are as they were: axes, pads and the like may be bound.
FORMS = ("each", "shared", "first", "batch")


def name_dimension(form, index, position, size):
    """The symbol of a dimension, or None where this form leaves it as it is."""
    if form == "each":
        return f"d{index}_{position}"
    if form == "shared":
        return f"n{size}" if size != 1 else None
    return f"d{index}_{position}" if index == 0 and (form == "first" or position == 0) else None


def forget_shape(value):
    """An output's declared sizes would contradict the symbols; its rank stays."""
    if value.type.HasField("tensor_type"):
        for dim in value.type.tensor_type.shape.dim:
            dim.Clear()


def write(path, form, folder):
    """The model in a form as a file in `folder`; None when nothing changes."""
    model = onnx.load(str(path), load_external_data=False)
    weights = {weight.name for weight in model.graph.initializer}
    changed = False
    for index, value in enumerate(value for value in model.graph.input if value.name not in weights):
        dims = value.type.tensor_type.shape.dim if value.type.HasField("tensor_type") else []
        if form != "each" and index > 0 and len(dims) < 2:
            continue
        for position, dim in enumerate(dims):
            symbol = name_dimension(form, index, position, dim.dim_value) if dim.HasField("dim_value") else None
            if symbol:
                dim.dim_param = symbol
                changed = True
    if not changed:
        return None
    for value in model.graph.output:
        forget_shape(value)
    del model.graph.value_info[:]
    target = folder / f"{form}.onnx"
    onnx.save(model, str(target))
    return target
