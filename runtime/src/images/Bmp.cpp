// BMP: OS/2's and all of Windows' headers; palettes of 1, 4 and 8 bits, plain or with run lengths; 16, 24 and 32 bits, with or without masks.
#include "Picture.h"

namespace kiln_images_lib {

namespace {

enum Compression { Plain = 0, Runs8 = 1, Runs4 = 2, Masks = 3 };

struct Header {
  uint32_t bytes, offset, compression = Plain, colours = 0;
  int64_t width, height;
  bool topDown = false;
  int bits, paletteEntry;
  uint32_t masks[3] = {0, 0, 0}; // of red, green and blue
  size_t afterHeader;
  uint8_t palette[256][3];
};

bool readHeader(Picture &picture, Cursor &in, Header &h) {
  in.at = 10;
  h.offset = in.le32();
  h.bytes = in.le32();
  const bool isOld = h.bytes == 12;
  if (!isOld && h.bytes != 40 && h.bytes != 52 && h.bytes != 56 && h.bytes != 64 && h.bytes != 108 && h.bytes != 124)
    return picture.fail("a header of an unknown kind");
  h.paletteEntry = isOld ? 3 : 4;
  h.width = isOld ? int64_t(in.le16()) : int32_t(in.le32());
  h.height = isOld ? int64_t(in.le16()) : int32_t(in.le32());
  h.topDown = h.height < 0;
  h.height = h.topDown ? -h.height : h.height;
  in.le16(); // planes
  h.bits = int(in.le16());
  h.afterHeader = 14 + size_t(h.bytes);
  if (!isOld) {
    h.compression = in.le32();
    in.at = 46;
    h.colours = in.le32();
    // From version 2 on, the masks are part of the header; before, they follow it.
    in.at = 54;
    for (uint32_t &mask : h.masks)
      mask = h.compression == Masks ? in.le32() : 0;
    if (h.compression == Masks && h.bytes == 40)
      h.afterHeader += 12;
  }
  if (h.colours == 0 && h.bits <= 8)
    h.colours = 1u << h.bits;
  return !in.ended || picture.fail("the file is cut off");
}

// Entries that the file lacks are shades of gray.
bool readPalette(Picture &picture, Cursor &in, Header &h) {
  if (h.colours > 65536)
    return picture.fail("too many colours in the palette");
  in.at = h.afterHeader;
  for (uint32_t i = 0; i < 256; ++i) {
    for (int c = 2; c >= 0; --c)
      h.palette[i][c] = uint8_t(i < h.colours ? in.next() : i);
    in.at += size_t(h.paletteEntry - 3);
  }
  if (in.ended)
    return picture.fail("the file is cut off");
  const size_t end = h.afterHeader + size_t(h.paletteEntry) * h.colours;
  // Some files say that the pixels begin where the palette does.
  if (h.offset == 14 + h.bytes)
    h.offset += 4 * h.colours;
  in.at = h.offset ? h.offset : end;
  return true;
}

// Where the pixel stands: rows run upwards.
int64_t rowOf(const Picture &picture, const Header &h, int64_t line) { return h.topDown ? line : picture.height() - 1 - line; }

void putIndex(const Picture &picture, const Header &h, int64_t x, int64_t line, unsigned index) {
  const uint8_t *colour = h.palette[index];
  picture.put(x, rowOf(picture, h, line), colour[0], colour[1], colour[2]);
}

struct Runs {
  Picture &picture;
  Cursor &in;
  const Header &h;
  int64_t x = 0, line = 0;

  void put(unsigned index) {
    if (x < picture.width() && line < picture.height())
      putIndex(picture, h, x, line, index);
    ++x;
  }
  void literal(int count) {
    const int bytes = h.compression == Runs4 ? (count + 1) / 2 : count;
    for (int i = 0, byte = 0; i < count; ++i) {
      byte = h.compression == Runs8 || i % 2 == 0 ? in.next() : byte;
      put(unsigned(h.compression == Runs8 ? byte : i % 2 == 0 ? byte >> 4 : byte & 15));
    }
    in.at += size_t(bytes % 2); // whole words
  }
  void run(int count, int byte) {
    for (int i = 0; i < count; ++i)
      put(unsigned(h.compression == Runs8 ? byte : i % 2 == 0 ? byte >> 4 : byte & 15));
  }
};

// Pixels that the runs leave out have the first colour.
bool readRuns(Picture &picture, Cursor &in, const Header &h) {
  if (h.bits != (h.compression == Runs8 ? 8 : 4))
    return picture.fail("run lengths for another number of bits");
  for (int64_t line = 0; line < picture.height(); ++line)
    for (int64_t x = 0; x < picture.width(); ++x)
      putIndex(picture, h, x, line, 0);
  Runs runs{picture, in, h};
  while (runs.line < picture.height()) {
    const int count = in.next(), byte = in.next();
    if (in.ended)
      // A file may end with the last pixel.
      return (runs.line == picture.height() - 1 && runs.x >= picture.width()) || picture.fail("the file is cut off");
    if (count)
      runs.run(count, byte);
    else if (byte == 0)
      runs.x = 0, ++runs.line;
    else if (byte == 1)
      break;
    else if (byte == 2)
      runs.x += in.next(), runs.line += in.next();
    else
      runs.literal(byte);
  }
  return true;
}

// How a pixel of 16 to 32 bits is taken apart: a channel is (pixel >> shift & most) * 255 / most.
struct Channels {
  int shift[3];
  uint32_t most[3];
};

bool findChannels(Picture &picture, const Header &h, Channels &channels) {
  uint32_t masks[3] = {h.masks[0], h.masks[1], h.masks[2]};
  if (!masks[0] && !masks[1] && !masks[2]) {
    const int width = h.bits == 16 ? 5 : 8;
    for (int c = 0; c < 3; ++c)
      masks[c] = ((1u << width) - 1) << (width * (2 - c));
  }
  for (int c = 0; c < 3; ++c) {
    const int shift = masks[c] ? __builtin_ctz(masks[c]) : 0;
    const uint32_t most = masks[c] >> shift;
    if (most == 0 || most > 255 || (most & (most + 1)) != 0)
      return picture.fail("masks that do not describe channels of up to 8 bits");
    channels.shift[c] = shift;
    channels.most[c] = most;
  }
  return true;
}

bool readColours(Picture &picture, Cursor &in, const Header &h, int64_t stride) {
  Channels channels;
  if (!findChannels(picture, h, channels))
    return false;
  const size_t start = in.at;
  for (int64_t line = 0; line < picture.height(); ++line) {
    in.at = start + size_t(line * stride);
    for (int64_t x = 0; x < picture.width(); ++x) {
      uint32_t pixel = in.le16();
      if (h.bits > 16)
        pixel |= (h.bits == 24 ? uint32_t(in.next()) : in.le16()) << 16;
      uint8_t values[3];
      for (int c = 0; c < 3; ++c)
        values[c] = uint8_t((pixel >> channels.shift[c] & channels.most[c]) * 255 / channels.most[c]);
      picture.put(x, rowOf(picture, h, line), values[0], values[1], values[2]);
    }
  }
  return true;
}

void readIndices(Picture &picture, Cursor &in, const Header &h, int64_t stride) {
  const size_t start = in.at;
  const int perByte = 8 / h.bits;
  for (int64_t line = 0; line < picture.height(); ++line) {
    in.at = start + size_t(line * stride);
    for (int64_t x = 0, byte = 0; x < picture.width(); ++x) {
      byte = x % perByte == 0 ? in.next() : byte << h.bits;
      putIndex(picture, h, x, line, unsigned(byte & 255) >> (8 - h.bits));
    }
  }
}

bool readPlain(Picture &picture, Cursor &in, const Header &h) {
  const int64_t stride = (h.width * h.bits + 31) / 32 * 4, last = (h.width * h.bits + 7) / 8;
  if (int64_t(in.left()) < stride * (h.height - 1) + last)
    return picture.fail("the file is cut off");
  if (h.bits > 8)
    return readColours(picture, in, h, stride);
  readIndices(picture, in, h, stride);
  return true;
}

} // namespace

bool readBmp(Picture &picture) {
  Cursor in(picture);
  Header h = {};
  if (!readHeader(picture, in, h))
    return false;
  const bool hasPalette = h.bits == 1 || h.bits == 4 || h.bits == 8;
  if (!hasPalette && h.bits != 16 && h.bits != 24 && h.bits != 32)
    return picture.fail("a number of bits per pixel other than 1, 4, 8, 16, 24 and 32");
  if (h.compression > Masks || (hasPalette && h.compression == Masks) || (!hasPalette && (h.compression == Runs8 || h.compression == Runs4)))
    return picture.fail("an unknown compression");
  if (!picture.begin(h.width, h.height))
    return false;
  if (hasPalette && !readPalette(picture, in, h))
    return false;
  if (!hasPalette)
    in.at = h.offset ? h.offset : h.afterHeader;
  return h.compression == Runs8 || h.compression == Runs4 ? readRuns(picture, in, h) : readPlain(picture, in, h);
}

} // namespace kiln_images_lib
