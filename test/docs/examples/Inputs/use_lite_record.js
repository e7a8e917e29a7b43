// Writes use_lite.json: what TensorFlow.js computes of the package's own graph and by its own tokenizer.
// npm install @energetic-ai/core@0.2.0 @energetic-ai/embeddings@0.2.0 && node use_lite_record.js FOLDER > use_lite.json
//
// FOLDER has model.json, its weights and vocab.json.
const { loadGraphModel } = require("@energetic-ai/core");
const { initModel } = require("@energetic-ai/embeddings");
const { readFileSync } = require("node:fs");

const lines = [
  "How do I reset my password?",
  "  two  spaces   ",
  "ＦＵＬＬ width ﬁne… x²",
  "Straße naïve café 日本語 → ok",
  "supercalifragilisticexpialidocious antidisestablishmentarianism",
  "3.14159 @user #tag http://x.y/z?q=1&r=2",
  "",
  "日",
];
// The first of each is compared with the others.
const sentences = [
  ["How do I reset my password?", "I forgot my login", "What are the opening hours?", "Change the secret word of my account"],
  ["A man is playing a guitar.", "Somebody plays a musical instrument.", "The stock market fell sharply today.", "A woman is slicing onions in the kitchen."],
  ["The flight was delayed because of heavy snow.", "Bad weather made the plane late.", "My grandmother bakes an apple cake.", "The train leaves at ten."],
];

async function main(folder) {
  const source = async () => ({
    model: await loadGraphModel(`file://${folder}/model.json`),
    vocabulary: JSON.parse(readFileSync(`${folder}/vocab.json`, "utf8")),
  });
  const model = await initModel(source);
  const groups = [];
  for (const group of sentences) {
    const vectors = [];
    for (const sentence of group) vectors.push(await model.embed(sentence));
    groups.push({ sentences: group, cosines: vectors.slice(1).map((vector) => vector.reduce((sum, x, i) => sum + x * vectors[0][i], 0)), vector: vectors[0].map((x) => Number(x.toPrecision(8))) });
  }
  console.log(JSON.stringify({ lines: lines.map((text) => ({ text, pieces: model.tokenizer.encode(text) })), groups }));
}

main(process.argv[2]);
