// Reads the text of a picture: one model finds the lines, another reads each of them.
// Usage: ocr PICTURE CHARACTERS - CHARACTERS is the text file with the characters that the second model knows, one on each line.
#include "lines.hpp"
#include "reader.hpp"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <kiln/images.h>
#include <kiln/runtime.h>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

struct Box {
  int64_t top, left, bottom, right; // the last two are not part of it
};

void check(kiln_status status, const std::string &what) {
  if (status != KILN_STATUS_OK)
    throw std::runtime_error(what + ": " + kiln_status_string(status));
}

/// The picture's pixels; `bytes` becomes their memory, exactly as large as they are.
kiln_pixels readPicture(const std::string &path, std::vector<uint8_t> &bytes) {
  std::ifstream stream(path, std::ios::binary);
  const std::vector<char> file{std::istreambuf_iterator<char>(stream), {}};
  const uint8_t *data = reinterpret_cast<const uint8_t *>(file.data());
  kiln_pixels picture = {nullptr, 0, 0, 0, 0};
  check(kiln_images_size(nullptr, data, int64_t(file.size()), &picture.height, &picture.width, &picture.channels), path);
  picture.stride = picture.width * picture.channels;
  bytes.resize(size_t(picture.height * picture.stride));
  picture.data = bytes.data();
  check(kiln_images_read(nullptr, data, int64_t(file.size()), &picture), path);
  return picture;
}

/// The picture as a model's input of this height and width.
std::vector<float> makeTensor(const kiln_pixels &picture, kiln_preprocess how, int64_t height, int64_t width) {
  how.height = height;
  how.width = width;
  std::vector<float> tensor(size_t(3 * height * width));
  std::vector<uint64_t> scratch(kiln_preprocess_scratch_size(&picture, &how) / 8 + 1);
  check(kiln_pixels_tensor(&picture, &how, tensor.data(), tensor.size() * sizeof(float), scratch.data(), scratch.size() * 8), "a picture");
  return tensor;
}

/// The rectangle around the text that is connected with pixel `start`, which it takes out of the map; empty if that is hardly text.
Box takeText(std::vector<float> &map, int64_t height, int64_t width, int64_t start) {
  Box box = {height, width, 0, 0};
  std::vector<int64_t> open = {start};
  double sum = 0, count = 0;
  while (!open.empty()) {
    const int64_t at = open.back(), y = at / width, x = at % width;
    open.pop_back();
    if (map[size_t(at)] <= 0.3f)
      continue;
    sum += map[size_t(at)], ++count;
    map[size_t(at)] = 0;
    box = {std::min(box.top, y), std::min(box.left, x), std::max(box.bottom, y + 1), std::max(box.right, x + 1)};
    for (int64_t next : {x > 0 ? at - 1 : at, x + 1 < width ? at + 1 : at, y > 0 ? at - width : at, y + 1 < height ? at + width : at})
      open.push_back(next);
  }
  return sum < 0.6 * count || box.bottom - box.top < 3 ? Box{0, 0, 0, 0} : box;
}

/// The pieces of text from top to bottom and from left to right, in the picture's pixels.
std::vector<Box> findLines(const kiln_pixels &picture) {
  // The model takes sides that are multiples of 32; larger pictures than 960 gain nothing.
  const double scale = std::min(1.0, 960.0 / double(std::max(picture.height, picture.width)));
  const auto fit = [&](int64_t side) { return std::max<int64_t>(int64_t(double(side) * scale / 32 + 0.5), 1) * 32; };
  const int64_t height = fit(picture.height), width = fit(picture.width);
  lines_session lines;
  const std::vector<float> tensor = makeTensor(picture, LINES_X_PREPROCESS, height, width);
  lines.x(tensor, {1, 3, height, width}).run();
  std::vector<float> map(lines.sigmoid_0_tmp_0().begin(), lines.sigmoid_0_tmp_0().end());
  std::vector<Box> found;
  for (int64_t at = 0; at < height * width; ++at) {
    Box box = map[size_t(at)] > 0.3f ? takeText(map, height, width, at) : Box{0, 0, 0, 0};
    if (box.bottom == 0)
      continue;
    // The map has the core of each line only.
    const int64_t h = box.bottom - box.top, w = box.right - box.left, more = 3 * h * w / (4 * (h + w)) + 1;
    found.push_back({std::max<int64_t>(box.top - more, 0) * picture.height / height, std::max<int64_t>(box.left - more, 0) * picture.width / width,
                     std::min(box.bottom + more, height) * picture.height / height, std::min(box.right + more, width) * picture.width / width});
  }
  // As one reads: what begins above the middle of a box is in its row.
  std::sort(found.begin(), found.end(), [](const Box &a, const Box &b) { return a.top < b.top; });
  for (auto row = found.begin(); row != found.end();) {
    const auto next = std::find_if(row, found.end(), [&](const Box &box) { return 2 * box.top >= row->top + row->bottom; });
    std::sort(row, next, [](const Box &a, const Box &b) { return a.left < b.left; });
    row = next;
  }
  return found;
}

std::string readLine(reader_session &reader, const kiln_pixels &line, const std::vector<std::string> &characters) {
  const int64_t width = std::max<int64_t>(48 * line.width / line.height, 48);
  const std::vector<float> tensor = makeTensor(line, READER_X_PREPROCESS, 48, width);
  reader.x(tensor, {1, 3, 48, width}).run();
  const kiln::tensor<float> scores = reader.softmax_11_tmp_0();
  std::string text;
  // For each step one of: 0 (nothing), a character, or the last, a blank. What is the same as in the step before counts once.
  size_t before = 0;
  const size_t classes = size_t(scores.extent(2));
  for (const float *step = scores.begin(); step != scores.end(); step += classes) {
    const size_t best = size_t(std::max_element(step, step + classes) - step);
    if (best && best != before)
      text += best <= characters.size() ? characters[best - 1] : " ";
    before = best;
  }
  return text;
}

int run(const std::string &path, const std::string &list) {
  std::ifstream stream(list);
  std::vector<std::string> characters;
  for (std::string line; std::getline(stream, line);)
    characters.push_back(line);
  std::vector<uint8_t> bytes;
  const kiln_pixels picture = readPicture(path, bytes);
  reader_session reader;
  for (const Box &box : findLines(picture)) {
    kiln_pixels line;
    check(kiln_pixels_crop(&picture, box.top, box.left, box.bottom - box.top, box.right - box.left, &line), "a line");
    std::printf("%s\n", readLine(reader, line, characters).c_str());
  }
  return 0;
}

} // namespace

int main(int argc, char **argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: ocr PICTURE CHARACTERS\n");
    return 2;
  }
  try {
    return run(argv[1], argv[2]);
  } catch (const std::exception &error) {
    std::fprintf(stderr, "ocr: %s\n", error.what());
    return 1;
  }
}
