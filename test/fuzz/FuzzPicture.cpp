//===- FuzzPicture.cpp - Any bytes as a picture ----------------------------===//
#include "compiler/run/Image.h"
#include "kiln/images.h"
#include "test/fuzz/Target.h"

using namespace kiln;

/// As `kiln run` does it, for an input of any size.
static void readAsInput(llvm::StringRef bytes) {
  constexpr int64_t dims[] = {1, -1, -1, -1};
  llvm::Expected<Image> size = readImageSize(bytes);
  if (!size)
    return expectReason(size.takeError());
  llvm::Expected<Image> image = readImage(bytes, 1 << 20);
  if (!image)
    return expectReason(image.takeError());
  expect(image->width == size->width && image->height == size->height, "two sizes of one picture");
  llvm::Expected<Tensor> tensor = makeTensor(*image, KILN_ELEMENT_F32, dims, {});
  if (!tensor)
    return expectReason(tensor.takeError());
  expect(tensor->isGuardIntact() && tensor->getNumElements() == image->width * image->height * image->channels, "not all pixels in the tensor");
}

/// As a model with ImageDecoder does it.
static void decode(const uint8_t *data, size_t size, kiln_pixel_format format) {
  static uint8_t pixels[512 * 512 * 3];
  kiln_images images = KILN_IMAGES_INIT;
  kiln_image image = {};
  image.bytes = data;
  image.size = int64_t(size);
  image.format = format;
  image.channels = format == KILN_PIXELS_GRAYSCALE ? 1 : 3;
  image.max_width = image.max_height = 512;
  image.pixels = pixels;
  kiln_status status = kiln_images_decode(&images, &image);
  expect(status == KILN_STATUS_OK || images.message[0], "refused without a reason");
  expect(status != KILN_STATUS_OK || (image.width >= 1 && image.width <= 512 && image.height >= 1 && image.height <= 512), "a picture without a size");
}

/// As a program does it whose model takes small pictures.
static void makeSmall(const uint8_t *data, size_t size) {
  kiln_images images = KILN_IMAGES_INIT;
  images.max_pixels = 1 << 20;
  kiln_preprocess how = KILN_PREPROCESS_INIT;
  how.height = how.width = 16;
  how.channels = 3;
  how.fit = size % 2 ? KILN_FIT_LETTERBOX : KILN_FIT_COVER;
  how.filter = int32_t(size % 8);
  float tensor[3 * 16 * 16];
  kiln_status status = kiln_images_tensor(&images, data, int64_t(size), &how, tensor, sizeof(tensor));
  expect(status == KILN_STATUS_OK || images.message[0], "refused without a reason");
  for (float number : tensor)
    expect(status != KILN_STATUS_OK || (number >= 0 && number <= 1), "a number outside of the pixels' range");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  readAsInput(llvm::StringRef(reinterpret_cast<const char *>(data), size));
  decode(data, size, KILN_PIXELS_RGB);
  decode(data, size, KILN_PIXELS_GRAYSCALE);
  makeSmall(data, size);
  return 0;
}
