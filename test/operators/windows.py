"""The sliding window of pools and convolutions, from ONNX's text."""

import itertools

import numpy as np


class Window:
    """Attributes of a window over `sizes`, drawn so that it fits at least once; `out` are the result's sizes."""

    def __init__(self, g, sizes, dilated=True, ceil=False, largest=4, stride=3):
        self.sizes, self.ceil = sizes, ceil
        self.auto_pad = g.pick(["NOTSET", "NOTSET", "NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"])
        self.kernel, self.strides, self.dilations, self.begins, self.ends = [], [], [], [], []
        for size in sizes:
            kernel, dilation = g.integer(1, largest), g.integer(1, 3) if dilated and g.chance(0.4) else 1
            while self.auto_pad == "VALID" and (kernel - 1) * dilation + 1 > size:
                kernel, dilation = max(kernel - 1, 1), 1
            reach = (kernel - 1) * dilation + 1
            begin, end = (g.integer(0, reach - 1), g.integer(0, reach - 1)) if self.auto_pad == "NOTSET" and g.chance(0.6) else (0, 0)
            if self.auto_pad == "NOTSET" and size + begin + end < reach:
                begin = reach - 1
                end = max(end, reach - size - begin)
            self.kernel.append(kernel)
            self.strides.append(g.integer(1, stride))
            self.dilations.append(dilation)
            self.begins.append(begin)
            self.ends.append(end)
        self.hides_pads = self.auto_pad == "NOTSET" and not any(self.begins + self.ends) and g.chance(0.5)
        self.out = [self.count(axis) for axis in range(len(sizes))]

    def reach(self, axis):
        return (self.kernel[axis] - 1) * self.dilations[axis] + 1

    def count(self, axis):
        size, stride, reach = self.sizes[axis], self.strides[axis], self.reach(axis)
        if self.auto_pad.startswith("SAME"):
            count = -(-size // stride)
            total = max((count - 1) * stride + reach - size, 0)
            small, large = total // 2, total - total // 2
            self.begins[axis], self.ends[axis] = (small, large) if self.auto_pad == "SAME_UPPER" else (large, small)
            return count
        room = size + self.begins[axis] + self.ends[axis] - reach
        if not self.ceil:
            return room // stride + 1
        # Windows that would start in the padding at the end are ignored.
        return sum(start * stride < size + self.begins[axis] for start in range(-(-room // stride) + 1))

    def attributes(self, dilations=True, **more):
        given = {"kernel_shape": self.kernel, "strides": self.strides, **more}
        if dilations:
            given["dilations"] = self.dilations
        if self.auto_pad != "NOTSET":
            given["auto_pad"] = self.auto_pad
        elif not self.hides_pads:
            given["pads"] = self.begins + self.ends
        return given

    def places(self, axis):
        """[out, kernel]: the element that each place of the window reads, negative and beyond the size in the padding."""
        return (np.arange(self.out[axis])[:, None] * self.strides[axis] + np.arange(self.kernel[axis]) * self.dilations[axis] - self.begins[axis])

    def taps(self):
        """For each element of the window: its number in each dimension, indices [out...] of what it reads, whether that is inside, and inside of the padding."""
        places = [self.places(axis) for axis in range(len(self.sizes))]
        for element in itertools.product(*map(range, self.kernel)):
            rows = [place[:, at] for place, at in zip(places, element)]
            inside = [(row >= 0) & (row < size) for row, size in zip(rows, self.sizes)]
            padded = [(row >= -begin) & (row < size + end) for row, size, begin, end in zip(rows, self.sizes, self.begins, self.ends)]
            clipped = [np.clip(row, 0, size - 1) for row, size in zip(rows, self.sizes)]
            yield element, np.ix_(*clipped), join(inside), join(padded)


def join(masks):
    result = np.ones((), bool)
    for mask in masks:
        result = np.multiply.outer(result, mask)
    return result


def spatial_sizes(g, most=3, elements=400):
    """Sizes of one to `most` spatial dimensions."""
    rank = g.pick([1, 2, 2, 3][: most + 1])
    while True:
        sizes = [g.integer(1, 5 if rank == 3 else 17 if rank == 2 else 40) for _ in range(rank)]
        if np.prod(sizes) <= elements:
            return sizes
