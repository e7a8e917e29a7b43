// JPEG 2000 (JP2 files and bare codestreams), by OpenJPEG.
//
// OpenJPEG asks for memory by what the headers say of tiles, channels, precincts and code blocks, so that is looked at before.
#include "Picture.h"

#include <openjpeg.h>

namespace kiln_images_lib {

namespace {

constexpr int mostChannels = 4;
// Each tile has some kilobytes of state.
constexpr uint64_t mostTiles = 2048;

uint32_t be16(const uint8_t *at) { return uint32_t(at[0]) << 8 | at[1]; }
uint32_t be32(const uint8_t *at) { return be16(at) << 16 | be16(at + 2); }

struct Decoder {
  Picture *picture;
  size_t at = 0;
  opj_stream_t *stream = nullptr;
  opj_codec_t *codec = nullptr;
  opj_image_t *image = nullptr;
  bool isBare = false;
};

OPJ_SIZE_T onRead(void *to, OPJ_SIZE_T count, void *user) {
  Decoder &decoder = *static_cast<Decoder *>(user);
  const size_t left = decoder.picture->size() - decoder.at;
  if (left == 0)
    return OPJ_SIZE_T(-1);
  count = count < left ? count : left;
  memcpy(to, decoder.picture->bytes() + decoder.at, count);
  decoder.at += count;
  return count;
}
OPJ_OFF_T onSkip(OPJ_OFF_T count, void *user) {
  Decoder &decoder = *static_cast<Decoder *>(user);
  const size_t left = decoder.picture->size() - decoder.at;
  const bool isWithin = count >= 0 && size_t(count) <= left;
  decoder.at += isWithin ? size_t(count) : left;
  return isWithin ? count : -1;
}
OPJ_BOOL onSeek(OPJ_OFF_T place, void *user) {
  Decoder &decoder = *static_cast<Decoder *>(user);
  const bool isWithin = place >= 0 && size_t(place) <= decoder.picture->size();
  decoder.at = isWithin ? size_t(place) : decoder.at;
  return isWithin;
}
void onError(const char *text, void *user) { static_cast<Decoder *>(user)->picture->fail(text); }

// Where the codestream of a JP2 file begins: in its box 'jp2c'. 0: nowhere.
size_t findCodestream(const Picture &picture) {
  const uint8_t *bytes = picture.bytes();
  for (size_t at = 0; at + 8 <= picture.size();) {
    uint64_t length = be32(bytes + at);
    size_t head = 8;
    if (length == 1 && at + 16 <= picture.size()) {
      length = uint64_t(be32(bytes + at + 8)) << 32 | be32(bytes + at + 12);
      head = 16;
    }
    if (memcmp(bytes + at + 4, "jp2c", 4) == 0)
      return at + head;
    if (length < head || length > picture.size() - at)
      return 0;
    at += size_t(length);
  }
  return 0;
}

// The size of picture and tiles, and the number of channels, as the marker SIZ has them.
bool checkSize(Picture &picture, size_t at) {
  if (picture.size() < at || picture.size() - at < 42)
    return picture.fail("the file is cut off");
  const uint8_t *siz = picture.bytes() + at;
  if (memcmp(siz, "\xFF\x4F\xFF\x51", 4) != 0)
    return picture.fail("no header at the start of the codestream");
  const uint64_t right = be32(siz + 8), bottom = be32(siz + 12), left = be32(siz + 16), top = be32(siz + 20);
  const uint64_t tileWidth = be32(siz + 24), tileHeight = be32(siz + 28), tileLeft = be32(siz + 32), tileTop = be32(siz + 36);
  const uint32_t channels = be16(siz + 40);
  if (right <= left || bottom <= top || tileWidth == 0 || tileHeight == 0 || tileLeft > left || tileTop > top)
    return picture.fail("the header is malformed");
  if (channels < 1 || channels > mostChannels)
    return picture.fail("more than 4 channels");
  const uint64_t across = (right - tileLeft + tileWidth - 1) / tileWidth, down = (bottom - tileTop + tileHeight - 1) / tileHeight;
  if (across > mostTiles || down > mostTiles || across * down > mostTiles)
    return picture.fail("more than 2048 tiles");
  return picture.begin(int64_t(right - left), int64_t(bottom - top), channels < 3);
}

// Reads from the headers the picture's largest tile and the markers that divide tiles further.
class Structure {
public:
  Structure(Picture &picture, size_t at) : picture(picture), at(at) {}
  // Walks over the headers as OpenJPEG does: those of the file, and those of each part of a tile.
  bool check();

private:
  // Bytes that a precinct, and a code block with its segments, take in OpenJPEG; more where each pass of a block may be a segment.
  static constexpr uint64_t perPrecinct = 200, perBlock = 600, perSplitBlock = 8000;
  static constexpr uint32_t startOfTile = 0xFF90, startOfData = 0xFF93;

  const uint8_t *bytes() const { return picture.bytes() + at; }
  size_t left() const { return picture.size() - at; }
  // Goes to the end of a header's markers, each of which takes its part of the budget.
  bool walk(uint32_t end);
  bool readSize(const uint8_t *segment, size_t length);
  bool addDivision(const uint8_t *segment, size_t length, bool isOfChannel);
  bool isWithin() { return bytesOfPart <= mostBytes || picture.fail("precincts and code blocks that take too much memory"); }

  Picture &picture;
  size_t at;
  uint64_t width = 0, height = 0, channels = 0, layers = 0, mostPrecincts = 0, bytesOfPart = 0, mostBytes = 0;
};

bool Structure::readSize(const uint8_t *segment, size_t length) {
  if (length < 36)
    return picture.fail("the header is malformed");
  const uint64_t tileWidth = be32(segment + 18), tileHeight = be32(segment + 22);
  width = tileWidth < uint64_t(picture.width()) ? tileWidth : uint64_t(picture.width());
  height = tileHeight < uint64_t(picture.height()) ? tileHeight : uint64_t(picture.height());
  channels = be16(segment + 34);
  // With the samples of four channels, 48 bytes per pixel.
  mostBytes = 12 * uint64_t(picture.width()) * uint64_t(picture.height()) + (uint64_t(48) << 20);
  return true;
}

// COD, which is for all channels, or COC: levels, the size and style of code blocks, and the sizes of precincts.
bool Structure::addDivision(const uint8_t *segment, size_t length, bool isOfChannel) {
  const size_t start = isOfChannel ? 2 : 5;
  if (length < start + 5)
    return picture.fail("the header is malformed");
  const int levels = segment[start], blockWidth = segment[start + 1] + 2, blockHeight = segment[start + 2] + 2;
  const bool isDivided = segment[isOfChannel ? 1 : 0] & 1, isSplit = segment[start + 3] & 5;
  if (levels > 32 || blockWidth > 10 || blockHeight > 10 || (isDivided && length < start + 5 + size_t(levels) + 1))
    return picture.fail("the header is malformed");
  if (!isOfChannel && be16(segment + 2) > layers)
    layers = be16(segment + 2);
  uint64_t sum = 0;
  for (int level = 0; level <= levels; ++level) {
    const int down = levels - level < 31 ? levels - level : 31, size = isDivided ? segment[start + 5 + level] : 0xFF;
    const int across = size & 15, along = size >> 4, isBand = level > 0;
    if (isBand && (across == 0 || along == 0))
      return picture.fail("the header is malformed");
    // Rounded up, with one more for a start within a precinct.
    auto count = [&](uint64_t extent, int shift) { return (extent >> (shift + down)) + 2; };
    const uint64_t precincts = count(width, across) * count(height, along);
    auto within = [&](int block, int precinct) { return block < precinct - isBand ? block + isBand : precinct; };
    const uint64_t blocks = count(width, within(blockWidth, across)) * count(height, within(blockHeight, along));
    mostPrecincts = precincts > mostPrecincts ? precincts : mostPrecincts;
    sum += (isBand ? 3 : 1) * (precincts * perPrecinct + blocks * (isSplit ? perSplitBlock : perBlock));
  }
  // A note for each layer of each packet.
  const uint64_t notes = 2 * (layers + 1) * uint64_t(levels + 1) * mostPrecincts;
  const uint64_t all = channels * (sum + notes);
  bytesOfPart = all > bytesOfPart ? all : bytesOfPart;
  return isWithin();
}

bool Structure::walk(uint32_t end) {
  while (left() >= 4) {
    const uint32_t marker = be16(bytes());
    if (marker == end)
      return true;
    const size_t length = be16(bytes() + 2);
    const bool isKnown = (marker >= 0xFF50 && marker <= 0xFF64) || (marker >= 0xFF74 && marker <= 0xFF79);
    if (!isKnown || length < 2 || length > left() - 2)
      return picture.fail("the header is malformed, or cut off");
    const uint8_t *segment = bytes() + 4;
    if (marker == 0xFF51 && !readSize(segment, length - 2))
      return false;
    if ((marker == 0xFF52 || marker == 0xFF53) && !addDivision(segment, length - 2, marker == 0xFF53))
      return false;
    at += 2 + length;
  }
  return picture.fail("the header is malformed, or cut off");
}

bool Structure::check() {
  at += 2;
  if (!walk(startOfTile))
    return false;
  while (left() >= 12 && be16(bytes()) == startOfTile) {
    const size_t begin = at, length = be32(bytes() + 6);
    if (be16(bytes() + 2) != 10 || (length > 0 && length < 14))
      return picture.fail("the header of a tile is malformed");
    at += 12;
    if (!walk(startOfData))
      return false;
    at += 2;
    // The last part goes to the end of the file.
    if (length == 0 || length > picture.size() - begin)
      return true;
    at = begin + length > at ? begin + length : at;
  }
  return true;
}

bool start(Decoder &decoder) {
  Picture &picture = *decoder.picture;
  decoder.stream = opj_stream_create(size_t(1) << 16, OPJ_TRUE);
  decoder.codec = opj_create_decompress(decoder.isBare ? OPJ_CODEC_J2K : OPJ_CODEC_JP2);
  if (!decoder.stream || !decoder.codec)
    return picture.fail(KILN_STATUS_OUT_OF_MEMORY, "out of memory");
  opj_stream_set_read_function(decoder.stream, onRead);
  opj_stream_set_skip_function(decoder.stream, onSkip);
  opj_stream_set_seek_function(decoder.stream, onSeek);
  opj_stream_set_user_data(decoder.stream, &decoder, nullptr);
  opj_stream_set_user_data_length(decoder.stream, picture.size());
  opj_set_error_handler(decoder.codec, onError, &decoder);
  opj_dparameters_t parameters;
  opj_set_default_decoder_parameters(&parameters);
  return opj_setup_decoder(decoder.codec, &parameters) || picture.fail("the decoder cannot be set up");
}

// A sample as 8 bits.
struct Channel {
  const opj_image_comp_t *component;
  int offset, shift;
  // Gray of JP2 files with more than 9 bits counts as 16 bits, of which Pillow keeps 0 to 255.
  bool isWide;

  uint8_t sample(int64_t x, int64_t y, int64_t width, int64_t height) const {
    const int64_t column = x * component->w / width, row = y * component->h / height;
    const int64_t value = int64_t(component->data[row * component->w + column]) + offset;
    if (value <= 0)
      return 0;
    const int64_t shifted = isWide ? value << (shift + 8) : shift >= 0 ? value << shift : (value + (int64_t(1) << (-shift - 1))) >> -shift;
    return uint8_t(shifted > 255 ? 255 : shifted);
  }
};

// Full-range YCbCr, in 1/64.
void toRgb(uint8_t *pixel) {
  auto rounded = [](double x) { return int(x < 0 ? x - 0.5 : x + 0.5); };
  const int y = pixel[0], cb = pixel[1] - 128, cr = pixel[2] - 128;
  pixel[0] = clip(y + (rounded(1.402 * 64 * cr) >> 6));
  pixel[1] = clip(y + ((rounded(-0.34414 * 64 * cb) + rounded(-0.71414 * 64 * cr)) >> 6));
  pixel[2] = clip(y + (rounded(1.772 * 64 * cb) >> 6));
}

// The first `colours` channels; OpenJPEG gives none that is missing or of other bits, but does not promise that.
bool findChannels(Decoder &decoder, int colours, Channel *channels) {
  const opj_image_t &image = *decoder.image;
  bool isKnown = true;
  for (int c = 0; isKnown && c < colours; ++c) {
    const opj_image_comp_t &component = image.comps[c];
    isKnown = component.data && component.w > 0 && component.h > 0 && component.prec >= 1 && component.prec <= 31;
    const bool isWide = image.numcomps == 1 && !decoder.isBare && component.prec > 9 && component.prec <= 16;
    channels[c] = {&component, isKnown && component.sgnd ? 1 << (component.prec - 1) : 0, 8 - int(component.prec), isWide};
  }
  return isKnown || decoder.picture->fail("a channel is missing, or of an unknown kind");
}

bool putPixels(Decoder &decoder) {
  Picture &picture = *decoder.picture;
  const opj_image_t &image = *decoder.image;
  const int colours = image.numcomps < 3 ? 1 : 3;
  Channel channels[3] = {};
  const bool isKnown = findChannels(decoder, colours, channels);
  for (int64_t y = 0; isKnown && y < picture.height(); ++y)
    for (int64_t x = 0; x < picture.width(); ++x) {
      uint8_t pixel[3];
      for (int c = 0; c < colours; ++c)
        pixel[c] = channels[c].sample(x, y, picture.width(), picture.height());
      if (colours == 1)
        pixel[1] = pixel[2] = pixel[0];
      else if (image.color_space == OPJ_CLRSPC_SYCC)
        toRgb(pixel);
      picture.put(x, y, pixel[0], pixel[1], pixel[2]);
    }
  return isKnown;
}

bool decode(Decoder &decoder) {
  Picture &picture = *decoder.picture;
  if (!start(decoder))
    return false;
  const opj_image_t *image = opj_read_header(decoder.stream, decoder.codec, &decoder.image) ? decoder.image : nullptr;
  if (!image || int64_t(image->x1) - image->x0 != picture.width() || int64_t(image->y1) - image->y0 != picture.height() || image->numcomps > mostChannels)
    return picture.fail("the header is malformed, or cut off");
  if (!opj_decode(decoder.codec, decoder.stream, decoder.image) || !opj_end_decompress(decoder.codec, decoder.stream))
    return picture.fail("the data is malformed, or cut off");
  return putPixels(decoder);
}

} // namespace

bool readJpeg2000(Picture &picture) {
  Decoder decoder;
  decoder.picture = &picture;
  decoder.isBare = picture.bytes()[0] == 0xFF;
  const size_t codestream = decoder.isBare ? 0 : findCodestream(picture);
  if (!decoder.isBare && codestream == 0)
    return picture.fail("the file is malformed, or cut off");
  const bool done = checkSize(picture, codestream) && Structure(picture, codestream).check() && decode(decoder);
  opj_image_destroy(decoder.image);
  opj_destroy_codec(decoder.codec);
  if (decoder.stream)
    opj_stream_destroy(decoder.stream);
  return done;
}

} // namespace kiln_images_lib
