// Finds the sentence that means most nearly the same: a transformer makes a vector of each sentence, and vectors are compared.
// Usage: similarity VOCABULARY SENTENCE OTHERS... - VOCABULARY is the model's vocab.txt.
#include "encoder.hpp"
#include "wordpiece.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace {

constexpr size_t mostPieces = 256;

/// The sentences' vectors, of length 1, in one run: shorter sentences are padded, and the mask says where.
std::vector<std::vector<float>> embed(const wordpiece &pieces, const std::vector<std::string> &sentences) {
  std::vector<std::vector<int64_t>> rows;
  size_t longest = 0;
  for (const std::string &sentence : sentences) {
    rows.push_back(pieces.encode(sentence, mostPieces));
    longest = std::max(longest, rows.back().size());
  }
  std::vector<int64_t> ids(rows.size() * longest, 0), mask(ids.size(), 0), types(ids.size(), 0);
  for (size_t i = 0; i < rows.size(); ++i) {
    std::copy(rows[i].begin(), rows[i].end(), ids.begin() + ptrdiff_t(i * longest));
    std::fill_n(mask.begin() + ptrdiff_t(i * longest), rows[i].size(), 1);
  }
  encoder_session encoder;
  const int64_t batch = int64_t(rows.size()), length = int64_t(longest);
  encoder.input_ids(ids, {batch, length}).attention_mask(mask, {batch, length}).token_type_ids(types, {batch, length}).run();
  const kiln::tensor<float> hidden = encoder.last_hidden_state(); // [batch,length,width]
  const size_t width = size_t(hidden.extent(2));
  std::vector<std::vector<float>> vectors;
  for (size_t i = 0; i < rows.size(); ++i) {
    // The mean over the pieces; its length is no matter, so it is the sum.
    std::vector<float> vector(width, 0);
    for (size_t piece = 0; piece < rows[i].size(); ++piece)
      for (size_t k = 0; k < width; ++k)
        vector[k] += hidden.data()[(i * longest + piece) * width + k];
    double square = 0;
    for (float number : vector)
      square += double(number) * number;
    for (float &number : vector)
      number = float(number / std::sqrt(square));
    vectors.push_back(std::move(vector));
  }
  return vectors;
}

void run(const std::string &vocabulary, const std::vector<std::string> &sentences) {
  const std::vector<std::vector<float>> vectors = embed(wordpiece(vocabulary), sentences);
  std::vector<std::pair<double, std::string>> ranking;
  for (size_t i = 1; i < sentences.size(); ++i) {
    double cosine = 0;
    for (size_t k = 0; k < vectors[0].size(); ++k)
      cosine += double(vectors[0][k]) * vectors[i][k];
    ranking.emplace_back(cosine, sentences[i]);
  }
  std::stable_sort(ranking.begin(), ranking.end(), [](const auto &a, const auto &b) { return a.first > b.first; });
  for (const auto &[cosine, sentence] : ranking)
    std::printf("%7.4f  %s\n", cosine, sentence.c_str());
}

} // namespace

int main(int argc, char **argv) {
  if (argc < 4) {
    std::fprintf(stderr, "usage: similarity VOCABULARY SENTENCE OTHERS...\n");
    return 2;
  }
  try {
    run(argv[1], std::vector<std::string>(argv + 2, argv + argc));
  } catch (const std::exception &error) {
    std::fprintf(stderr, "similarity: %s\n", error.what());
    return 1;
  }
  return 0;
}
