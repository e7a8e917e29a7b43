import { load } from "./m.mjs";

const decodeImage = async () => ({ data: new Uint8Array([1, 2, 3]), width: 1, height: 1 });
const inputs = {
  file: { data: new Uint8Array(1), dims: [1] },
  x: { data: Float32Array.from({ length: 192 * 2000 }, (_, i) => Math.sin(i)), dims: [2000, 192] },
};
const one = await load({ decodeImage }), three = await load({ threads: 3, decodeImage });
console.log(`threads: ${one.threads} ${three.threads}`);
const expected = await one.runAsync(inputs), found = await three.runAsync(inputs);
console.log(`same: ${expected.y.data.every((value, i) => value === found.y.data[i])}`);
console.log(`pixels: ${Array.from(found.rgb.data)}`);
three.close();
