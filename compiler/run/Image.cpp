//===- Image.cpp - Pictures as input tensors -------------------------------===//
#include "compiler/run/Image.h"
#include "compiler/emit/Preprocess.h"
#include "kiln/images.h"
#include "kiln/runtime.h"
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

} // namespace

static llvm::Error readHeader(StringRef bytes, PngReader &reader, Image &image, StringRef &pixels) {
  if (isImage(bytes))
    return isPng(bytes) ? readPngHeader(reader, bytes, image) : readPnmHeader(bytes, image, pixels);
  kiln_images images = KILN_IMAGES_INIT;
  images.max_pixels = INT64_MAX;
  kiln_status status = kiln_images_size(&images, bytes.bytes_begin(), bytes.size(), &image.height, &image.width, &image.channels);
  return status ? makeError("not a picture that can be read: " + Twine(images.message)) : llvm::Error::success();
}

bool isImage(StringRef bytes) { return isPng(bytes) || isPnm(bytes); }

bool isOtherImage(StringRef bytes) {
  static const StringRef starts[] = {"\xFF\xD8\xFF", "BM", "RIFF", "II*", "MM", "P1", "P2", "P3", "P4", "\xFF\x4F\xFF\x51", StringRef("\0\0\0\x0CjP", 6)};
  return llvm::any_of(starts, [&](StringRef start) { return bytes.starts_with(start); });
}

llvm::Expected<Image> readImageSize(StringRef bytes) {
  Image image;
  PngReader reader;
  StringRef pixels;
  if (llvm::Error error = readHeader(bytes, reader, image, pixels))
    return std::move(error);
  return image;
}

/// Pixels of formats that only libkiln_images knows.
static llvm::Error decode(StringRef bytes, Image &image, int64_t most) {
  kiln_images images = KILN_IMAGES_INIT;
  images.max_pixels = most;
  kiln_pixels pixels = {image.pixels.data(), image.height, image.width, image.channels, image.width * image.channels};
  kiln_status status = kiln_images_read(&images, bytes.bytes_begin(), bytes.size(), &pixels);
  return status ? makeError("the picture cannot be read: " + Twine(images.message)) : llvm::Error::success();
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
  if (!isPng(bytes)) {
    if (llvm::Error error = decode(bytes, image, most))
      return std::move(error);
    return image;
  }
  if (!png_image_finish_read(&reader.png, nullptr, image.pixels.data(), 0, nullptr))
    return reader.fail();
  return image;
}

namespace {

/// What the runtime is asked for, and the tensor's shape.
struct Request {
  kiln_pixels picture;
  kiln_preprocess how;
  llvm::SmallVector<int64_t> shape;
};

llvm::Expected<Request> makeRequest(const Image &image, ElementType type, llvm::ArrayRef<int64_t> dims, const ImageOptions &options) {
  llvm::Expected<ImageAxes> axes = findImageAxes(dims.size(), options);
  if (!axes)
    return axes.takeError();
  llvm::Expected<kiln_preprocess> how = makePreprocess(options, type, dims, image.channels);
  if (!how)
    return how.takeError();
  Request request{{const_cast<uint8_t *>(image.pixels.data()), image.height, image.width, image.channels, image.width * image.channels},
                  *how, llvm::SmallVector<int64_t>(dims.size(), 1)};
  request.shape[axes->height] = how->height ? how->height : image.height;
  request.shape[axes->width] = how->width ? how->width : image.width;
  if (axes->channels >= 0)
    request.shape[axes->channels] = how->channels ? how->channels : image.channels;
  kiln_placement placement;
  kiln_status status = kiln_preprocess_place(&request.picture, &request.how, &placement);
  bool fits = status == KILN_STATUS_OK;
  for (auto [size, wanted] : llvm::zip_equal(request.shape, dims))
    fits = fits && (wanted < 0 || size == wanted);
  if (fits)
    return request;
  std::string wanted = llvm::join(llvm::map_range(dims, [](int64_t dim) { return dim < 0 ? "?" : std::to_string(dim); }), ",");
  return makeError("a picture of " + Twine(image.width) + "x" + Twine(image.height) + " with " + Twine(image.channels) + " channels (" +
                   StringRef(options.layout).substr(StringRef(options.layout).starts_with("bgr-") ? 4 : 0) + ") does not fit [" + wanted +
                   "]; --image-fit resizes pictures");
}

} // namespace

llvm::Error checkImage(const Image &image, ElementType type, llvm::ArrayRef<int64_t> dims, const ImageOptions &options) {
  llvm::Expected<Request> request = makeRequest(image, type, dims, options);
  if (!request)
    return request.takeError();
  return Tensor::measure(type, request->shape).takeError();
}

llvm::Expected<Tensor> makeTensor(const Image &image, ElementType type, llvm::ArrayRef<int64_t> dims, const ImageOptions &options) {
  llvm::Expected<Request> request = makeRequest(image, type, dims, options);
  if (!request)
    return request.takeError();
  llvm::Expected<Tensor> tensor = Tensor::create(type, request->shape);
  if (!tensor)
    return tensor;
  size_t scratchSize = kiln_preprocess_scratch_size(&request->picture, &request->how);
  std::vector<uint64_t> scratch(scratchSize / 8 + 1);
  kiln_status status = kiln_pixels_tensor(&request->picture, &request->how, tensor->getData(), kiln_preprocess_size(&request->picture, &request->how),
                                          scratch.data(), scratchSize);
  return status ? llvm::Expected<Tensor>(makeError(Twine("the picture cannot become a tensor: ") + kiln_status_string(status))) : std::move(tensor);
}

} // namespace kiln
