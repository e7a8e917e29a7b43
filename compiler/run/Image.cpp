//===- Image.cpp - Pictures as input tensors -------------------------------===//
#include "compiler/run/Image.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <png.h>

using llvm::StringRef;
using llvm::Twine;

namespace kiln {

namespace {

constexpr int64_t maxPixels = int64_t(1) << 28;

llvm::Expected<Image> readPng(StringRef bytes) {
  png_image png = {};
  png.version = PNG_IMAGE_VERSION;
  auto fail = [&]() { return makeError("the PNG file cannot be read: " + Twine(png.message)); };
  if (!png_image_begin_read_from_memory(&png, bytes.data(), bytes.size()))
    return fail();
  std::string fault;
  if (png.format & PNG_FORMAT_FLAG_LINEAR)
    fault = "the PNG file has 16 bits a channel, expected 8";
  else if (int64_t(png.width) * png.height > maxPixels)
    fault = "the PNG file has more than 2^28 pixels";
  if (!fault.empty()) {
    png_image_free(&png);
    return makeError(fault);
  }
  // A palette becomes the colours it stands for.
  png.format &= PNG_FORMAT_FLAG_COLOR | PNG_FORMAT_FLAG_ALPHA;
  Image image;
  image.width = png.width;
  image.height = png.height;
  image.channels = PNG_IMAGE_PIXEL_CHANNELS(png.format);
  image.pixels.resize(PNG_IMAGE_SIZE(png));
  if (!png_image_finish_read(&png, nullptr, image.pixels.data(), 0, nullptr))
    return fail();
  return image;
}

// A number of the header; blanks and comments may stand before it.
bool takeNumber(StringRef &text, int64_t &number) {
  text = text.ltrim();
  while (text.starts_with("#"))
    text = text.drop_until([](char c) { return c == '\n'; }).ltrim();
  return !text.consumeInteger(10, number) && number > 0;
}

llvm::Expected<Image> readPnm(StringRef bytes) {
  Image image;
  image.channels = bytes[1] == '6' ? 3 : 1;
  StringRef text = bytes.drop_front(2);
  int64_t brightest;
  if (!takeNumber(text, image.width) || !takeNumber(text, image.height) || !takeNumber(text, brightest) || text.empty())
    return makeError("the header of the PPM file is malformed");
  if (brightest > 255)
    return makeError("the PPM file has 16 bits a channel, expected 8");
  if (image.width > maxPixels || image.height > maxPixels || image.width * image.height > maxPixels)
    return makeError("the PPM file has more than 2^28 pixels");
  text = text.drop_front(); // one blank
  size_t size = size_t(image.width * image.height * image.channels);
  if (text.size() < size)
    return makeError("the PPM file is cut off: " + Twine(text.size()) + " bytes of pixels, expected " + Twine(size));
  image.pixels.assign(text.bytes_begin(), text.bytes_begin() + size);
  return image;
}

/// Where height, width and channels stand in the dimensions; -1: no such dimension.
struct Axes {
  int64_t batch = -1, channels = -1, height = 0, width = 1;
};

llvm::Expected<Axes> findAxes(size_t rank, bool channelsLast) {
  if (rank < 2 || rank > 4)
    return makeError("an image goes into an input of rank 2 to 4, but this one has rank " + Twine(rank));
  int64_t batch = rank == 4 ? 0 : -1, first = rank == 4;
  if (rank == 2)
    return Axes{};
  if (channelsLast)
    return Axes{batch, first + 2, first, first + 1};
  return Axes{batch, first, first + 1, first + 2};
}

double pick(llvm::ArrayRef<double> values, int64_t channel, double fallback) {
  return values.empty() ? fallback : values[values.size() == 1 ? 0 : channel];
}

} // namespace

bool isImage(StringRef bytes) { return bytes.starts_with("\x89PNG") || bytes.starts_with("P5") || bytes.starts_with("P6"); }

llvm::Expected<Image> readImage(StringRef bytes) {
  if (bytes.starts_with("\x89PNG"))
    return readPng(bytes);
  if (bytes.starts_with("P5") || bytes.starts_with("P6"))
    return readPnm(bytes);
  return makeError("not a PNG, PGM (P5) or PPM (P6) file");
}

llvm::Expected<Tensor> makeTensor(const Image &image, ElementType type, llvm::ArrayRef<int64_t> dims, const ImageOptions &options) {
  StringRef layout = options.layout;
  bool reversed = layout.consume_front("bgr-");
  if (layout != "nchw" && layout != "nhwc")
    return makeError("image layout '" + options.layout + "' is not known: expected nchw, nhwc, bgr-nchw or bgr-nhwc");
  llvm::Expected<Axes> axes = findAxes(dims.size(), layout == "nhwc");
  if (!axes)
    return axes.takeError();
  llvm::SmallVector<int64_t> shape(dims.size(), 1);
  shape[axes->height] = image.height;
  shape[axes->width] = image.width;
  int64_t channels = image.channels;
  if (axes->channels >= 0) {
    if (channels == 1 && dims[axes->channels] == 3)
      channels = 3;
    shape[axes->channels] = channels;
  }
  for (auto [size, wanted] : llvm::zip_equal(shape, dims))
    if ((wanted >= 0 && size != wanted) || (axes->channels < 0 && channels != 1))
      return makeError("a picture of " + Twine(image.width) + "x" + Twine(image.height) + " with " + Twine(image.channels) + " channels (" + layout +
                       ") does not fit [" + llvm::join(llvm::map_range(dims, [](int64_t dim) { return dim < 0 ? "?" : std::to_string(dim); }), ",") +
                       "]; Kiln does not resize or convert pictures");
  for (size_t count : {options.mean.size(), options.std.size()})
    if (count > 1 && count != size_t(channels))
      return makeError("the image's mean and standard deviation need one value or one for each of " + Twine(channels) + " channels");

  llvm::Expected<Tensor> tensor = Tensor::create(type, shape);
  if (!tensor)
    return tensor;
  int64_t plane = image.width * image.height;
  int64_t pixelStep = layout == "nhwc" ? channels : 1, channelStep = layout == "nhwc" ? 1 : plane;
  for (int64_t channel = 0; channel < channels; ++channel) {
    int64_t source = image.channels == 1 ? 0 : reversed && channel < 3 ? 2 - channel : channel;
    double mean = pick(options.mean, channel, 0), deviation = pick(options.std, channel, 1);
    for (int64_t pixel = 0; pixel < plane; ++pixel)
      tensor->setValue(pixel * pixelStep + channel * channelStep,
                       (image.pixels[pixel * image.channels + source] * options.scale - mean) / deviation);
  }
  return tensor;
}

} // namespace kiln
