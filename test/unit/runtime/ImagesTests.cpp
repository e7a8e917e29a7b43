#include "kiln/images.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

// Built twice: with the library as it is, and its sources under sanitizers, which see what broken files do.

namespace {

struct Expected {
  int64_t width, height;
  uint64_t rgb, gray; // FNV-1a
};

using Bytes = std::vector<uint8_t>;

Bytes readFile(const std::string &name) {
  std::ifstream file(KILN_TEST_IMAGES "/" + name, std::ios::binary);
  EXPECT_TRUE(file) << name;
  return Bytes(std::istreambuf_iterator<char>(file), {});
}

const std::map<std::string, Expected> &expectations() {
  static const std::map<std::string, Expected> all = [] {
    std::map<std::string, Expected> read;
    std::ifstream file(KILN_TEST_IMAGES "/expected.txt");
    std::string name;
    for (Expected e; file >> name >> std::dec >> e.width >> e.height >> std::hex >> e.rgb >> e.gray;)
      read[name] = e;
    return read;
  }();
  return all;
}

uint64_t hash(const Bytes &bytes) {
  uint64_t value = 0xCBF29CE484222325;
  for (uint8_t byte : bytes)
    value = (value ^ byte) * 0x100000001B3;
  return value;
}

struct Decoded {
  kiln_status status;
  kiln_image image;
  Bytes pixels;
  std::string message;
};

struct Room {
  int64_t height = 40, width = 40;
  int64_t maxPixels = KILN_IMAGES_MAX_PIXELS;
};

// Buffers of exactly the right sizes: the sanitizers see what goes beyond them.
Decoded decode(const Bytes &file, int32_t format = KILN_PIXELS_RGB, Room room = {}) {
  Decoded result = {};
  kiln_images images = KILN_IMAGES_INIT;
  images.max_pixels = room.maxPixels;
  const int32_t channels = format == KILN_PIXELS_GRAYSCALE ? 1 : 3;
  Bytes bytes(file);
  bytes.shrink_to_fit();
  result.pixels.resize(size_t(room.height * room.width * channels));
  result.image = {bytes.data(), result.pixels.data(), int64_t(bytes.size()), room.height, room.width, 0, 0, format, channels};
  result.status = kiln_images_decode(&images, &result.image);
  result.message = images.message;
  if (result.status == KILN_STATUS_OK)
    result.pixels.resize(size_t(result.image.height * result.image.width * channels));
  return result;
}

bool isBuiltIn(const std::string &name) {
  static const std::map<std::string, std::string> formats = {{"bmp", "BMP"},   {"jpg", "JPEG"}, {"jp2", "JPEG2000"}, {"j2k", "JPEG2000"}, {"png", "PNG"},  {"pbm", "PNM"},
                                                             {"pgm", "PNM"}, {"ppm", "PNM"},  {"tif", "TIFF"},     {"webp", "WebP"}};
  const std::string known = " " + std::string(kiln_images_formats()) + " ";
  return known.find(" " + formats.at(name.substr(name.find('.') + 1)) + " ") != std::string::npos;
}

TEST(Images, EveryFormatHasPillowsPixels) {
  EXPECT_EQ(expectations().size(), 62u);
  for (const auto &[name, expected] : expectations()) {
    const Bytes file = readFile(name);
    const Decoded rgb = decode(file), gray = decode(file, KILN_PIXELS_GRAYSCALE);
    if (!isBuiltIn(name)) {
      EXPECT_EQ(rgb.status, KILN_STATUS_IMAGE_UNREADABLE) << name;
      EXPECT_NE(rgb.message.find(": this libkiln_images was built without the format's library"), std::string::npos) << name << rgb.message;
      continue;
    }
    ASSERT_EQ(rgb.status, KILN_STATUS_OK) << name << ": " << rgb.message;
    ASSERT_EQ(gray.status, KILN_STATUS_OK) << name;
    EXPECT_EQ(rgb.message, "") << name;
    EXPECT_EQ(rgb.image.width, expected.width) << name;
    EXPECT_EQ(rgb.image.height, expected.height) << name;
    EXPECT_EQ(hash(rgb.pixels), expected.rgb) << name;
    EXPECT_EQ(hash(gray.pixels), expected.gray) << name;
  }
}

struct Measured {
  kiln_status status;
  int64_t height, width, channels;
};

Measured measure(const Bytes &file) {
  Measured result = {};
  Bytes bytes(file);
  bytes.shrink_to_fit();
  result.status = kiln_images_size(nullptr, bytes.data(), int64_t(bytes.size()), &result.height, &result.width, &result.channels);
  return result;
}

TEST(Images, TheSizeIsKnownBeforeThePixels) {
  for (const auto &[name, expected] : expectations()) {
    if (!isBuiltIn(name))
      continue;
    const Bytes file = readFile(name);
    const Measured size = measure(file);
    EXPECT_EQ(size.status, KILN_STATUS_OK) << name;
    EXPECT_TRUE(size.width == expected.width && size.height == expected.height) << name;
    // What is gray is gray in colours, too.
    const Decoded rgb = decode(file);
    bool isGray = true;
    for (size_t i = 0; i < rgb.pixels.size(); i += 3)
      isGray = isGray && rgb.pixels[i] == rgb.pixels[i + 1] && rgb.pixels[i] == rgb.pixels[i + 2];
    EXPECT_TRUE(size.channels == 3 || (size.channels == 1 && isGray)) << name;
    // A file that is cut off has the same size or none.
    for (size_t cut = 0; cut < file.size(); cut += 1 + file.size() / 100) {
      const Measured part = measure(Bytes(file.begin(), file.begin() + ptrdiff_t(cut)));
      if (part.status == KILN_STATUS_OK)
        EXPECT_TRUE(part.width == expected.width && part.height == expected.height) << name << " cut to " << cut;
      else
        EXPECT_TRUE(part.width == 0 && part.height == 0 && part.channels == 0) << name;
    }
  }
  if (isBuiltIn("gray1.png")) {
    EXPECT_TRUE(measure(readFile("gray1.png")).channels == 1 && measure(readFile("palette.png")).channels == 3);
  }
}

TEST(Images, BgrIsRgbTheOtherWayRound) {
  for (const auto &[name, expected] : expectations()) {
    if (!isBuiltIn(name))
      continue;
    Decoded bgr = decode(readFile(name), KILN_PIXELS_BGR);
    ASSERT_EQ(bgr.status, KILN_STATUS_OK) << name;
    for (size_t i = 0; i < bgr.pixels.size(); i += 3)
      std::swap(bgr.pixels[i], bgr.pixels[i + 2]);
    EXPECT_EQ(hash(bgr.pixels), expected.rgb) << name;
  }
}

// What is broken gives a status, or pixels within the room.
void expectNoHarm(const std::string &name, const Bytes &file, const char *what, size_t number) {
  const Decoded result = decode(file, number % 2 ? KILN_PIXELS_RGB : KILN_PIXELS_GRAYSCALE);
  if (result.status == KILN_STATUS_OK) {
    EXPECT_TRUE(result.image.height >= 1 && result.image.height <= 40 && result.image.width >= 1 && result.image.width <= 40) << name << what << number;
    EXPECT_EQ(result.message, "") << name << what << number;
  } else {
    EXPECT_TRUE(result.status == KILN_STATUS_IMAGE_UNREADABLE || result.status == KILN_STATUS_IMAGE_TOO_LARGE || result.status == KILN_STATUS_OUT_OF_MEMORY)
        << name << what << number << ": " << result.status;
    EXPECT_NE(result.message, "") << name << what << number;
  }
}

TEST(Images, CutOffFilesDoNoHarm) {
  for (const auto &[name, expected] : expectations()) {
    const Bytes file = readFile(name);
    for (size_t size = 0; size < file.size(); size += 1 + file.size() / 200)
      expectNoHarm(name, Bytes(file.begin(), file.begin() + ptrdiff_t(size)), " cut to ", size);
  }
}

TEST(Images, AFileWithoutItsSecondHalfIsNoPicture) {
  for (const auto &[name, expected] : expectations()) {
    const Bytes file = readFile(name);
    const Decoded result = decode(Bytes(file.begin(), file.begin() + ptrdiff_t(file.size() / 2)));
    EXPECT_EQ(result.status, KILN_STATUS_IMAGE_UNREADABLE) << name;
  }
}

TEST(Images, ChangedBytesDoNoHarm) {
  for (const auto &[name, expected] : expectations()) {
    const Bytes file = readFile(name);
    uint64_t state = hash(Bytes(name.begin(), name.end()));
    auto next = [&](size_t below) { return size_t((state = state * 6364136223846793005u + 1442695040888963407u) >> 33) % below; };
    for (size_t round = 0; round < 200; ++round) {
      Bytes changed(file);
      // Most of what can go wrong is in the first bytes; 0, 127 and 255 are where sizes get large.
      for (size_t flips = 1 + next(3); flips > 0; --flips) {
        uint8_t &byte = changed[next(2) ? next(changed.size()) : next(std::min<size_t>(changed.size(), 120))];
        byte = next(2) ? uint8_t(byte ^ (1u << next(8))) : uint8_t(next(3) * 127);
      }
      expectNoHarm(name, changed, " changed ", round);
    }
  }
}

TEST(Images, APictureBeyondTheRoomIsNotTouched) {
  for (const auto &[name, expected] : expectations()) {
    if (!isBuiltIn(name))
      continue;
    const Bytes file = readFile(name);
    for (const Room &room : {Room{expected.height - 1, expected.width}, Room{expected.height, expected.width - 1},
                             Room{expected.height, expected.width, expected.width * expected.height - 1}}) {
      const Decoded result = decode(file, KILN_PIXELS_RGB, room);
      EXPECT_EQ(result.status, KILN_STATUS_IMAGE_TOO_LARGE) << name;
      EXPECT_NE(result.message.find(": the picture is "), std::string::npos) << result.message;
      EXPECT_EQ(std::count(result.pixels.begin(), result.pixels.end(), 0), ptrdiff_t(result.pixels.size())) << name;
    }
    EXPECT_EQ(decode(file, KILN_PIXELS_RGB, {expected.height, expected.width, expected.width * expected.height}).status, KILN_STATUS_OK) << name;
  }
}

std::string messageOf(const std::string &text) { return decode(Bytes(text.begin(), text.end())).message; }

TEST(Images, MessagesSayWhatIsWrong) {
  EXPECT_EQ(messageOf(""), "picture: in none of the known formats: BMP, JPEG, JPEG 2000, PNG, PNM, TIFF, WebP");
  EXPECT_EQ(messageOf("GIF89a"), "picture: in none of the known formats: BMP, JPEG, JPEG 2000, PNG, PNM, TIFF, WebP");
  EXPECT_EQ(messageOf("P6 0 4 255\n"), "PNM: a picture without pixels");
  EXPECT_EQ(messageOf("P6 4 4 70000\n"), "PNM: a largest value outside of 1 to 65535");
  EXPECT_EQ(messageOf("P6 4 4 255\nabc"), "PNM: the file is cut off");
  EXPECT_EQ(messageOf("P6 4 4 x"), "PNM: the header is malformed, or cut off");
  EXPECT_EQ(messageOf("P6 41 1 255\n"), "PNM: the picture is 41 x 1, but there is room for 40 x 40");
  EXPECT_EQ(messageOf("P6 4294967297 1 255\n"), "PNM: the picture is 4294967297 x 1, but there is room for 40 x 40");
  EXPECT_EQ(messageOf("P2 2 1 9 3 10"), "PNM: a value that is larger than the header says");
  EXPECT_EQ(messageOf("P2 2 1 9 3 y"), "PNM: a value that is no number");
  EXPECT_EQ(messageOf("P1 2 1 02"), "PNM: a pixel that is neither 0 nor 1");
  const std::string start = std::string("BM\0\0\0\0\0\0\0\0\0\0\0\0", 14);
  EXPECT_EQ(messageOf(start), "BMP: a header of an unknown kind");
  EXPECT_EQ(messageOf(start + std::string("\x0C\0\0\0\1\0\1\0\1\0\3\0", 12)), "BMP: a number of bits per pixel other than 1, 4, 8, 16, 24 and 32");
  EXPECT_EQ(messageOf(start + std::string("\x0C\0\0\0\1\0\1\0\1\0\x18\0", 12)), "BMP: the file is cut off");
}

TEST(Images, ABmpFileMayHaveAnyMasksOfUpToEightBits) {
  Bytes file = readFile("16-masks.bmp");
  file[54] = 0xFF, file[55] = 0xFF; // red takes 16 bits
  EXPECT_EQ(decode(file).message, "BMP: masks that do not describe channels of up to 8 bits");
  file[30] = 9;
  EXPECT_EQ(decode(file).message, "BMP: an unknown compression");
}

// The file with `to` in place of the first `from`.
Bytes replaced(const Bytes &file, const std::string &from, const std::string &to) {
  std::string text(file.begin(), file.end());
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos);
  text.replace(at, from.size(), to);
  return Bytes(text.begin(), text.end());
}

TEST(Images, MessagesSayWhatIsWrongWithAChangedFile) {
  const struct {
    const char *name;
    std::string from, to;
    const char *message;
  } changes[] = {
      {"runs8.bmp", std::string("\1\0\x08\0", 4), std::string("\1\0\x04\0", 4), "BMP: run lengths for another number of bits"},
      // Compression, tag 259.
      {"plain.tif", std::string("\3\1\3\0\1\0\0\0\1", 9), std::string("\3\1\3\0\1\0\0\0\6", 9), "TIFF: a compression that is none of PackBits, LZW, Deflate, JPEG and those of fax"},
      // The tiles' height, tag 323.
      {"tile.tif", std::string("\x43\1\3\0\1\0\0\0\x10\0\0\0", 12), std::string("\x43\1\4\0\1\0\0\0\0\0\0\x7F", 12),
       "TIFF: tiles of a size that cannot be read"},
      // The bits of three channels.
      {"ycbcr.tif", std::string("\x08\0\x08\0\x08\0", 6), std::string("\x10\0\x10\0\x10\0", 6), "TIFF: pixels of an unknown kind"},
  };
  for (const auto &change : changes)
    if (isBuiltIn(change.name))
      EXPECT_EQ(decode(replaced(readFile(change.name), change.from, change.to)).message, change.message) << change.name;
}

TEST(Images, AJpegFileHasOneThreeOrFourChannels) {
  if (!isBuiltIn("420.jpg"))
    return;
  // One pixel: the frame's header, with the channels 1 and 2, and the scan's.
  const Bytes two = {0xFF, 0xD8, 0xFF, 0xC0, 0, 14, 8, 0, 1, 0, 1, 2, 1, 0x11, 0, 2, 0x11, 0, 0xFF, 0xDA, 0, 8, 1, 1, 0, 0, 63, 0};
  EXPECT_EQ(decode(two).message, "JPEG: neither gray, colours nor CMYK");
}

TEST(Images, AJpegFileHasAtMostFiveHundredScans) {
  if (!isBuiltIn("444-progressive.jpg"))
    return;
  const Bytes file = readFile("444-progressive.jpg");
  const std::string text(file.begin(), file.end() - 2), scan = text.substr(text.rfind("\xFF\xDA"));
  const auto scans = std::count(text.begin(), text.end(), '\xDA'); // no fewer than there are
  auto decodeWith = [&](ptrdiff_t more) {
    std::string longer = text;
    for (; more > 0; --more)
      longer += scan;
    longer += "\xFF\xD9";
    return decode(Bytes(longer.begin(), longer.end()));
  };
  EXPECT_EQ(decodeWith(500 - scans).status, KILN_STATUS_OK);
  EXPECT_EQ(decodeWith(500).message, "JPEG: too many scans");
}

TEST(Images, TheBoxesOfAJpeg2000FileMayBeLarge) {
  if (!isBuiltIn("colours.jp2"))
    return;
  const Bytes file = readFile("colours.jp2");
  const std::string text(file.begin(), file.end());
  const size_t box = text.find("jp2c") - 4;
  auto expectSame = [&](const std::string &boxes, const char *what) {
    const std::string changed = text.substr(0, box) + boxes;
    const Decoded result = decode(Bytes(changed.begin(), changed.end()));
    ASSERT_EQ(result.status, KILN_STATUS_OK) << what << ": " << result.message;
    EXPECT_EQ(hash(result.pixels), expectations().at("colours.jp2").rgb) << what;
  };
  const size_t length = text.size() - box + 8;
  const std::string wide = std::string("\0\0\0\1jp2c\0\0\0\0\0\0", 14) + char(length >> 8) + char(length & 255);
  expectSame(wide + text.substr(box + 8), "a length of 64 bits");
  const std::string unknown = std::string("\0\3\0\0free", 8) + std::string(0x30000 - 8, 0);
  expectSame(unknown + text.substr(box), "a box that is not known, larger than what is read at once");
}

// A codestream of empty packets: SIZ, `header`, a tile whose own header is `tileHeader`.
std::string codestream(int size, int channels, const std::string &header, const std::string &tileHeader = "") {
  auto big = [](uint64_t number, int bytes) {
    std::string text;
    while (bytes-- > 0)
      text += char(number >> (8 * bytes));
    return text;
  };
  std::string siz = big(0, 2) + big(uint32_t(size), 4) + big(uint32_t(size), 4) + big(0, 8) + big(uint32_t(size), 4) + big(uint32_t(size), 4) + big(0, 8) +
                    big(uint32_t(channels), 2);
  for (int c = 0; c < channels; ++c)
    siz += std::string("\7\1\1", 3);
  const std::string body = tileHeader + std::string("\xFF\x93") + std::string(10, 0);
  return std::string("\xFF\x4F\xFF\x51") + big(uint32_t(siz.size() + 2), 2) + siz + header + std::string("\xFF\x5C\0\4\x40\x48", 6) +
         std::string("\xFF\x90\0\12\0\0", 6) + big(uint32_t(12 + body.size()), 4) + std::string("\0\1", 2) + body + "\xFF\xD9";
}

// Each marker that divides a picture into so many precincts or code blocks that OpenJPEG would take hundreds of bytes for a pixel.
TEST(Images, AJpeg2000FileHasFewPrecinctsAndCodeBlocks) {
  if (!isBuiltIn("bare.j2k"))
    return;
  const std::string plain("\xFF\x52\0\14\0\0\0\1\0\0\4\4\0\1", 14), tiny("\xFF\x52\0\15\1\0\0\1\0\0\4\4\0\1\0", 15);
  const std::string blocks("\xFF\x52\0\14\0\0\0\1\0\0\0\0\0\1", 14), split("\xFF\x52\0\14\0\0\0\1\0\0\1\1\4\1", 14);
  const std::string layers("\xFF\x52\0\15\1\0\xFF\xFF\0\0\4\4\0\1\x44", 15), ofChannel("\xFF\x53\0\12\0\1\0\4\4\0\1\0", 12);
  const std::string levels("\xFF\x52\0\16\1\0\0\1\0\1\4\4\0\1\x11\0", 16);
  auto whyNot = [](const std::string &text) { return decode(Bytes(text.begin(), text.end()), KILN_PIXELS_RGB, {1024, 1024}).message; };
  const char much[] = "JPEG 2000: precincts and code blocks that take too much memory";
  EXPECT_NE(whyNot(codestream(1024, 1, plain)), much);
  EXPECT_NE(whyNot(codestream(64, 1, tiny)), much);
  EXPECT_EQ(whyNot(codestream(1024, 1, tiny)), much);
  EXPECT_EQ(whyNot(codestream(1024, 4, tiny)), much);
  EXPECT_EQ(whyNot(codestream(1024, 4, blocks)), much);
  EXPECT_EQ(whyNot(codestream(1024, 1, split)), much);
  EXPECT_EQ(whyNot(codestream(1024, 1, layers)), much);
  EXPECT_EQ(whyNot(codestream(1024, 1, plain + ofChannel)), much);
  EXPECT_EQ(whyNot(codestream(1024, 1, plain, tiny)), much);
  EXPECT_EQ(whyNot(codestream(1024, 1, plain, ofChannel)), much);
  EXPECT_EQ(whyNot(codestream(1024, 1, levels)), "JPEG 2000: the header is malformed");
}

TEST(Images, ATiffFileHasACompressionOfTheList) {
  if (!isBuiltIn("plain.tif"))
    return;
  const Bytes file = readFile("plain.tif");
  // Old JPEG, NeXT, ThunderScan, Pixar, JBIG, SGI, LERC, LZMA, Zstandard, WebP, JPEG XL.
  for (int compression : {6, 32766, 32809, 32909, 34661, 34676, 34677, 34887, 34925, 50000, 50001, 50002}) {
    const std::string to = std::string("\3\1\3\0\1\0\0\0", 8) + char(compression & 255) + char(compression >> 8);
    const Decoded result = decode(replaced(file, std::string("\3\1\3\0\1\0\0\0\1\0", 10), to));
    EXPECT_EQ(result.status, KILN_STATUS_IMAGE_UNREADABLE) << compression;
    EXPECT_NE(result.message, "") << compression;
  }
}

// Pillow takes such a file for one of RGB.
TEST(Images, AJpeg2000FileMayHaveYCbCr) {
  if (!isBuiltIn("colours.jp2"))
    return;
  const Bytes file = readFile("colours.jp2");
  const Bytes from = decode(file).pixels;
  const Decoded result = decode(replaced(file, std::string("colr\1\0\0\0\0\0\x10", 11), std::string("colr\1\0\0\0\0\0\x12", 11)));
  ASSERT_EQ(result.status, KILN_STATUS_OK) << result.message;
  for (size_t i = 0; i < from.size(); i += 3) {
    const double y = from[i], cb = from[i + 1] - 128.0, cr = from[i + 2] - 128.0;
    const double rgb[3] = {y + 1.402 * cr, y - 0.34414 * cb - 0.71414 * cr, y + 1.772 * cb};
    for (size_t c = 0; c < 3; ++c)
      EXPECT_NEAR(result.pixels[i + c], std::clamp(rgb[c], 0.0, 255.0), 1.1) << i;
  }
}

TEST(Images, TheHookChecksItsArguments) {
  kiln_images images = KILN_IMAGES_INIT;
  uint8_t pixels[3] = {};
  const Bytes file = {'P', '6', ' ', '1', ' ', '1', ' ', '2', '5', '5', '\n', 7, 8, 9};
  kiln_image image = {file.data(), pixels, int64_t(file.size()), 1, 1, 0, 0, KILN_PIXELS_RGB, 3};
  EXPECT_EQ(kiln_images_decode(nullptr, &image), KILN_STATUS_OK);
  EXPECT_TRUE(pixels[0] == 7 && pixels[1] == 8 && pixels[2] == 9);
  EXPECT_EQ(kiln_images_decode(&images, nullptr), KILN_STATUS_NULL_POINTER);
  image.bytes = nullptr;
  EXPECT_EQ(kiln_images_decode(&images, &image), KILN_STATUS_IMAGE_UNREADABLE);
  image.pixels = nullptr;
  EXPECT_EQ(kiln_images_decode(&images, &image), KILN_STATUS_NULL_POINTER);
  images.abi_version = 0;
  EXPECT_EQ(kiln_images_decode(&images, &image), KILN_STATUS_ABI_MISMATCH);
  images = KILN_IMAGES_INIT;
  images.struct_size = 16;
  EXPECT_EQ(kiln_images_decode(&images, &image), KILN_STATUS_ABI_MISMATCH);
}

} // namespace
