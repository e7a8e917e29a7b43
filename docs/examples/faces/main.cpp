// Finds the faces in a picture and draws boxes around them.
// Usage: faces PICTURE RESULT.ppm
#include "detector.hpp"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <kiln/images.hpp>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

/// Parts of the picture's width and height, from 0 to 1.
struct Face {
  float left, top, right, bottom, score;
  float area() const { return std::max(right - left, 0.0f) * std::max(bottom - top, 0.0f); }
};

/// How much of both faces is common to them.
float overlap(const Face &a, const Face &b) {
  const Face common = {std::max(a.left, b.left), std::max(a.top, b.top), std::min(a.right, b.right), std::min(a.bottom, b.bottom), 0};
  return common.area() / (a.area() + b.area() - common.area());
}

std::vector<Face> findFaces(const kiln_pixels &picture) {
  const std::vector<float> input = kiln::make_tensor<float>(picture, DETECTOR_INPUT_PREPROCESS);
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
void drawBox(kiln::picture &picture, int64_t left, int64_t top, int64_t right, int64_t bottom) {
  const uint8_t green[3] = {0, 255, 0};
  for (int64_t y = std::max<int64_t>(top, 0); y < std::min(bottom, picture.height()); ++y)
    for (int64_t x = std::max<int64_t>(left, 0); x < std::min(right, picture.width()); ++x)
      if (x < left + 2 || x >= right - 2 || y < top + 2 || y >= bottom - 2)
        std::copy_n(green, 3, picture.at(y, x));
}

void run(const std::string &path, const std::string &result) {
  kiln::picture picture(path, 3);
  const float height = float(picture.height()), width = float(picture.width());
  for (const Face &face : findFaces(picture)) {
    const int box[] = {int(face.left * width), int(face.top * height), int(face.right * width), int(face.bottom * height)};
    std::printf("face at %d,%d to %d,%d (%.1f %%)\n", box[0], box[1], box[2], box[3], double(100 * face.score));
    drawBox(picture, box[0], box[1], box[2], box[3]);
  }
  std::ofstream out(result, std::ios::binary);
  out << "P6 " << picture.width() << " " << picture.height() << " 255\n";
  out.write(reinterpret_cast<const char *>(picture.data().data()), std::streamsize(picture.data().size()));
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
