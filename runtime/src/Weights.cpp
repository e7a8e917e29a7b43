#include "kiln/runtime.h"

#include "System.h"

namespace {

constexpr uint64_t multiplyA = 0x9e3779b97f4a7c15u; // 2^64 / golden ratio
constexpr uint64_t multiplyB = 0xd6e8feb86659fd93u;

// Words are little-endian on every machine, so that a file's checksum is one number.
uint64_t wordAt(const unsigned char *bytes) {
  uint64_t word;
  __builtin_memcpy(&word, bytes, sizeof(word));
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  word = __builtin_bswap64(word);
#endif
  return word;
}

uint64_t stir(uint64_t state, uint64_t word) {
  state = (state ^ word) * multiplyA;
  return state ^ (state >> 29);
}

} // namespace

uint64_t kiln_checksum(const void *data, size_t size) {
  const unsigned char *bytes = static_cast<const unsigned char *>(data);
  // Four independent lanes keep the multiplier busy: memory speed, not latency, sets the time.
  uint64_t lanes[4] = {multiplyB, ~multiplyB, multiplyA, ~multiplyA};
  size_t done = 0;
  for (; size - done >= 32; done += 32)
    for (int i = 0; i < 4; ++i)
      lanes[i] = stir(lanes[i], wordAt(bytes + done + 8 * i));
  unsigned char tail[32] = {};
  for (size_t i = 0; i < size - done; ++i)
    tail[i] = bytes[done + i];
  uint64_t sum = uint64_t(size) * multiplyB;
  for (int i = 0; i < 4; ++i)
    sum = stir(sum, stir(lanes[i], wordAt(tail + 8 * i)));
  sum = (sum ^ (sum >> 32)) * multiplyB;
  return sum ? sum : 1;
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
