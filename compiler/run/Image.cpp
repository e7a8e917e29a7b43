//===- Image.cpp - Pictures as input tensors -------------------------------===//
#include "compiler/run/Image.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"
#include <png.h>

using llvm::StringRef;
using llvm::Twine;

namespace kiln {

namespace {

/// What libpng's simplified reader has made of a file's header; freed with it.
struct PngReader {
  png_image png = {};
  PngReader() { png.version = PNG_IMAGE_VERSION; }
  ~PngReader() { png_image_free(&png); }
  llvm::Error fail() { return makeError("the PNG file cannot be read: " + Twine(png.message)); }
};

/// A deflated byte expands to at most 1032 bytes, and a pixel has at least one bit.
bool canHold(size_t fileBytes, int64_t width, int64_t height) {
  constexpr int64_t mostPixelsAByte = 1032 * 8;
  return width <= int64_t(fileBytes) * mostPixelsAByte / height;
}

llvm::Error readPngHeader(PngReader &reader, StringRef bytes, Image &image) {
  png_image &png = reader.png;
  if (!png_image_begin_read_from_memory(&png, bytes.data(), bytes.size()))
    return reader.fail();
  if (png.format & PNG_FORMAT_FLAG_LINEAR)
    return makeError("the PNG file has 16 bits per channel, expected 8");
  if (!canHold(bytes.size(), png.width, png.height))
    return makeError("the PNG file is cut off: " + Twine(bytes.size()) + " bytes hold no picture of " + Twine(png.width) + "x" + Twine(png.height));
  // Replace palette indices by their colours.
  png.format &= PNG_FORMAT_FLAG_COLOR | PNG_FORMAT_FLAG_ALPHA;
  image.width = png.width;
  image.height = png.height;
  image.channels = PNG_IMAGE_PIXEL_CHANNELS(png.format);
  return llvm::Error::success();
}

// A number of the header; blanks and comments may stand before it.
bool takeNumber(StringRef &text, int64_t &number) {
  text = text.ltrim();
  while (text.starts_with("#"))
    text = text.drop_until([](char c) { return c == '\n'; }).ltrim();
  return !text.consumeInteger(10, number) && number > 0;
}

/// Leaves the pixels in `text`.
llvm::Error readPnmHeader(StringRef bytes, Image &image, StringRef &text) {
  image.channels = bytes[1] == '6' ? 3 : 1;
  text = bytes.drop_front(2);
  int64_t brightest;
  if (!takeNumber(text, image.width) || !takeNumber(text, image.height) || !takeNumber(text, brightest) || text.empty())
    return makeError("the header of the PPM file is malformed");
  if (brightest > 255)
    return makeError("the PPM file has 16 bits per channel, expected 8");
  text = text.drop_front(); // one blank
  int64_t size;
  if (llvm::MulOverflow(image.width, image.height, size) || llvm::MulOverflow(size, image.channels, size) || uint64_t(size) > text.size())
    return makeError("the PPM file is cut off: " + Twine(text.size()) + " bytes of pixels, expected " + Twine(image.width) + "x" + Twine(image.height) +
                     "x" + Twine(image.channels));
  return llvm::Error::success();
}

llvm::Error checkPixels(const Image &image, int64_t most) {
  if (image.width <= most / image.height)
    return llvm::Error::success();
  return makeError("the picture has " + Twine(image.width) + "x" + Twine(image.height) + " pixels, more than the limit of " + Twine(most));
}

bool isPng(StringRef bytes) { return bytes.starts_with("\x89PNG"); }
bool isPnm(StringRef bytes) { return bytes.starts_with("P5") || bytes.starts_with("P6"); }

/// The positions of height, width and channels among the dimensions; -1: no such dimension.
struct Axes {
  int64_t batch = -1, channels = -1, height = 0, width = 1;
};

llvm::Expected<Axes> findAxes(size_t rank, bool channelsLast) {
  if (rank < 2 || rank > 4)
    return makeError("an image needs an input of rank 2 to 4, but this input has rank " + Twine(rank));
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

static llvm::Error readHeader(StringRef bytes, PngReader &reader, Image &image, StringRef &pixels) {
  if (!isImage(bytes))
    return makeError("not a PNG, PGM (P5) or PPM (P6) file");
  return isPng(bytes) ? readPngHeader(reader, bytes, image) : readPnmHeader(bytes, image, pixels);
}

bool isImage(StringRef bytes) { return isPng(bytes) || isPnm(bytes); }

llvm::Expected<Image> readImageSize(StringRef bytes) {
  Image image;
  PngReader reader;
  StringRef pixels;
  if (llvm::Error error = readHeader(bytes, reader, image, pixels))
    return std::move(error);
  return image;
}

llvm::Expected<Image> readImage(StringRef bytes, int64_t most) {
  Image image;
  PngReader reader;
  StringRef pixels;
  if (llvm::Error error = readHeader(bytes, reader, image, pixels))
    return std::move(error);
  if (llvm::Error error = checkPixels(image, most))
    return std::move(error);
  size_t size = size_t(image.width * image.height * image.channels);
  if (isPnm(bytes)) {
    image.pixels.assign(pixels.bytes_begin(), pixels.bytes_begin() + size);
    return image;
  }
  image.pixels.resize(size);
  if (!png_image_finish_read(&reader.png, nullptr, image.pixels.data(), 0, nullptr))
    return reader.fail();
  return image;
}

namespace {

/// How the picture's values lie in the tensor.
struct Placement {
  llvm::SmallVector<int64_t> shape;
  int64_t channels;
  bool channelsLast, reversed;
};

llvm::Expected<Placement> place(const Image &image, llvm::ArrayRef<int64_t> dims, const ImageOptions &options) {
  StringRef layout = options.layout;
  bool reversed = layout.consume_front("bgr-");
  if (layout != "nchw" && layout != "nhwc")
    return makeError("image layout '" + options.layout + "' is not known: expected nchw, nhwc, bgr-nchw or bgr-nhwc");
  llvm::Expected<Axes> axes = findAxes(dims.size(), layout == "nhwc");
  if (!axes)
    return axes.takeError();
  Placement placement{llvm::SmallVector<int64_t>(dims.size(), 1), image.channels, layout == "nhwc", reversed};
  placement.shape[axes->height] = image.height;
  placement.shape[axes->width] = image.width;
  if (axes->channels >= 0) {
    if (image.channels == 1 && dims[axes->channels] == 3)
      placement.channels = 3;
    placement.shape[axes->channels] = placement.channels;
  }
  for (auto [size, wanted] : llvm::zip_equal(placement.shape, dims))
    if ((wanted >= 0 && size != wanted) || (axes->channels < 0 && image.channels != 1))
      return makeError("a picture of " + Twine(image.width) + "x" + Twine(image.height) + " with " + Twine(image.channels) + " channels (" + layout +
                       ") does not fit [" + llvm::join(llvm::map_range(dims, [](int64_t dim) { return dim < 0 ? "?" : std::to_string(dim); }), ",") +
                       "]; Kiln does not resize or convert pictures");
  for (size_t count : {options.mean.size(), options.std.size()})
    if (count > 1 && count != size_t(placement.channels))
      return makeError("the image's mean and standard deviation need one value or one for each of " + Twine(placement.channels) + " channels");
  return placement;
}

} // namespace

llvm::Error checkImage(const Image &image, ElementType type, llvm::ArrayRef<int64_t> dims, const ImageOptions &options) {
  llvm::Expected<Placement> placement = place(image, dims, options);
  if (!placement)
    return placement.takeError();
  return Tensor::measure(type, placement->shape).takeError();
}

llvm::Expected<Tensor> makeTensor(const Image &image, ElementType type, llvm::ArrayRef<int64_t> dims, const ImageOptions &options) {
  llvm::Expected<Placement> placement = place(image, dims, options);
  if (!placement)
    return placement.takeError();
  llvm::Expected<Tensor> tensor = Tensor::create(type, placement->shape);
  if (!tensor)
    return tensor;
  int64_t plane = image.width * image.height, channels = placement->channels;
  int64_t pixelStep = placement->channelsLast ? channels : 1, channelStep = placement->channelsLast ? 1 : plane;
  for (int64_t channel = 0; channel < channels; ++channel) {
    int64_t source = image.channels == 1 ? 0 : placement->reversed && channel < 3 ? 2 - channel : channel;
    double mean = pick(options.mean, channel, 0), deviation = pick(options.std, channel, 1);
    for (int64_t pixel = 0; pixel < plane; ++pixel)
      tensor->setValue(pixel * pixelStep + channel * channelStep,
                       (image.pixels[pixel * image.channels + source] * options.scale - mean) / deviation);
  }
  return tensor;
}

} // namespace kiln
