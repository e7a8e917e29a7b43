// PNM: PBM, PGM and PPM, as text (P1 to P3) and as bytes (P4 to P6), with any largest value.
#include "Picture.h"

namespace kiln_images_lib {

namespace {

bool isBlank(int c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

struct Header {
  char kind; // '1' to '6'
  uint32_t most = 1;
  int channels;
  bool isText() const { return kind <= '3'; }
  bool isBits() const { return kind == '1' || kind == '4'; }
  // Gray of more than 8 bits is scaled to 16 and then cut off at 255, as Pillow's conversion does.
  uint32_t scale() const { return channels == 1 && most > 255 ? 65535 : 255; }
};

void skipBlanks(Cursor &in) {
  for (; in.left(); ++in.at) {
    if (in.data[in.at] == '#')
      while (in.left() && in.data[in.at] != '\n' && in.data[in.at] != '\r')
        ++in.at;
    else if (!isBlank(in.data[in.at]))
      return;
    if (!in.left())
      return;
  }
}

// A number of at most 10 digits; false when there is none.
bool takeNumber(Cursor &in, int64_t &number) {
  skipBlanks(in);
  const size_t start = in.at;
  for (number = 0; in.left() && in.data[in.at] >= '0' && in.data[in.at] <= '9' && in.at - start <= 10; ++in.at)
    number = number * 10 + (in.data[in.at] - '0');
  return in.at > start && in.at - start <= 10;
}

// value / most * scale, rounded to the nearest, halves to even.
uint8_t scaled(uint32_t value, const Header &h) {
  if (h.most == 255)
    return uint8_t(value > 255 ? 255 : value);
  const double exact = double(value) / h.most * h.scale();
  const uint32_t whole = uint32_t(exact);
  const double rest = exact - whole;
  const uint32_t rounded = whole + (rest > 0.5 || (rest == 0.5 && whole % 2) ? 1 : 0);
  return uint8_t(rounded > 255 ? 255 : rounded);
}

bool takeValue(Picture &picture, Cursor &in, const Header &h, uint8_t &value) {
  int64_t number = 0;
  if (h.kind == '1') {
    skipBlanks(in);
    number = in.next() - '0';
    value = number ? 0 : 255;
    return (!in.ended && (number == 0 || number == 1)) || picture.fail(in.ended ? "the file is cut off" : "a pixel that is neither 0 nor 1");
  }
  if (h.isText()) {
    if (!takeNumber(in, number) || (in.left() && !isBlank(in.data[in.at]) && in.data[in.at] != '#'))
      return picture.fail(in.left() ? "a value that is no number" : "the file is cut off");
    if (number > int64_t(h.most))
      return picture.fail("a value that is larger than the header says");
  } else {
    number = h.most > 255 ? in.next() << 8 : 0;
    number |= in.next();
  }
  value = scaled(uint32_t(number), h);
  return !in.ended || picture.fail("the file is cut off");
}

bool readBits(Picture &picture, Cursor &in) {
  for (int64_t y = 0; y < picture.height(); ++y)
    for (int64_t x = 0, byte = 0; x < picture.width(); ++x) {
      byte = x % 8 == 0 ? in.next() : byte << 1;
      const uint8_t value = byte & 128 ? 0 : 255;
      picture.put(x, y, value, value, value);
    }
  return !in.ended || picture.fail("the file is cut off");
}

bool readValues(Picture &picture, Cursor &in, const Header &h) {
  for (int64_t y = 0; y < picture.height(); ++y)
    for (int64_t x = 0; x < picture.width(); ++x) {
      uint8_t values[3];
      for (int c = 0; c < h.channels; ++c)
        if (!takeValue(picture, in, h, values[c]))
          return false;
      if (h.channels == 1)
        values[1] = values[2] = values[0];
      picture.put(x, y, values[0], values[1], values[2]);
    }
  return true;
}

} // namespace

bool readPnm(Picture &picture) {
  Cursor in(picture);
  Header h = {};
  h.kind = char(in.data[1]);
  h.channels = h.kind == '3' || h.kind == '6' ? 3 : 1;
  in.at = 2;
  int64_t width, height, most = 1;
  if (!takeNumber(in, width) || !takeNumber(in, height) || (!h.isBits() && !takeNumber(in, most)) || !isBlank(in.next()))
    return picture.fail("the header is malformed, or cut off");
  if (most < 1 || most > 65535)
    return picture.fail("a largest value outside of 1 to 65535");
  h.most = uint32_t(most);
  if (!picture.begin(width, height, h.channels == 1))
    return false;
  // What cannot be there is not looked for: a value takes a byte or more.
  const int64_t values = width * height * h.channels;
  if (int64_t(in.left()) < (h.kind == '4' ? (width + 7) / 8 * height : !h.isText() && most > 255 ? 2 * values : values))
    return picture.fail("the file is cut off");
  return h.kind == '4' ? readBits(picture, in) : readValues(picture, in, h);
}

} // namespace kiln_images_lib
