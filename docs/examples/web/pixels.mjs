// The network was trained on digits that fill a grid of 32 by 32 points; each of its 8 by 8 pixels is how many of 16 points are black.
const grid = 32, block = 4, radius = 1.6, margin = 2;

/** The points within a pen's reach of a line. */
function draw(points, [x0, y0], [x1, y1]) {
  const steps = Math.max(1, Math.ceil(2 * Math.hypot(x1 - x0, y1 - y0)));
  for (let step = 0; step <= steps; ++step) {
    const x = x0 + ((x1 - x0) * step) / steps, y = y0 + ((y1 - y0) * step) / steps;
    for (let row = Math.max(0, Math.floor(y - radius)); row <= Math.min(grid - 1, y + radius); ++row)
      for (let column = Math.max(0, Math.floor(x - radius)); column <= Math.min(grid - 1, x + radius); ++column)
        if (Math.hypot(column + 0.5 - x, row + 0.5 - y) <= radius) points[row * grid + column] = 1;
  }
}

/** 64 numbers from 0 to 16 of strokes, which are lists of [x, y] of any size and place. */
export function toPixels(strokes) {
  const all = strokes.flat();
  const low = [0, 1].map((axis) => Math.min(...all.map((point) => point[axis])));
  const high = [0, 1].map((axis) => Math.max(...all.map((point) => point[axis])));
  const scale = (grid - 2 * margin) / Math.max(high[0] - low[0], high[1] - low[1], 1);
  const fit = (point) => point.map((value, axis) => grid / 2 + (value - (low[axis] + high[axis]) / 2) * scale);
  const points = new Uint8Array(grid * grid), pixels = new Float32Array((grid / block) ** 2);
  for (const stroke of strokes) stroke.forEach((point, i) => draw(points, fit(stroke[Math.max(0, i - 1)]), fit(point)));
  points.forEach((point, i) => {
    const row = Math.floor(i / grid / block), column = Math.floor((i % grid) / block);
    pixels[row * (grid / block) + column] += point;
  });
  return pixels;
}
