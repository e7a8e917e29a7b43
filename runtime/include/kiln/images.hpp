// Pictures in C++17 programs: kiln/images.h with memory that is looked after, and faults that are thrown.
//
//     kiln::picture photo("photo.jpg");
//     std::vector<float> input = kiln::make_tensor<float>(photo, NET_X_PREPROCESS);
//
// Link libkiln_images.a (Kiln::images). Faults are std::runtime_error, whose text names the file or the call and says what is wrong.
#ifndef KILN_IMAGES_HPP
#define KILN_IMAGES_HPP

#include "kiln/images.h"

#include <fstream>
#include <ios>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

namespace kiln {

// A picture that owns its pixels, of which it has exactly as many as it needs. It can be moved, not copied.
class picture {
public:
  // Decodes a file, to 1 channel (gray) or 3 (colours); 0: as the file has it.
  explicit picture(const std::string &path, int64_t channels = 0) {
    std::ifstream stream(path, std::ios::binary);
    const std::vector<char> file{std::istreambuf_iterator<char>(stream), {}};
    if (!stream)
      throw std::runtime_error(path + ": cannot be read");
    read(path, reinterpret_cast<const uint8_t *>(file.data()), int64_t(file.size()), channels);
  }
  // Decodes a file in memory.
  picture(const uint8_t *file, int64_t bytes, int64_t channels = 0) { read("picture", file, bytes, channels); }
  // Black pixels.
  picture(int64_t height, int64_t width, int64_t channels) { allocate(height, width, channels); }

  picture(picture &&) = default;
  picture &operator=(picture &&) = default;

  int64_t height() const { return view.height; }
  int64_t width() const { return view.width; }
  int64_t channels() const { return view.channels; }
  // The channels of a pixel.
  uint8_t *at(int64_t y, int64_t x) { return view.data + y * view.stride + x * view.channels; }
  const uint8_t *at(int64_t y, int64_t x) const { return view.data + y * view.stride + x * view.channels; }
  // All pixels, without gaps between rows.
  const std::vector<uint8_t> &data() const { return bytes; }
  operator const kiln_pixels &() const { return view; }

private:
  std::vector<uint8_t> bytes;
  kiln_pixels view = {nullptr, 0, 0, 0, 0};

  void allocate(int64_t height, int64_t width, int64_t channels) {
    bytes.assign(size_t(height * width * channels), 0);
    view = {bytes.data(), height, width, channels, width * channels};
  }
  void read(const std::string &name, const uint8_t *file, int64_t size, int64_t wanted) {
    kiln_images images = KILN_IMAGES_INIT;
    int64_t height, width, channels;
    kiln_status status = kiln_images_size(&images, file, size, &height, &width, &channels);
    if (status == KILN_STATUS_OK) {
      allocate(height, width, wanted ? wanted : channels);
      status = kiln_images_read(&images, file, size, &view);
    }
    if (status != KILN_STATUS_OK)
      throw std::runtime_error(name + ": " + (images.message[0] ? std::string(images.message) : "status " + std::to_string(int(status))));
  }
};

// A part of a picture, whose pixels they share. It must be within the picture.
inline kiln_pixels crop(const kiln_pixels &picture, int64_t top, int64_t left, int64_t height, int64_t width) {
  kiln_pixels part;
  if (kiln_pixels_crop(&picture, top, left, height, width, &part) != KILN_STATUS_OK)
    throw std::runtime_error("crop: " + std::to_string(height) + "x" + std::to_string(width) + " pixels at " + std::to_string(top) + "," + std::to_string(left) +
                             " are not within a picture of " + std::to_string(picture.height) + "x" + std::to_string(picture.width));
  return part;
}

// The tensor of a picture. T has the size of how.element_type.
template <typename T> std::vector<T> make_tensor(const kiln_pixels &picture, const kiln_preprocess &how) {
  const size_t size = kiln_preprocess_size(&picture, &how), scratchSize = kiln_preprocess_scratch_size(&picture, &how);
  const std::string shape = std::to_string(picture.height) + "x" + std::to_string(picture.width) + "x" + std::to_string(picture.channels);
  if (size == SIZE_MAX || size % sizeof(T))
    throw std::runtime_error("make_tensor: a picture of " + shape + " cannot become such a tensor");
  std::vector<T> tensor(size / sizeof(T));
  std::vector<uint64_t> scratch(scratchSize / 8 + 1);
  const kiln_status status = kiln_pixels_tensor(&picture, &how, tensor.data(), size, scratch.data(), scratch.size() * 8);
  if (status != KILN_STATUS_OK)
    throw std::runtime_error("make_tensor: a picture of " + shape + ": status " + std::to_string(int(status)));
  return tensor;
}
// The same with a height and width of the tensor's own.
template <typename T> std::vector<T> make_tensor(const kiln_pixels &picture, kiln_preprocess how, int64_t height, int64_t width) {
  how.height = height;
  how.width = width;
  return make_tensor<T>(picture, how);
}

} // namespace kiln

#endif // KILN_IMAGES_HPP
