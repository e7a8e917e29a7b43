// Tensors of pictures: where the picture comes to lie, its new size, and its numbers.
#include "Resize.h"

#include "kiln/convert.h"

#include <limits>
#include <string.h>

using namespace kiln_images_lib;

namespace {

int64_t elementBytes(int32_t type) {
  switch (type) {
  case KILN_ELEMENT_U8:
  case KILN_ELEMENT_I8:
    return 1;
  case KILN_ELEMENT_F16:
  case KILN_ELEMENT_BF16:
  case KILN_ELEMENT_U16:
  case KILN_ELEMENT_I16:
    return 2;
  case KILN_ELEMENT_F32:
  case KILN_ELEMENT_U32:
  case KILN_ELEMENT_I32:
    return 4;
  case KILN_ELEMENT_F64:
  case KILN_ELEMENT_U64:
  case KILN_ELEMENT_I64:
    return 8;
  default:
    return 0;
  }
}

// Everything that follows from the sizes and the options.
struct Plan {
  int64_t height, width; // of the tensor
  int32_t channels;
  kiln_placement placement;
  int64_t tensorSize; // bytes
  int64_t scratchSize;
  int64_t resizedSize; // bytes of the resized picture, at the end of the scratch memory
};

// side * to / from, rounded to the nearest, at least 1.
int64_t scaleSide(int64_t side, int64_t to, int64_t from) {
  const int64_t scaled = (2 * side * to + from) / (2 * from);
  return scaled < 1 ? 1 : scaled;
}

// As torchvision: the longer side is cut to a whole number, and the middle rounds to even.
int64_t middleOf(int64_t whole, int64_t part) {
  const int64_t rest = whole - part, half = rest / 2;
  return half + (rest % 2 && half % 2 ? 1 : 0);
}

kiln_status fitPicture(const kiln_pixels &picture, const kiln_preprocess &how, Plan &plan) {
  kiln_placement &place = plan.placement;
  place = {plan.height, plan.width, 0, 0};
  const bool isWider = picture.width * plan.height > plan.width * picture.height;
  switch (how.fit) {
  case KILN_FIT_NONE:
    return picture.height == plan.height && picture.width == plan.width ? KILN_STATUS_OK : KILN_STATUS_DIMENSION_MISMATCH;
  case KILN_FIT_STRETCH:
    return KILN_STATUS_OK;
  case KILN_FIT_LETTERBOX:
    if (isWider)
      place.height = scaleSide(picture.height, plan.width, picture.width);
    else
      place.width = scaleSide(picture.width, plan.height, picture.height);
    place.top = how.at_corner ? 0 : (plan.height - place.height) / 2;
    place.left = how.at_corner ? 0 : (plan.width - place.width) / 2;
    return KILN_STATUS_OK;
  case KILN_FIT_COVER: {
    const int64_t shorter = picture.height < picture.width ? picture.height : picture.width;
    if (how.shorter) {
      place.height = picture.height * how.shorter / shorter;
      place.width = picture.width * how.shorter / shorter;
    } else if (isWider) {
      place.width = scaleSide(picture.width, plan.height, picture.height);
    } else {
      place.height = scaleSide(picture.height, plan.width, picture.width);
    }
    if (place.height < plan.height || place.width < plan.width || place.height > largestSide || place.width > largestSide)
      return KILN_STATUS_DIMENSION_MISMATCH;
    place.top = -middleOf(place.height, plan.height);
    place.left = -middleOf(place.width, plan.width);
    return KILN_STATUS_OK;
  }
  default:
    return KILN_STATUS_INVALID_ARGUMENT;
  }
}

bool isValid(const kiln_pixels &picture, const kiln_preprocess &how) {
  bool valid = isPicture(picture) && elementBytes(how.element_type) && how.height >= 0 && how.width >= 0 && how.height <= largestSide &&
               how.width <= largestSide && how.shorter >= 0 && how.shorter <= largestSide && how.channels >= 0 && how.channels <= 4 &&
               how.filter >= KILN_FILTER_NEAREST && how.filter <= KILN_FILTER_CUBIC;
  for (double deviation : how.deviation)
    valid = valid && deviation != 0;
  return valid;
}

// Whether a picture can become one of so many channels: alpha cannot be invented.
bool convertsTo(int64_t from, int32_t to) { return to % 2 == 1 || from % 2 == 0; }

kiln_status planTensor(const kiln_pixels *picture, const kiln_preprocess *how, Plan &plan) {
  if (!picture || !how)
    return KILN_STATUS_NULL_POINTER;
  if (how->abi_version != KILN_ABI_VERSION || how->struct_size < sizeof(kiln_preprocess))
    return KILN_STATUS_ABI_MISMATCH;
  if (!isValid(*picture, *how))
    return KILN_STATUS_INVALID_ARGUMENT;
  plan.height = how->height ? how->height : picture->height;
  plan.width = how->width ? how->width : picture->width;
  plan.channels = how->channels ? how->channels : int32_t(picture->channels);
  if (!convertsTo(picture->channels, plan.channels))
    return KILN_STATUS_DIMENSION_MISMATCH;
  const kiln_status status = fitPicture(*picture, *how, plan);
  if (status != KILN_STATUS_OK)
    return status;
  int64_t resized;
  if (__builtin_mul_overflow(plan.height * plan.width, plan.channels * elementBytes(how->element_type), &plan.tensorSize) ||
      __builtin_mul_overflow(plan.placement.height * plan.placement.width, picture->channels, &resized) || plan.tensorSize > int64_t(1) << 60 ||
      resized > int64_t(1) << 60)
    return KILN_STATUS_SIZE_OVERFLOW;
  const bool keepsSize = plan.placement.height == picture->height && plan.placement.width == picture->width;
  plan.resizedSize = keepsSize ? 0 : resized;
  plan.scratchSize = measureResize(*picture, how->filter, plan.placement.height, plan.placement.width);
  if (plan.scratchSize < 0)
    return KILN_STATUS_SIZE_OVERFLOW;
  plan.scratchSize += plan.resizedSize;
  return KILN_STATUS_OK;
}

// A double as f32 such that rounding that further gives what rounding the double would: the last bit stays odd where the number was not exact.
float roundToOdd(double value) {
  const float near = float(value);
  uint32_t bits = kiln_f32_bits(near);
  if (double(near) == value || near != near || near - near != 0)
    return near;
  const bool isTooLarge = value < 0 ? double(near) < value : double(near) > value;
  return kiln_f32_of_bits((bits - (isTooLarge ? 1 : 0)) | 1);
}

template <typename T> void storeInteger(double value, uint8_t *to) {
  constexpr T least = std::numeric_limits<T>::min(), most = std::numeric_limits<T>::max();
  const double nearest = value < 0 ? value - 0.5 : value + 0.5;
  // NaN becomes 0.
  const T result = nearest >= double(most) ? most : nearest <= double(least) ? least : nearest == nearest ? T(nearest) : T(0);
  memcpy(to, &result, sizeof(T));
}

template <typename T> void storeBits(T value, uint8_t *to) { memcpy(to, &value, sizeof(T)); }

void storeElement(int32_t type, double value, uint8_t *to) {
  switch (type) {
  case KILN_ELEMENT_F32:
    return storeBits(float(value), to);
  case KILN_ELEMENT_F64:
    return storeBits(value, to);
  case KILN_ELEMENT_F16:
    return storeBits(kiln_f32_to_f16(roundToOdd(value)), to);
  case KILN_ELEMENT_BF16:
    return storeBits(kiln_f32_to_bf16(roundToOdd(value)), to);
  case KILN_ELEMENT_U8:
    return storeInteger<uint8_t>(value, to);
  case KILN_ELEMENT_I8:
    return storeInteger<int8_t>(value, to);
  case KILN_ELEMENT_U16:
    return storeInteger<uint16_t>(value, to);
  case KILN_ELEMENT_I16:
    return storeInteger<int16_t>(value, to);
  case KILN_ELEMENT_U32:
    return storeInteger<uint32_t>(value, to);
  case KILN_ELEMENT_I32:
    return storeInteger<int32_t>(value, to);
  case KILN_ELEMENT_U64:
    return storeInteger<uint64_t>(value, to);
  default:
    return storeInteger<int64_t>(value, to);
  }
}

// The channel of the tensor's order in that of pictures, which is red, green, blue, alpha.
int64_t sourceOf(const Plan &plan, const kiln_preprocess &how, int64_t channel) {
  return plan.channels >= 3 && channel < 3 && how.bgr ? 2 - channel : channel;
}

// Channel `c` (in the order of pictures, of a tensor with `wanted` channels) of a pixel.
uint8_t channelOf(const uint8_t *pixel, int64_t channels, int32_t wanted, int64_t c) {
  const bool isAlpha = (wanted == 2 && c == 1) || (wanted == 4 && c == 3);
  if (isAlpha)
    return pixel[channels - 1];
  if (channels < 3)
    return pixel[0];
  return wanted < 3 ? grayOf(pixel[0], pixel[1], pixel[2]) : pixel[c];
}

// One channel of the tensor: `pixelStep` bytes lie between its pixels. A pixel has only 256 values.
template <int64_t Size>
void writeChannel(const kiln_pixels &picture, const Plan &plan, const kiln_preprocess &how, int64_t channel, uint8_t *tensor, int64_t pixelStep) {
  uint8_t table[256 * Size];
  for (int pixel = 0; pixel < 256; ++pixel)
    storeElement(how.element_type, (pixel * how.scale - how.mean[channel]) / how.deviation[channel], table + pixel * Size);
  const int64_t source = sourceOf(plan, how, channel);
  const uint8_t fill = how.fill[plan.channels < 3 && channel == 1 ? 3 : source];
  const kiln_placement &place = plan.placement;
  for (int64_t y = 0; y < plan.height; ++y) {
    const int64_t line = y - place.top;
    const bool isRow = line >= 0 && line < place.height;
    const uint8_t *row = picture.data + (isRow ? line * picture.stride : 0);
    const int64_t begin = !isRow ? plan.width : place.left > 0 ? place.left : 0, right = place.left + place.width;
    const int64_t end = right < plan.width ? right : plan.width;
    for (int64_t x = 0; x < plan.width; ++x, tensor += pixelStep) {
      const uint8_t pixel =
          x >= begin && x < end ? channelOf(row + (x - place.left) * picture.channels, picture.channels, plan.channels, source) : fill;
      memcpy(tensor, table + pixel * Size, Size);
    }
  }
}

void writeTensor(const kiln_pixels &picture, const Plan &plan, const kiln_preprocess &how, uint8_t *tensor) {
  const int64_t bytes = elementBytes(how.element_type), plane = plan.height * plan.width;
  for (int64_t channel = 0; channel < plan.channels; ++channel) {
    uint8_t *to = tensor + channel * bytes * (how.channels_last ? 1 : plane);
    const int64_t step = bytes * (how.channels_last ? plan.channels : 1);
    if (bytes == 1)
      writeChannel<1>(picture, plan, how, channel, to, step);
    else if (bytes == 2)
      writeChannel<2>(picture, plan, how, channel, to, step);
    else if (bytes == 4)
      writeChannel<4>(picture, plan, how, channel, to, step);
    else
      writeChannel<8>(picture, plan, how, channel, to, step);
  }
}

} // namespace

kiln_status kiln_pixels_crop(const kiln_pixels *picture, int64_t top, int64_t left, int64_t height, int64_t width, kiln_pixels *part) {
  if (!picture || !part)
    return KILN_STATUS_NULL_POINTER;
  if (!isPicture(*picture) || top < 0 || left < 0 || height < 1 || width < 1 || height > picture->height || width > picture->width ||
      top > picture->height - height || left > picture->width - width)
    return KILN_STATUS_INVALID_ARGUMENT;
  *part = {picture->data + top * picture->stride + left * picture->channels, height, width, picture->channels, picture->stride};
  return KILN_STATUS_OK;
}

size_t kiln_pixels_resize_scratch_size(const kiln_pixels *from, int32_t filter, const kiln_pixels *to) {
  if (!from || !to || !isPicture(*from) || !isPicture(*to) || from->channels != to->channels || filter < KILN_FILTER_NEAREST || filter > KILN_FILTER_CUBIC)
    return SIZE_MAX;
  const int64_t bytes = measureResize(*from, filter, to->height, to->width);
  return bytes < 0 ? SIZE_MAX : size_t(bytes);
}

kiln_status kiln_pixels_resize(const kiln_pixels *from, int32_t filter, const kiln_pixels *to, void *scratch, size_t scratch_size) {
  if (!from || !to || !from->data || !to->data)
    return KILN_STATUS_NULL_POINTER;
  if (!isPicture(*from) || !isPicture(*to) || filter < KILN_FILTER_NEAREST || filter > KILN_FILTER_CUBIC)
    return KILN_STATUS_INVALID_ARGUMENT;
  if (from->channels != to->channels)
    return KILN_STATUS_DIMENSION_MISMATCH;
  const int64_t needed = measureResize(*from, filter, to->height, to->width);
  if (needed < 0)
    return KILN_STATUS_SIZE_OVERFLOW;
  if (needed && !scratch)
    return KILN_STATUS_NULL_POINTER;
  if (scratch_size < size_t(needed))
    return KILN_STATUS_WORKSPACE_TOO_SMALL;
  resize(*from, filter, *to, scratch);
  return KILN_STATUS_OK;
}

kiln_status kiln_preprocess_place(const kiln_pixels *picture, const kiln_preprocess *how, kiln_placement *placement) {
  if (!placement)
    return KILN_STATUS_NULL_POINTER;
  Plan plan;
  const kiln_status status = planTensor(picture, how, plan);
  if (status == KILN_STATUS_OK)
    *placement = plan.placement;
  return status;
}

size_t kiln_preprocess_size(const kiln_pixels *picture, const kiln_preprocess *how) {
  Plan plan;
  return planTensor(picture, how, plan) == KILN_STATUS_OK ? size_t(plan.tensorSize) : SIZE_MAX;
}

size_t kiln_preprocess_scratch_size(const kiln_pixels *picture, const kiln_preprocess *how) {
  Plan plan;
  return planTensor(picture, how, plan) == KILN_STATUS_OK ? size_t(plan.scratchSize) : SIZE_MAX;
}

kiln_status kiln_pixels_tensor(const kiln_pixels *picture, const kiln_preprocess *how, void *tensor, size_t size, void *scratch, size_t scratch_size) {
  Plan plan;
  const kiln_status status = planTensor(picture, how, plan);
  if (status != KILN_STATUS_OK)
    return status;
  if (!picture->data || !tensor || (plan.scratchSize && !scratch))
    return KILN_STATUS_NULL_POINTER;
  if (size != size_t(plan.tensorSize))
    return KILN_STATUS_DIMENSION_MISMATCH;
  if (scratch_size < size_t(plan.scratchSize))
    return KILN_STATUS_WORKSPACE_TOO_SMALL;
  if (!plan.resizedSize) {
    writeTensor(*picture, plan, *how, static_cast<uint8_t *>(tensor));
    return KILN_STATUS_OK;
  }
  const kiln_pixels resized = {static_cast<uint8_t *>(scratch) + (plan.scratchSize - plan.resizedSize), plan.placement.height, plan.placement.width,
                               picture->channels, plan.placement.width * picture->channels};
  resize(*picture, how->filter, resized, scratch);
  writeTensor(resized, plan, *how, static_cast<uint8_t *>(tensor));
  return KILN_STATUS_OK;
}
