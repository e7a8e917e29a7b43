// Runs one job of `record`: the model with one set of inputs after the other through ONNX Runtime, one thread, no graph optimisation.
import {readFileSync, writeFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import {join} from 'node:path';

const arrays = {
  float32 : Float32Array,
  float64 : Float64Array,
  int64 : BigInt64Array,
  int32 : Int32Array,
  int8 : Int8Array,
  uint8 : Uint8Array,
  bool : Uint8Array
};
const job = JSON.parse(readFileSync(process.argv[2]));
const ort = createRequire(import.meta.url)(job.module);
const options = {graphOptimizationLevel : 'disabled', intraOpNumThreads : 1, interOpNumThreads : 1, logSeverityLevel : 3};
if (job.optimized) {
  // The model as its optimiser leaves it, and no run.
  await ort.InferenceSession.create(job.model, {...options, graphOptimizationLevel : job.level, optimizedModelFilePath : job.optimized});
  process.exit(0);
}
const session = await ort.InferenceSession.create(job.model, options);

const results = [];
for (const [run, inputs] of job.runs.entries()) {
  const feeds = {};
  for (const {name, type, dims, file} of inputs) {
    const bytes = new Uint8Array(readFileSync(join(job.folder, file)));
    feeds[name] = new ort.Tensor(type, new arrays[type](bytes.buffer, 0, bytes.length / arrays[type].BYTES_PER_ELEMENT), dims);
  }
  const answers = await session.run(feeds);
  results.push(session.outputNames.map((name, index) => {
    const {type, dims, data} = answers[name];
    writeFileSync(join(job.folder, `out_${run}_${index}`), new Uint8Array(data.buffer, data.byteOffset, data.byteLength));
    return {name, type, dims, file : `out_${run}_${index}`};
  }));
}
writeFileSync(join(job.folder, 'results.json'), JSON.stringify(results));
