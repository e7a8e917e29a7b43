"""huge_pages.py make FOLDER: a product with 64 MiB of weights, its input and what it gives. huge_pages.py run FOLDER: the shared library has segments that
huge pages fit, and the numbers of FOLDER/y.npy, which kiln has computed, are those of numpy, as are its own."""
import pathlib
import struct
import sys

import numpy as np

SIZE, HUGE_PAGE = 4096, 1 << 21
what, folder = sys.argv[1], pathlib.Path(sys.argv[2])
weights = np.tile(np.arange(-8, 9, dtype="f4"), SIZE * SIZE // 17 + 1)[:SIZE * SIZE].reshape(SIZE, SIZE)
x = (np.arange(SIZE, dtype="f4") % 5 - 2).reshape(1, SIZE)
if what == "make":
    import onnx
    from onnx import helper, numpy_helper

    value = lambda name: helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [1, SIZE])  # noqa: E731
    graph = helper.make_graph([helper.make_node("MatMul", ["x", "w"], ["y"])], "m", [value("x")], [value("y")], [numpy_helper.from_array(weights, "w")])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), folder / "m.onnx")
    np.save(folder / "x.npy", x)
else:
    library = (folder / "so/libm.so").read_bytes()
    at, size, count = struct.unpack_from("<32xQ14xHH", library)
    headers = [struct.unpack_from("<IIQQQQQQ", library, at + size * i) for i in range(count)]
    assert any(kind == 1 and file >= weights.nbytes and align == HUGE_PAGE for kind, flags, offset, address, physical, file, memory, align in headers), headers
    sys.path.insert(0, sys.argv[3])
    from kiln_model import Model

    # Whole numbers, whose sums are exact in any order.
    assert (Model(str(folder / "so/libm.so"))(x=x)["y"] == x @ weights).all()
    assert (np.load(folder / "y.npy") == x @ weights).all()
