// Calls a model that decodes a picture: with a hook of its own, without one, and with hooks that fail.
#include "m.h"

#include <cstdio>
#include <cstring>
#include <thread>
#include <vector>

static std::thread::id caller;

// "Decodes" a file of height, width and a value: pixels count on from the value. `user` is the status to return.
static kiln_status decode(void *user, kiln_image *image) {
  if (std::this_thread::get_id() != caller || image->size != 3 || image->format != KILN_PIXELS_RGB || image->channels != 3)
    return KILN_STATUS_INVALID_ARGUMENT;
  image->height = image->bytes[0];
  image->width = image->bytes[1];
  if (image->height > image->max_height || image->width > image->max_width)
    return KILN_STATUS_IMAGE_TOO_LARGE;
  for (int64_t i = 0; i < image->height * image->width * 3; ++i)
    image->pixels[i] = uint8_t(image->bytes[2] + i);
  return *static_cast<kiln_status *>(user);
}

static void show(const char *what, uint8_t height, uint8_t width, const kiln_context *context) {
  const uint8_t file[3] = {height, width, 10};
  m_dims dims = {};
  dims.n = 3;
  std::vector<unsigned char> workspace(m_workspace_size(&dims) + KILN_ALIGNMENT);
  auto *aligned = reinterpret_cast<unsigned char *>((reinterpret_cast<uintptr_t>(workspace.data()) + KILN_ALIGNMENT - 1) / KILN_ALIGNMENT * KILN_ALIGNMENT);
  std::vector<uint8_t> image(M_IMAGE_MOST_ELEMENTS);
  std::vector<float> mean(3);
  m_inputs in = {file};
  m_outputs out = {image.data(), mean.data()};
  const kiln_status status = m_run(&dims, &in, &out, aligned, context);
  if (status)
    std::printf("%s: status %d\n", what, status);
  else
    std::printf("%s: %lld x %lld, %d to %d, means %g %g %g\n", what, (long long)dims.image_height, (long long)dims.image_width, image[0],
                image[size_t(dims.image_height * dims.image_width * 3 - 1)], mean[0], mean[1], mean[2]);
}

int main() {
  caller = std::this_thread::get_id();
  kiln_status answer = KILN_STATUS_OK;
  kiln_context context = KILN_CONTEXT_INIT;
  show("no context", 2, 3, nullptr);
  show("no hook", 2, 3, &context);
  context.decode_image = decode;
  context.decode_user = &answer;
  show("decoded", 2, 3, &context);
  show("the largest", 4, 8, &context);
  show("too wide", 1, 9, &context);
  show("empty", 0, 3, &context);
  answer = KILN_STATUS_OUT_OF_MEMORY;
  show("refused", 2, 3, &context);
  answer = KILN_STATUS_OK;
  context.struct_size = offsetof(kiln_context, decode_image);
  show("an old context", 2, 3, &context);
  return 0;
}
