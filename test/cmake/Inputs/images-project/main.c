/* Decodes the picture whose path is the argument, and prints its size and the sum of its bytes. */
#include "net.h"
#include <kiln/images.h>

#include <stdio.h>
#include <stdlib.h>

static uint8_t file[1 << 20];

int main(int argc, char **argv) {
  FILE *stream = argc > 1 ? fopen(argv[1], "rb") : NULL;
  if (!stream)
    return 1;
  const size_t size = fread(file, 1, sizeof(file), stream);
  fclose(stream);
  kiln_images images = KILN_IMAGES_INIT;
  kiln_context context = KILN_CONTEXT_INIT;
  context.decode_image = kiln_images_decode;
  context.decode_user = &images;
  net_dims dims = {0};
  dims.n = (int64_t)size;
  uint8_t *pixels = malloc(NET_IMAGE_MOST_ELEMENTS);
  const size_t bytes = (net_workspace_size(&dims) + KILN_ALIGNMENT - 1) / KILN_ALIGNMENT * KILN_ALIGNMENT;
  void *workspace = aligned_alloc(KILN_ALIGNMENT, bytes);
  const net_inputs in = {file};
  const net_outputs out = {pixels};
  const kiln_status status = net_run(&dims, &in, &out, workspace, &context);
  if (status) {
    printf("status %d: %s\n", status, images.message);
  } else {
    unsigned long sum = 0;
    for (int64_t i = 0; i < dims.image_height * dims.image_width * 3; ++i)
      sum += pixels[i];
    printf("%d x %d, sum %lu\n", (int)dims.image_height, (int)dims.image_width, sum);
  }
  free(workspace);
  free(pixels);
  return 0;
}
