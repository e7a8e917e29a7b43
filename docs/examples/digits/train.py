#!/usr/bin/python3
"""Trains the bundled digit classifier and writes digits.onnx, held_out.pgm and held_out.txt beside itself.

Only this script needs Python; nothing that uses the model does. Debian 12: apt-get install python3-torch python3-sklearn python3-onnx
Data: "Optical Recognition of Handwritten Digits" (E. Alpaydin, C. Kaynak, UCI Machine Learning Repository, CC BY 4.0), the 1,797
images of 8x8 pixels that scikit-learn ships. The last 360 are held out; the file goes writer by writer, so those hands are new
to the model.
"""

import argparse
import pathlib

import numpy as np
import onnx
import sklearn.datasets
import torch
from onnx import TensorProto, helper, numpy_helper
from torch import nn

SEED = 20220
EPOCHS = 60
BATCH = 32


class Digits(nn.Module):
    """Two plain convolutions with a residual branch between them, one strided step, one dense layer."""

    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(1, 16, 3, padding=1, bias=False)
        self.stem_norm = nn.BatchNorm2d(16)
        self.block = nn.Conv2d(16, 16, 3, padding=1, bias=False)
        self.block_norm = nn.BatchNorm2d(16)
        self.wide = nn.Conv2d(16, 32, 3, padding=1, bias=False)
        self.wide_norm = nn.BatchNorm2d(32)
        self.dense = nn.Linear(32 * 2 * 2, 10)
        self.drop = nn.Dropout(0.2)

    def forward(self, image):
        x = torch.relu(self.stem_norm(self.stem(image / 16.0)))
        x = torch.relu(self.block_norm(self.block(x)) + x)
        x = nn.functional.max_pool2d(x, 2)
        x = torch.relu(self.wide_norm(self.wide(x)))
        x = nn.functional.max_pool2d(x, 2)
        return self.dense(self.drop(x.flatten(1)))


def shift(images, rng):
    """Each image moved by up to one pixel, and made up to 15 % lighter or darker."""
    padded = np.pad(images, ((0, 0), (0, 0), (1, 1), (1, 1)))
    moved = np.empty_like(images)
    for i, (dy, dx) in enumerate(rng.integers(0, 3, (len(images), 2))):
        moved[i] = padded[i, :, dy:dy + 8, dx:dx + 8]
    return np.clip(moved * rng.uniform(0.85, 1.15, (len(images), 1, 1, 1)), 0, 16).astype(np.float32)


def train(images, labels):
    torch.manual_seed(SEED)
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    rng = np.random.default_rng(SEED)
    model = Digits()
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=1e-2)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, EPOCHS)
    for _ in range(EPOCHS):
        model.train()
        for batch in np.array_split(rng.permutation(len(images)), len(images) // BATCH):
            optimizer.zero_grad()
            logits = model(torch.from_numpy(shift(images[batch], rng)))
            nn.functional.cross_entropy(logits, torch.from_numpy(labels[batch])).backward()
            optimizer.step()
        schedule.step()
    return model.eval()


def export(model, path):
    """Writes the graph by hand, as an exporter would leave it: batch normalisation and the scaling of the input unfolded."""
    weights, nodes = [], []

    def weight(name, value):
        weights.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def node(op, inputs, output, **attributes):
        nodes.append(helper.make_node(op, inputs, [output], name=f"/{output}", **attributes))
        return output

    def convolution(name, x):
        conv, norm = getattr(model, name), getattr(model, name + "_norm")
        kernel = weight(f"{name}.weight", conv.weight.detach().numpy())
        x = node("Conv", [x, kernel], f"{name}_conv", kernel_shape=[3, 3], pads=[1, 1, 1, 1], strides=[1, 1])
        scale = [("weight", norm.weight), ("bias", norm.bias), ("mean", norm.running_mean), ("var", norm.running_var)]
        terms = [weight(f"{name}_norm.{key}", value.detach().numpy()) for key, value in scale]
        return node("BatchNormalization", [x] + terms, f"{name}_norm", epsilon=norm.eps)

    x = node("Div", ["image", weight("sixteen", np.float32(16))], "scaled")
    x = node("Relu", [convolution("stem", x)], "stem_relu")
    x = node("Relu", [node("Add", [convolution("block", x), x], "residual")], "block_relu")
    x = node("MaxPool", [x], "pool_1", kernel_shape=[2, 2], strides=[2, 2])
    x = node("Relu", [convolution("wide", x)], "wide_relu")
    x = node("MaxPool", [x], "pool_2", kernel_shape=[2, 2], strides=[2, 2])
    x = node("Flatten", [x], "flat", axis=1)
    dense = weight("dense.weight", model.dense.weight.detach().numpy())
    x = node("Gemm", [x, dense, weight("dense.bias", model.dense.bias.detach().numpy())], "logits", transB=1)
    node("Softmax", [x], "probabilities", axis=1)

    image = helper.make_tensor_value_info("image", TensorProto.FLOAT, ["batch", 1, 8, 8])
    result = helper.make_tensor_value_info("probabilities", TensorProto.FLOAT, ["batch", 10])
    graph = helper.make_graph(nodes, "digits", [image], [result], weights)
    proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=7, producer_name="train.py")
    onnx.checker.check_model(proto, full_check=True)
    path.write_bytes(proto.SerializeToString())


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=pathlib.Path, default=pathlib.Path(__file__).parent)
    out = parser.parse_args().output
    data = sklearn.datasets.load_digits()
    images, labels = data.images.astype(np.float32)[:, None], data.target.astype(np.int64)
    known, held_out = np.split(np.arange(len(images)), [-360])

    model = train(images[known], labels[known])
    with torch.no_grad():
        right = (model(torch.from_numpy(images[held_out])).argmax(1).numpy() == labels[held_out])
    print(f"held-out accuracy: {right.sum()} of {len(right)} ({100 * right.mean():.2f} %)")

    export(model, out / "digits.onnx")
    pixels = images[held_out].astype(np.uint8)
    (out / "held_out.pgm").write_bytes(b"P5 8 %d 16\n" % (8 * len(pixels)) + pixels.tobytes())
    (out / "held_out.txt").write_text("".join(f"{label}\n" for label in labels[held_out]))


if __name__ == "__main__":
    main()
