// Finds the sentence that means most nearly the same: a transformer makes a vector of each sentence, and vectors are compared.
// Usage: similarity VOCABULARY SENTENCE OTHERS... - VOCABULARY is the file that make_model.py writes beside the model.
#include "encoder.hpp"
#include "unigram.hpp"

#include <algorithm>
#include <cstdio>

namespace {

constexpr size_t mostPieces = 128; // what the encoder was trained with

/// The cosine of the first sentence with each of the others, from one run for all.
std::vector<double> compare(const unigram &vocabulary, const std::vector<std::string> &sentences) {
  std::vector<std::vector<int64_t>> rows;
  size_t longest = 1;
  for (const std::string &sentence : sentences) {
    rows.push_back(vocabulary.encode(sentence));
    rows.back().resize(std::min(rows.back().size(), mostPieces));
    longest = std::max(longest, rows.back().size());
  }
  std::vector<int64_t> pieces(rows.size() * longest, -1); // -1 behind the end of a sentence
  for (size_t i = 0; i < rows.size(); ++i)
    std::copy(rows[i].begin(), rows[i].end(), pieces.begin() + ptrdiff_t(i * longest));
  encoder_session encoder;
  encoder.pieces(pieces, {int64_t(rows.size()), int64_t(longest)}).run();
  const kiln::tensor<float> vectors = encoder.vectors(); // [sentences,512], each of length 1
  const size_t width = size_t(vectors.extent(1));
  std::vector<double> cosines;
  for (size_t i = 1; i < rows.size(); ++i) {
    double cosine = 0;
    for (size_t k = 0; k < width; ++k)
      cosine += double(vectors.data()[k]) * vectors.data()[i * width + k];
    cosines.push_back(cosine);
  }
  return cosines;
}

void run(const std::string &vocabulary, const std::vector<std::string> &sentences) {
  const std::vector<double> cosines = compare(unigram(vocabulary), sentences);
  std::vector<std::pair<double, std::string>> ranking;
  for (size_t i = 1; i < sentences.size(); ++i)
    ranking.emplace_back(cosines[i - 1], sentences[i]);
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
