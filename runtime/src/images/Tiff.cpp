// TIFF, by libtiff: strips and tiles, in the compressions whose decoders take no more memory than the picture says; channels together or in planes.
#include "Picture.h"

#include <stdio.h>

#include <tiffio.h>

namespace kiln_images_lib {

namespace {

constexpr int mostSamples = 6;

struct Decoder {
  Picture *picture;
  TIFF *file;
  int64_t at;
  uint8_t *pixels; // rows of the file, plane behind plane
  uint8_t *piece;  // a strip or tile

  // Tags.
  uint32_t width, height;
  uint16_t bits, samples, photometric, planar, sampleFormat, orientation, extras;
  const uint16_t *extraKinds;
  uint16_t *palette[3];

  int64_t planes() const { return planar == PLANARCONFIG_SEPARATE ? samples : 1; }
  int64_t stride() const { return (int64_t(width) * bits * (samples / planes()) + 7) / 8; }
};

tmsize_t onRead(thandle_t handle, void *to, tmsize_t count) {
  Decoder &decoder = *static_cast<Decoder *>(handle);
  const int64_t left = int64_t(decoder.picture->size()) - decoder.at;
  count = decoder.at < 0 || left <= 0 ? 0 : count < left ? count : left;
  memcpy(to, decoder.picture->bytes() + (count ? decoder.at : 0), size_t(count));
  decoder.at += count;
  return count;
}
toff_t onSeek(thandle_t handle, toff_t offset, int whence) {
  Decoder &decoder = *static_cast<Decoder *>(handle);
  const int64_t base = whence == SEEK_SET ? 0 : whence == SEEK_CUR ? decoder.at : int64_t(decoder.picture->size());
  const int64_t place = int64_t(uint64_t(base) + offset);
  return place < 0 ? toff_t(-1) : toff_t(decoder.at = place);
}
int onClose(thandle_t) { return 0; }
toff_t onSize(thandle_t handle) { return static_cast<Decoder *>(handle)->picture->size(); }

int onError(TIFF *, void *user, const char *, const char *format, va_list arguments) {
  char text[160];
  vsnprintf(text, sizeof(text), format, arguments);
  static_cast<Decoder *>(user)->picture->fail(text);
  return 1;
}
// Without its palette libtiff would take the picture for a gray one.
int onWarning(TIFF *, void *user, const char *, const char *format, va_list arguments) {
  char text[160];
  vsnprintf(text, sizeof(text), format, arguments);
  if (strstr(text, "\"ColorMap\""))
    static_cast<Decoder *>(user)->picture->fail("the palette is malformed, or cut off");
  return 1;
}

// The others have libraries of their own, which end the program or take gigabytes for what a header says (JBIG, LZMA, Zstandard).
bool isBounded(int compression) {
  constexpr int bounded[] = {COMPRESSION_NONE, COMPRESSION_PACKBITS,      COMPRESSION_LZW,       COMPRESSION_DEFLATE,  COMPRESSION_ADOBE_DEFLATE,
                             COMPRESSION_JPEG, COMPRESSION_CCITTRLE, COMPRESSION_CCITTRLEW, COMPRESSION_CCITTFAX3, COMPRESSION_CCITTFAX4};
  for (int known : bounded)
    if (compression == known)
      return true;
  return false;
}

bool readTags(Decoder &d) {
  d.sampleFormat = SAMPLEFORMAT_UINT;
  d.orientation = ORIENTATION_TOPLEFT;
  TIFFGetField(d.file, TIFFTAG_IMAGEWIDTH, &d.width);
  TIFFGetField(d.file, TIFFTAG_IMAGELENGTH, &d.height);
  TIFFGetFieldDefaulted(d.file, TIFFTAG_BITSPERSAMPLE, &d.bits);
  TIFFGetFieldDefaulted(d.file, TIFFTAG_SAMPLESPERPIXEL, &d.samples);
  TIFFGetFieldDefaulted(d.file, TIFFTAG_PLANARCONFIG, &d.planar);
  TIFFGetFieldDefaulted(d.file, TIFFTAG_SAMPLEFORMAT, &d.sampleFormat);
  TIFFGetFieldDefaulted(d.file, TIFFTAG_EXTRASAMPLES, &d.extras, &d.extraKinds);
  TIFFGetField(d.file, TIFFTAG_ORIENTATION, &d.orientation);
  uint16_t compression = COMPRESSION_NONE;
  TIFFGetFieldDefaulted(d.file, TIFFTAG_COMPRESSION, &compression);
  if (!isBounded(compression))
    return d.picture->fail("a compression that is none of PackBits, LZW, Deflate, JPEG and those of fax");
  if (!TIFFGetField(d.file, TIFFTAG_PHOTOMETRIC, &d.photometric))
    d.photometric = PHOTOMETRIC_MINISWHITE;
  if (d.photometric == PHOTOMETRIC_YCBCR && compression == COMPRESSION_JPEG && d.planar == PLANARCONFIG_CONTIG) {
    TIFFSetField(d.file, TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);
    d.photometric = PHOTOMETRIC_RGB;
  }
  return true;
}

bool isOneOf(int value, int a, int b = -1, int c = -1, int d = -1, int e = -1) {
  return value == a || value == b || value == c || value == d || value == e;
}

// Whether the pixels are of a kind that convert() knows.
bool checkKind(Decoder &d) {
  const bool isWhole = d.sampleFormat == SAMPLEFORMAT_UINT;
  bool known = false;
  if (d.photometric == PHOTOMETRIC_MINISWHITE || d.photometric == PHOTOMETRIC_MINISBLACK)
    known = isWhole ? isOneOf(d.bits, 1, 2, 4, 8, 16) || d.bits == 32 : d.sampleFormat == SAMPLEFORMAT_INT ? isOneOf(d.bits, 16, 32)
                                                                    : d.sampleFormat == SAMPLEFORMAT_IEEEFP && d.bits == 32;
  else if (d.photometric == PHOTOMETRIC_PALETTE)
    known = isWhole && isOneOf(d.bits, 1, 2, 4, 8) && TIFFGetField(d.file, TIFFTAG_COLORMAP, &d.palette[0], &d.palette[1], &d.palette[2]);
  else if (d.photometric == PHOTOMETRIC_RGB)
    known = isWhole && isOneOf(d.bits, 8, 16) && d.samples >= 3;
  else if (d.photometric == PHOTOMETRIC_SEPARATED)
    known = isWhole && isOneOf(d.bits, 8, 16) && d.samples >= 4;
  if (known && d.samples >= 1 && d.samples <= mostSamples && isOneOf(d.planar, PLANARCONFIG_CONTIG, PLANARCONFIG_SEPARATE))
    return true;
  return d.picture->fail("pixels of an unknown kind");
}

bool begin(Decoder &d) {
  const bool turned = d.orientation >= ORIENTATION_LEFTTOP && d.orientation <= ORIENTATION_LEFTBOT;
  const bool isGray = d.photometric == PHOTOMETRIC_MINISWHITE || d.photometric == PHOTOMETRIC_MINISBLACK;
  return turned ? d.picture->begin(d.height, d.width, isGray) : d.picture->begin(d.width, d.height, isGray);
}

bool readStrips(Decoder &d, int64_t plane) {
  uint32_t rows = d.height;
  TIFFGetFieldDefaulted(d.file, TIFFTAG_ROWSPERSTRIP, &rows);
  rows = rows == 0 || rows > d.height ? d.height : rows;
  const int64_t stride = d.stride(), perPlane = (int64_t(d.height) + rows - 1) / rows;
  bool isWhole = TIFFScanlineSize64(d.file) == uint64_t(stride) && TIFFNumberOfStrips(d.file) == uint64_t(perPlane * d.planes());
  for (int64_t strip = 0; isWhole && strip < perPlane; ++strip) {
    const int64_t first = strip * rows, count = first + rows > d.height ? d.height - first : rows;
    uint8_t *to = d.pixels + (plane * d.height + first) * stride;
    isWhole = TIFFReadEncodedStrip(d.file, uint32_t(plane * perPlane + strip), to, count * stride) == count * stride;
  }
  return isWhole || d.picture->fail("the data is malformed, or cut off");
}

bool readTiles(Decoder &d, int64_t plane) {
  uint32_t width = 0, height = 0;
  TIFFGetField(d.file, TIFFTAG_TILEWIDTH, &width);
  TIFFGetField(d.file, TIFFTAG_TILELENGTH, &height);
  const int64_t pixelBits = int64_t(d.bits) * (d.samples / d.planes()), row = TIFFTileRowSize(d.file), stride = d.stride();
  // A tile is no larger than a picture may be.
  if (width == 0 || height == 0 || int64_t(width) * pixelBits % 8 != 0 || row != int64_t(width) * pixelBits / 8 ||
      int64_t(height) > int64_t(besidesPixels) / row || TIFFTileSize(d.file) != row * height)
    return d.picture->fail("tiles of a size that cannot be read");
  if (!d.piece && !(d.piece = static_cast<uint8_t *>(d.picture->allocate(height, row))))
    return false;
  for (int64_t y = 0; y < d.height; y += height)
    for (int64_t x = 0; x < d.width; x += width) {
      if (TIFFReadTile(d.file, d.piece, uint32_t(x), uint32_t(y), 0, uint16_t(plane)) != row * height)
        return d.picture->fail("the data is malformed, or cut off");
      const int64_t start = x * pixelBits / 8, bytes = start + row > stride ? stride - start : row;
      for (int64_t line = 0; line < height && y + line < d.height; ++line)
        memcpy(d.pixels + (plane * d.height + y + line) * stride + start, d.piece + line * row, size_t(bytes));
    }
  return true;
}

// Sample `s` of a pixel: of 8 bits and less as it is, of more as its bytes.
struct Samples {
  const Decoder &d;

  const uint8_t *place(int64_t x, int64_t y, int s) const {
    const int64_t perPixel = d.samples / d.planes(), plane = d.planes() > 1 ? s : 0, within = d.planes() > 1 ? 0 : s;
    return d.pixels + (plane * d.height + y) * d.stride() + (x * perPixel + within) * d.bits / 8;
  }
  unsigned small(int64_t x, int64_t y, int s) const {
    const int64_t perPixel = d.samples / d.planes(), within = d.planes() > 1 ? 0 : s, bit = (x * perPixel + within) * d.bits % 8;
    return (unsigned(*place(x, y, s)) >> (8 - bit - d.bits)) & ((1u << d.bits) - 1);
  }
  // The upper 8 bits of 8 or 16.
  uint8_t high(int64_t x, int64_t y, int s) const { return d.bits == 8 ? *place(x, y, s) : uint8_t(wide<uint16_t>(x, y, s) >> 8); }
  template <typename T> T wide(int64_t x, int64_t y, int s) const {
    T value;
    memcpy(&value, place(x, y, s), sizeof(T));
    return value;
  }
};

template <typename T> uint8_t cut(T value) { return value >= T(255) ? 255 : value > T(0) ? uint8_t(value) : 0; }

uint8_t grayOf(const Samples &in, int64_t x, int64_t y) {
  const Decoder &d = in.d;
  if (d.bits <= 8) {
    const unsigned value = in.small(x, y, 0) * 255 / ((1u << d.bits) - 1);
    return uint8_t(d.photometric == PHOTOMETRIC_MINISWHITE ? 255 - value : value);
  }
  if (d.sampleFormat == SAMPLEFORMAT_IEEEFP)
    return cut(in.wide<float>(x, y, 0));
  if (d.sampleFormat == SAMPLEFORMAT_INT)
    return d.bits == 16 ? cut(in.wide<int16_t>(x, y, 0)) : cut(in.wide<int32_t>(x, y, 0));
  // Pillow takes 32 bits as a signed number.
  return d.bits == 16 ? cut(in.wide<uint16_t>(x, y, 0)) : cut(in.wide<int32_t>(x, y, 0));
}

void colourOf(const Samples &in, int64_t x, int64_t y, uint8_t *rgb) {
  const Decoder &d = in.d;
  if (d.photometric == PHOTOMETRIC_PALETTE) {
    const unsigned index = in.small(x, y, 0);
    for (int c = 0; c < 3; ++c)
      rgb[c] = uint8_t(d.palette[c][index] >> 8);
  } else if (d.photometric == PHOTOMETRIC_SEPARATED) {
    uint8_t ink[4];
    for (int c = 0; c < 4; ++c)
      ink[c] = in.high(x, y, c);
    inkToRgb(ink, rgb);
  } else if (d.photometric == PHOTOMETRIC_RGB) {
    const bool isScaled = d.samples > 3 && d.extras > 0 && d.extraKinds[0] == EXTRASAMPLE_ASSOCALPHA;
    const int alpha = isScaled ? in.high(x, y, 3) : 255;
    for (int c = 0; c < 3; ++c)
      rgb[c] = alpha ? clip(in.high(x, y, c) * 255 / alpha) : 0;
  } else {
    rgb[0] = rgb[1] = rgb[2] = grayOf(in, x, y);
  }
}

// The position in the picture of a pixel of the file.
void putPixels(const Decoder &d) {
  const Samples in{d};
  const int64_t right = int64_t(d.width) - 1, bottom = int64_t(d.height) - 1;
  for (int64_t y = 0; y <= bottom; ++y)
    for (int64_t x = 0; x <= right; ++x) {
      uint8_t rgb[3];
      colourOf(in, x, y, rgb);
      const bool mirrored = isOneOf(d.orientation, ORIENTATION_TOPRIGHT, ORIENTATION_BOTRIGHT, ORIENTATION_RIGHTBOT, ORIENTATION_LEFTBOT);
      const bool flipped = isOneOf(d.orientation, ORIENTATION_BOTRIGHT, ORIENTATION_BOTLEFT, ORIENTATION_RIGHTTOP, ORIENTATION_RIGHTBOT);
      const int64_t column = mirrored ? right - x : x, row = flipped ? bottom - y : y;
      const bool turned = d.orientation >= ORIENTATION_LEFTTOP && d.orientation <= ORIENTATION_LEFTBOT;
      d.picture->put(turned ? row : column, turned ? column : row, rgb[0], rgb[1], rgb[2]);
    }
}

// YCbCr that is not in JPEG: libtiff's own conversion, whose rows run upwards and whose pixels are numbers.
bool readConverted(Decoder &d) {
  d.pixels = static_cast<uint8_t *>(d.picture->allocate(int64_t(d.width) * d.height, 4));
  TIFFRGBAImage image;
  char text[1024] = "";
  if (!d.pixels || !TIFFRGBAImageBegin(&image, d.file, 1, text))
    return d.picture->fail(*text ? text : "pixels of an unknown kind");
  image.req_orientation = ORIENTATION_TOPLEFT;
  const bool done = TIFFRGBAImageGet(&image, reinterpret_cast<uint32_t *>(d.pixels), d.width, d.height);
  TIFFRGBAImageEnd(&image);
  for (uint32_t y = 0; done && y < d.height; ++y)
    for (uint32_t x = 0; x < d.width; ++x) {
      const uint32_t pixel = reinterpret_cast<const uint32_t *>(d.pixels)[size_t(y) * d.width + x];
      d.picture->put(x, y, uint8_t(TIFFGetR(pixel)), uint8_t(TIFFGetG(pixel)), uint8_t(TIFFGetB(pixel)));
    }
  return done || d.picture->fail("the data is malformed, or cut off");
}

bool decode(Decoder &d) {
  if (!readTags(d))
    return false;
  if (d.photometric == PHOTOMETRIC_YCBCR) {
    if (d.bits != 8 || d.samples != 3)
      return d.picture->fail("pixels of an unknown kind");
    return d.picture->begin(d.width, d.height) && readConverted(d);
  }
  if (!checkKind(d) || !begin(d))
    return false;
  d.pixels = static_cast<uint8_t *>(d.picture->allocate(d.stride() * d.planes(), d.height));
  if (!d.pixels)
    return false;
  for (int64_t plane = 0; plane < d.planes(); ++plane)
    if (!(TIFFIsTiled(d.file) ? readTiles(d, plane) : readStrips(d, plane)))
      return false;
  if (d.picture->status() != KILN_STATUS_OK)
    return false;
  putPixels(d);
  return true;
}

} // namespace

bool readTiff(Picture &picture) {
  Decoder decoder = {};
  decoder.picture = &picture;
  TIFFOpenOptions *options = TIFFOpenOptionsAlloc();
  if (!options)
    return picture.fail(KILN_STATUS_OUT_OF_MEMORY, "out of memory");
  TIFFOpenOptionsSetMaxSingleMemAlloc(options, tmsize_t(besidesPixels));
  TIFFOpenOptionsSetErrorHandlerExtR(options, onError, &decoder);
  TIFFOpenOptionsSetWarningHandlerExtR(options, onWarning, &decoder);
  // A file that is open for reading is never written, but libtiff takes no null.
  decoder.file = TIFFClientOpenExt("picture", "rm", &decoder, onRead, onRead, onSeek, onClose, onSize, nullptr, nullptr, options);
  TIFFOpenOptionsFree(options);
  const bool done = decoder.file ? decode(decoder) : picture.fail("malformed, or cut off");
  if (decoder.file)
    TIFFClose(decoder.file);
  free(decoder.pixels);
  free(decoder.piece);
  return done;
}

} // namespace kiln_images_lib
