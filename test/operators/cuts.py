"""Nodes that ranks share in ways drawn at random: what --shard asks of each, for a grid of ranks."""

import pathlib
import re

import numpy as np

#: What kiln says of a node that it has folded or whose result has, as it computes it, no such parts.
REFUSED = re.compile(r"--shard=n(\d+)=[\d,-]*: (?:node .* has no such equal parts|the model has no input, output or node)")


def draw(case, grid):
    """The dimension of the first result that each axis of the grid cuts, as --shard has it; None for none."""
    if not case.outputs or case.outputs[0] is None:
        return None
    random, left, cut = np.random.default_rng([*case.origin, 2, *grid]), list(np.shape(case.outputs[0].array)), []
    for ranks in grid:
        dims = [dim for dim, size in enumerate(left) if size and size % ranks == 0]
        if not dims or random.random() < 0.2:
            cut.append("-")
            continue
        cut.append(str(random.choice(dims)))
        left[int(cut[-1])] //= ranks
    return ",".join(cut) if set(cut) != {"-"} else None


class Cuts:
    """Those of a model's nodes, by their place among its cases."""

    def __init__(self, cases, grid):
        self.grid, self.cuts = grid, {index: cut for index, case in enumerate(cases) if (cut := draw(case, grid))}

    def options(self, folder):
        file = pathlib.Path(folder) / "cuts.txt"
        file.write_text("".join(f"n{index}={cut}\n" for index, cut in self.cuts.items()))
        return [f"--grid={'x'.join(map(str, self.grid))}", *([f"--shard={file}"] if self.cuts else [])]

    def drop(self, error):
        """Leaves out the cut that an error refuses. Whether it is one of these."""
        found = REFUSED.search(error)
        return bool(found) and self.cuts.pop(int(found[1]), None) is not None
