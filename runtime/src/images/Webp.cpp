// WebP, by libwebp: the first frame of an animation on its canvas, as a picture alone.
#include "Picture.h"

#include <webp/decode.h>
#include <webp/demux.h>

namespace kiln_images_lib {

bool readWebp(Picture &picture) {
  WebPBitstreamFeatures features;
  const VP8StatusCode code = WebPGetFeatures(picture.bytes(), picture.size(), &features);
  if (code != VP8_STATUS_OK)
    return picture.fail(code == VP8_STATUS_NOT_ENOUGH_DATA ? "the file is cut off" : "the header is malformed");
  if (!picture.begin(features.width, features.height))
    return false;
  WebPAnimDecoderOptions options;
  WebPAnimDecoderOptionsInit(&options);
  options.color_mode = MODE_RGBA;
  const WebPData data = {picture.bytes(), picture.size()};
  WebPAnimDecoder *decoder = WebPAnimDecoderNew(&data, &options);
  if (!decoder)
    return picture.fail("malformed, or cut off");
  uint8_t *pixels = nullptr;
  int time = 0;
  WebPAnimInfo canvas;
  const bool fits = WebPAnimDecoderGetInfo(decoder, &canvas) && canvas.canvas_width == uint32_t(features.width) &&
                    canvas.canvas_height == uint32_t(features.height);
  const bool done = fits && WebPAnimDecoderGetNext(decoder, &pixels, &time);
  for (int64_t y = 0; done && y < picture.height(); ++y)
    picture.rgb(y, pixels + y * picture.width() * 4, 4);
  WebPAnimDecoderDelete(decoder);
  return done || picture.fail("the data is malformed, or cut off");
}

} // namespace kiln_images_lib
