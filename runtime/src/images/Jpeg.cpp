// JPEG, by libjpeg-turbo with its default settings: the accurate integer transform and smooth upsampling, as ONNX asks for.
#include "Picture.h"

#include <setjmp.h>
#include <stdio.h>

#include <jpeglib.h>

#include <jerror.h>

namespace kiln_images_lib {

namespace {

// A progressive file of more scans is made to cost time.
constexpr int mostScans = 500;

struct Decoder {
  jpeg_decompress_struct library;
  jpeg_error_mgr errors;
  jpeg_source_mgr source;
  jpeg_progress_mgr progress;
  jmp_buf end;
  Picture *picture;
  uint8_t *row; // of the library's channels
};

Decoder &decoderOf(j_common_ptr library) { return *static_cast<Decoder *>(library->client_data); }

[[noreturn]] void onError(j_common_ptr library) {
  char text[JMSG_LENGTH_MAX];
  library->err->format_message(library, text);
  Decoder &decoder = decoderOf(library);
  decoder.picture->fail(library->err->msg_code == JERR_OUT_OF_MEMORY ? KILN_STATUS_OUT_OF_MEMORY : KILN_STATUS_IMAGE_UNREADABLE, text);
  longjmp(decoder.end, 1);
}
void onWarning(j_common_ptr, int) {}

[[noreturn]] void stop(j_common_ptr library, const char *text) {
  Decoder &decoder = decoderOf(library);
  decoder.picture->fail(text);
  longjmp(decoder.end, 1);
}

void onScan(j_common_ptr library) {
  if (reinterpret_cast<j_decompress_ptr>(library)->input_scan_number > mostScans)
    stop(library, "too many scans");
}

// Nothing is to be done at the source's start and end.
void onSource(j_decompress_ptr) {}
boolean fillSource(j_decompress_ptr library) { stop(reinterpret_cast<j_common_ptr>(library), "the file is cut off"); }
void skipSource(j_decompress_ptr library, long count) {
  jpeg_source_mgr &source = *library->src;
  const size_t bytes = count > 0 ? size_t(count) : 0;
  if (bytes > source.bytes_in_buffer)
    fillSource(library);
  source.next_input_byte += bytes;
  source.bytes_in_buffer -= bytes;
}

void setUp(Decoder &decoder) {
  decoder.library.err = jpeg_std_error(&decoder.errors);
  decoder.errors.error_exit = onError;
  decoder.errors.emit_message = onWarning;
  decoder.library.client_data = &decoder;
}

void setSource(Decoder &decoder) {
  decoder.source.next_input_byte = decoder.picture->bytes();
  decoder.source.bytes_in_buffer = decoder.picture->size();
  decoder.source.init_source = onSource;
  decoder.source.fill_input_buffer = fillSource;
  decoder.source.skip_input_data = skipSource;
  decoder.source.resync_to_restart = jpeg_resync_to_restart;
  decoder.source.term_source = onSource;
  decoder.library.src = &decoder.source;
  decoder.progress.progress_monitor = onScan;
  decoder.library.progress = &decoder.progress;
}

void putRow(const Decoder &decoder, int64_t y) {
  const jpeg_decompress_struct &library = decoder.library;
  if (library.output_components == 1)
    return decoder.picture->gray(y, decoder.row);
  if (library.output_components == 3)
    return decoder.picture->rgb(y, decoder.row);
  // Four channels are ink, stored the other way round, as Adobe's programs do.
  for (int64_t x = 0; x < decoder.picture->width(); ++x) {
    uint8_t ink[4], colour[3];
    for (int i = 0; i < 4; ++i)
      ink[i] = uint8_t(255 - decoder.row[4 * x + i]);
    inkToRgb(ink, colour);
    decoder.picture->put(x, y, colour[0], colour[1], colour[2]);
  }
}

// Everything that may jump; no variable of this function is used after a jump.
bool decode(Decoder &decoder) {
  if (setjmp(decoder.end))
    return false;
  jpeg_decompress_struct &library = decoder.library;
  jpeg_create_decompress(&library);
  library.mem->max_memory_to_use = 0;
  setSource(decoder);
  jpeg_read_header(&library, TRUE);
  if (library.num_components != 1 && library.num_components != 3 && library.num_components != 4)
    return decoder.picture->fail("neither gray, colours nor CMYK");
  if (!decoder.picture->begin(library.image_width, library.image_height, library.num_components == 1))
    return false;
  library.out_color_space = library.num_components == 1 ? JCS_GRAYSCALE : library.num_components == 3 ? JCS_RGB : JCS_CMYK;
  jpeg_start_decompress(&library);
  decoder.row = static_cast<uint8_t *>(decoder.picture->allocate(library.output_width, library.output_components));
  if (!decoder.row)
    return false;
  while (library.output_scanline < library.output_height) {
    const int64_t y = library.output_scanline;
    if (jpeg_read_scanlines(&library, &decoder.row, 1) == 1)
      putRow(decoder, y);
  }
  return true;
}

} // namespace

bool readJpeg(Picture &picture) {
  Decoder decoder = {};
  decoder.picture = &picture;
  setUp(decoder);
  const bool done = decode(decoder);
  jpeg_destroy_decompress(&decoder.library);
  free(decoder.row);
  return done;
}

} // namespace kiln_images_lib
