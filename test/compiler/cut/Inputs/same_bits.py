"""same_bits.py MODEL FOLDER OPTION...: a seeded model of test/end-to-end in one piece and in 2, 3 and 4 stages, which must give the same bytes."""
import concurrent.futures
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[3] / "end-to-end"))
import onnx
import seeded

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3]))
import kiln_calls  # noqa: E402

name, folder, *options = sys.argv[1:]
folder = pathlib.Path(folder)
folder.mkdir(parents=True)
onnx.save(seeded.MODELS[name](), folder / "m.onnx")


def run(stages):
    out = folder / f"stages-{stages}"
    kiln_calls.run("run", folder / "m.onnx", "--output-dir", out, "--jobs=1", "-q", *options, *([f"--stages={stages}"] if stages else []))
    return {path.name: path.read_bytes() for path in out.iterdir()}


with concurrent.futures.ThreadPoolExecutor(2) as pool:
    whole, *cut = pool.map(run, (0, 2, 3, 4))
assert whole and all(len(data) > 128 for data in whole.values())
for stages, outputs in zip((2, 3, 4), cut):
    assert outputs == whole, f"{name} in {stages} stages"
    print(f"{name} in {stages} stages: {len(outputs)} outputs with the same bytes")
