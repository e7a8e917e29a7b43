#include "kiln/runtime.h"

#include "Checksum.h"
#include "System.h"

uint64_t kiln_checksum(const void *data, size_t size) {
  kiln::Checksum sum;
  sum.add(data, size);
  return sum.get();
}

kiln_status kiln_weights_map(const char *path, size_t size, uint64_t checksum, kiln_weights *weights) {
  if (!weights)
    return KILN_STATUS_NULL_POINTER;
  *weights = kiln_weights{};
  if (!path)
    return KILN_STATUS_NULL_POINTER;
  kiln_status status = kiln::mapFile(path, size, &weights->data);
  if (weights->data)
    weights->size = size;
  if (status == KILN_STATUS_OK && checksum != 0 && kiln_checksum(weights->data, size) != checksum) {
    kiln_weights_unmap(weights);
    return KILN_STATUS_WEIGHTS_MISMATCH;
  }
  return status;
}

void kiln_weights_unmap(kiln_weights *weights) {
  if (!weights || !weights->data)
    return;
  kiln::unmapFile(weights->data, weights->size);
  *weights = kiln_weights{};
}
