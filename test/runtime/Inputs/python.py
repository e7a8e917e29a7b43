"""Runs models by kiln_model, writes their results for a comparison, and makes mistakes: python.py FOLDER."""
import concurrent.futures
import pathlib
import sys

import kiln_model
import numpy
from kiln_model import KilnError, Model, _evaluate

folder = sys.argv[1]
net, digits = Model(f"{folder}/libnet.so"), Model(f"{folder}/libdigits.so")
x, h = numpy.array([[1, 0, 2], [0, 0, 0]], numpy.float32), numpy.arange(6, dtype=numpy.float16).reshape(2, 3)
image = numpy.random.default_rng(1).uniform(0, 16, (3, 1, 8, 8)).astype(numpy.float32)
print(net.inputs, net.dims)
results = {**net(x=x, h=h), **digits({"image": image})}
print(", ".join(f"{name} {array.dtype} {list(array.shape)}" for name, array in results.items() if name != "probabilities"))
for name, array in {**results, "x": x, "h": h, "image": image}.items():
    numpy.save(f"{folder}/{name}.npy", array)
with concurrent.futures.ThreadPoolExecutor(4) as pool:
    again = list(pool.map(lambda _: digits(image=image)["probabilities"], range(32)))
print("threads:", "equal" if all((array == results["probabilities"]).all() for array in again) else "different")
unaligned = numpy.zeros(x.nbytes + 1, numpy.uint8)[1:].view(numpy.float32).reshape(x.shape)
unaligned[:] = x
print("unaligned:", "equal" if not unaligned.flags.aligned and (net(x=unaligned, h=h)["y"] == results["y"]).all() else "different")
print("in / 2 + max(lambda - 1, 0) % 5 * -is:", _evaluate("in / 2 + max(lambda - 1, 0) % 5 * -is", {"in": 7, "lambda": 4, "is": 2}))
for call in (lambda: net(x=x), lambda: net(x=x, h=h, z=x), lambda: net(x=x.astype("f8"), h=h), lambda: net(x=x[0], h=h),
             lambda: net(x=numpy.zeros((9, 3), "f4"), h=h), lambda: net(x=x, h=h[:1]), lambda: net(x=x, h=h, dims={"rows": 3}),
             lambda: net(x=numpy.ma.masked_equal(x, 2), h=h),
             lambda: Model(f"{folder}/libnet.so", graph="encoder")):
    try:
        call()
    except KilnError as error:
        print(error)
weights = next(pathlib.Path(folder).glob("digits*.bin"))
sound = weights.read_bytes()
for change in (lambda: weights.write_bytes(sound[:1000] + bytes([sound[1000] ^ 1]) + sound[1001:]), lambda: weights.write_bytes(sound[:-1] + bytes([sound[-1] ^ 1])),
               lambda: weights.write_bytes(sound[:-1]), lambda: weights.write_bytes(b""), weights.unlink, weights.mkdir):
    change()
    try:
        Model(f"{folder}/libdigits.so")
    except KilnError as error:
        print(str(error).removeprefix(folder))
    if weights.is_file() and weights.stat().st_size == len(sound):
        Model(f"{folder}/libdigits.so", check=False)
        kiln_model.MOST_CHECKED = len(sound) - 1
        Model(f"{folder}/libdigits.so")
        kiln_model.MOST_CHECKED = len(sound)
