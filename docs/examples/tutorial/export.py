#!/usr/bin/python3
"""Trains a small network that tells three kinds of wine apart, and writes wine.onnx and samples/ beside itself or into --output.

Debian 12: apt-get install python3-torch python3-sklearn python3-onnx. Data: "Wine" (S. Aeberhard, M. Forina, UCI Machine Learning Repository, CC BY 4.0), 178
wines with 13 measurements each, as scikit-learn ships it. Every fifth wine is held out.
"""

import argparse
import pathlib

import onnx.numpy_helper
import sklearn.datasets
import torch
from torch import nn


class Wine(nn.Module):
    """The measurements in units of their spread, one hidden layer, and the probability of each kind."""

    def __init__(self, mean, deviation):
        super().__init__()
        self.register_buffer("mean", mean)
        self.register_buffer("deviation", deviation)
        self.layers = nn.Sequential(nn.Linear(13, 16), nn.ReLU(), nn.Linear(16, 3))

    def forward(self, measurements):
        return self.layers((measurements - self.mean) / self.deviation).softmax(1)


def train(measurements, kinds):
    torch.manual_seed(1)
    torch.set_num_threads(1)
    model = Wine(measurements.mean(0), measurements.std(0))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for _ in range(200):
        optimizer.zero_grad()
        nn.functional.nll_loss(model(measurements).log(), kinds).backward()
        optimizer.step()
    return model.eval()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=pathlib.Path, default=pathlib.Path(__file__).parent)
    out = parser.parse_args().output
    data = sklearn.datasets.load_wine()
    measurements, kinds = torch.tensor(data.data, dtype=torch.float32), torch.tensor(data.target)
    held_out = torch.arange(len(kinds)) % 5 == 0
    model = train(measurements[~held_out], kinds[~held_out])

    unknown = measurements[held_out]
    with torch.no_grad():
        probabilities = model(unknown)
    right = int((probabilities.argmax(1) == kinds[held_out]).sum())
    print(f"{right} of {len(unknown)} held-out wines are right")

    # The names are those by which the C program will know the tensors; the first dimension stays open.
    torch.onnx.export(model, unknown[:1], str(out / "wine.onnx"), input_names=["measurements"], output_names=["probabilities"],
                      dynamic_axes={"measurements": {0: "wines"}, "probabilities": {0: "wines"}}, opset_version=13)
    # What PyTorch computes, for `kiln verify`: input_N.pb and output_N.pb, numbered as in the model.
    (out / "samples").mkdir(exist_ok=True)
    for name, tensor in ("input_0", unknown), ("output_0", probabilities):
        (out / f"samples/{name}.pb").write_bytes(onnx.numpy_helper.from_array(tensor.numpy()).SerializeToString())


if __name__ == "__main__":
    main()
