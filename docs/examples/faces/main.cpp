// Finds the faces in a picture and draws boxes around them.
// Usage: faces PICTURE RESULT.ppm
#include "detector.hpp"

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

/// Parts of the picture's width and height, from 0 to 1.
struct Face {
  float left, top, right, bottom, score;
  float area() const { return std::max(right - left, 0.0f) * std::max(bottom - top, 0.0f); }
};

void check(kiln_status status, const std::string &what) {
  if (status != KILN_STATUS_OK)
    throw std::runtime_error(what + ": " + kiln_status_string(status));
}

struct Picture {
  std::vector<uint8_t> bytes; // exactly the picture's pixels
  kiln_pixels pixels = {nullptr, 0, 0, 0, 0};

  explicit Picture(const std::string &path) {
    std::ifstream stream(path, std::ios::binary);
    const std::vector<char> file{std::istreambuf_iterator<char>(stream), {}};
    const uint8_t *data = reinterpret_cast<const uint8_t *>(file.data());
    int64_t channels;
    check(kiln_images_size(nullptr, data, int64_t(file.size()), &pixels.height, &pixels.width, &channels), path);
    pixels.channels = 3;
    pixels.stride = pixels.width * 3;
    bytes.resize(size_t(pixels.height * pixels.stride));
    pixels.data = bytes.data();
    check(kiln_images_read(nullptr, data, int64_t(file.size()), &pixels), path);
  }
};

/// How much of both faces is common to them.
float overlap(const Face &a, const Face &b) {
  const Face common = {std::max(a.left, b.left), std::max(a.top, b.top), std::min(a.right, b.right), std::min(a.bottom, b.bottom), 0};
  return common.area() / (a.area() + b.area() - common.area());
}

std::vector<Face> findFaces(const kiln_pixels &picture) {
  const kiln_preprocess how = DETECTOR_INPUT_PREPROCESS;
  std::vector<float> input(kiln_preprocess_size(&picture, &how) / sizeof(float));
  std::vector<uint64_t> scratch(kiln_preprocess_scratch_size(&picture, &how) / 8 + 1);
  check(kiln_pixels_tensor(&picture, &how, input.data(), input.size() * sizeof(float), scratch.data(), scratch.size() * 8), "the picture");
  detector_session detector;
  detector.input(input).run();
  const float *boxes = detector.boxes().data(), *scores = detector.scores().data(); // [1,4420,4] and [1,4420,2]: no face, face
  std::vector<Face> found, kept;
  for (int64_t i = 0; i < detector.boxes().extent(1); ++i, boxes += 4, scores += 2)
    if (scores[1] > 0.7f)
      found.push_back({boxes[0], boxes[1], boxes[2], boxes[3], scores[1]});
  std::sort(found.begin(), found.end(), [](const Face &a, const Face &b) { return a.score > b.score; });
  // Many boxes are around one face: the best counts.
  for (const Face &face : found)
    if (std::none_of(kept.begin(), kept.end(), [&](const Face &better) { return overlap(face, better) > 0.3f; }))
      kept.push_back(face);
  return kept;
}

/// A frame of two pixels within the picture.
void drawBox(kiln_pixels &picture, int64_t left, int64_t top, int64_t right, int64_t bottom) {
  for (int64_t y = std::max<int64_t>(top, 0); y < std::min(bottom, picture.height); ++y)
    for (int64_t x = std::max<int64_t>(left, 0); x < std::min(right, picture.width); ++x)
      if (x < left + 2 || x >= right - 2 || y < top + 2 || y >= bottom - 2)
        std::copy_n(std::initializer_list<uint8_t>{0, 255, 0}.begin(), 3, picture.data + y * picture.stride + 3 * x);
}

void run(const std::string &path, const std::string &result) {
  Picture picture(path);
  kiln_pixels &pixels = picture.pixels;
  for (const Face &face : findFaces(pixels)) {
    const int64_t left = int64_t(face.left * float(pixels.width)), top = int64_t(face.top * float(pixels.height));
    const int64_t right = int64_t(face.right * float(pixels.width)), bottom = int64_t(face.bottom * float(pixels.height));
    std::printf("face at %lld,%lld to %lld,%lld (%.1f %%)\n", (long long)left, (long long)top, (long long)right, (long long)bottom, double(100 * face.score));
    drawBox(pixels, left, top, right, bottom);
  }
  std::ofstream out(result, std::ios::binary);
  out << "P6 " << pixels.width << " " << pixels.height << " 255\n";
  out.write(reinterpret_cast<const char *>(picture.bytes.data()), std::streamsize(picture.bytes.size()));
  if (!out.flush())
    throw std::runtime_error(result + ": cannot be written");
}

} // namespace

int main(int argc, char **argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: faces PICTURE RESULT.ppm\n");
    return 2;
  }
  try {
    run(argv[1], argv[2]);
  } catch (const std::exception &error) {
    std::fprintf(stderr, "faces: %s\n", error.what());
    return 1;
  }
  return 0;
}
