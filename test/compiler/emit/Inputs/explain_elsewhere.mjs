// MODULE SIZES: what the module says about the sizes of each line. MODULE: runs with sizes that do not fit.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const { explain, load } = await import(pathToFileURL(process.argv[2]));
if (process.argv[3]) {
  for (const line of readFileSync(process.argv[3], "utf8").trim().split("\n")) {
    const [height, seq, rows, columns] = line.split(" ").map(Number);
    console.log(explain({ height, seq, rows, columns }));
  }
} else {
  const model = await load();
  const zeros = (...dims) => ({ data: new Float32Array(dims.reduce((product, dim) => product * dim)), dims });
  const inputs = (height, seq) => ({ x: zeros(1, 1, height, 8), t: zeros(seq, 2), a: zeros(2, 3), b: zeros(3, 3), c: zeros(1, 2, seq) });
  model.run(inputs(8, 2));
  for (const call of [() => model.run(inputs(6, 2)), () => model.run(inputs(8, 7)), () => explain({ height: 8 })]) {
    try {
      call();
    } catch (error) {
      console.log(error.status, error.message);
    }
  }
}
