// The same for text in straight rows, in sixty lines. Usage: ocr_short PICTURE CHARACTERS
#include "lines.hpp"
#include "reader.hpp"
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <kiln/images.hpp>

/// Where a row of numbers is above the threshold, with gaps of at most `gap`: the first position, and the one behind the last.
static std::vector<std::pair<int64_t, int64_t>> findRuns(const std::vector<float> &row, int64_t gap) {
  std::vector<std::pair<int64_t, int64_t>> runs;
  for (int64_t at = 0; at < int64_t(row.size()); ++at)
    if (row[size_t(at)] > 0.3f && (runs.empty() || at - runs.back().second > gap))
      runs.push_back({at, at + 1});
    else if (row[size_t(at)] > 0.3f)
      runs.back().second = at + 1;
  return runs;
}

int main(int argc, char **argv) try {
  std::ifstream file(argc > 2 ? argv[2] : "");
  std::vector<std::string> characters = {""};
  for (std::string line; std::getline(file, line);)
    characters.push_back(line);
  characters.push_back(" ");
  const kiln::picture picture(argc > 1 ? argv[1] : "");
  const int64_t height = (picture.height() + 31) / 32 * 32, width = (picture.width() + 31) / 32 * 32;
  lines_session lines;
  const std::vector<float> input = kiln::make_tensor<float>(picture, LINES_X_PREPROCESS, height, width);
  lines.x(input, {1, 3, height, width}).run();
  const float *map = lines.sigmoid_0_tmp_0().begin();
  std::vector<float> rows(static_cast<size_t>(height));
  for (int64_t y = 0; y < height; ++y)
    rows[size_t(y)] = *std::max_element(map + y * width, map + (y + 1) * width);
  reader_session reader;
  for (auto [top, bottom] : findRuns(rows, 0)) {
    std::vector<float> columns(static_cast<size_t>(width), 0.0f);
    for (int64_t at = top * width; at < bottom * width; ++at)
      columns[size_t(at % width)] = std::max(columns[size_t(at % width)], map[at]);
    const int64_t edge = (bottom - top) * 3 / 4 + 1; // the map has the core of each line only
    for (auto [left, right] : findRuns(columns, edge)) {
      const auto down = [&](int64_t at) { return std::clamp<int64_t>(at, 0, height) * picture.height() / height; };
      const auto across = [&](int64_t at) { return std::clamp<int64_t>(at, 0, width) * picture.width() / width; };
      const int64_t y = down(top - edge), x = across(left - edge);
      const kiln_pixels line = kiln::crop(picture, y, x, down(bottom + edge) - y, across(right + edge) - x);
      const int64_t extent = std::max<int64_t>(48 * line.width / line.height, 48);
      const std::vector<float> crop = kiln::make_tensor<float>(line, READER_X_PREPROCESS, 48, extent);
      reader.x(crop, {1, 3, 48, extent}).run();
      const kiln::tensor<float> scores = reader.softmax_11_tmp_0();
      const size_t classes = size_t(scores.extent(2));
      for (size_t at = 0, before = 0, best; at < scores.size(); at += classes, before = best) {
        best = size_t(std::max_element(scores.begin() + at, scores.begin() + at + classes) - scores.begin()) - at;
        std::printf("%s", best == before ? "" : characters.at(best).c_str());
      }
      std::printf("\n");
    }
  }
} catch (const std::exception &error) {
  return std::fprintf(stderr, "ocr_short: %s\n", error.what()), 1;
}
