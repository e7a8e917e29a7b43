/* Writes the inputs that the macros of the header make of a picture: preprocess PICTURE FOLDER. */
#include "net.h"

#include <kiln/images.h>
#include <kiln/runtime.h>
#include <stdio.h>
#include <stdlib.h>

static int make(const uint8_t *file, long bytes, const kiln_preprocess *how, const char *folder, const char *name) {
  kiln_images images = KILN_IMAGES_INIT;
  kiln_pixels size = {NULL, 0, 0, 0, 0};
  if (kiln_images_size(&images, file, bytes, &size.height, &size.width, &size.channels))
    return 1;
  size.stride = size.width * size.channels;
  size_t count = kiln_preprocess_size(&size, how);
  void *tensor = count == SIZE_MAX ? NULL : malloc(count);
  kiln_status status = tensor ? kiln_images_tensor(&images, file, bytes, how, tensor, count) : KILN_STATUS_INVALID_ARGUMENT;
  char path[1000];
  snprintf(path, sizeof path, "%s/%s.bin", folder, name);
  FILE *out = fopen(path, "wb");
  if (!status && out)
    fwrite(tensor, 1, count, out);
  else
    printf("%s: %s\n", name, kiln_status_string(status));
  if (out)
    fclose(out);
  free(tensor);
  return 0;
}

int main(int argc, char **argv) {
  static uint8_t file[1 << 20];
  FILE *stream = argc == 3 ? fopen(argv[1], "rb") : NULL;
  if (!stream)
    return 2;
  long bytes = (long)fread(file, 1, sizeof file, stream);
  fclose(stream);
  const kiln_preprocess x = NET_X_PREPROCESS, half = NET_HALF_PREPROCESS, bytes8 = NET_BYTES8_PREPROCESS, open = NET_OPEN_PREPROCESS;
  return make(file, bytes, &x, argv[2], "x") || make(file, bytes, &half, argv[2], "half") || make(file, bytes, &bytes8, argv[2], "bytes8") ||
         make(file, bytes, &open, argv[2], "open");
}
