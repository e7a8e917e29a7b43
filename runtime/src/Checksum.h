// The checksum of a weights file, of bytes that come in pieces.
#ifndef KILN_RUNTIME_CHECKSUM_H
#define KILN_RUNTIME_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

namespace kiln {

/// kiln_checksum() of all bytes that were added, however they were cut into pieces.
class Checksum {
public:
  void add(const void *data, size_t size) {
    const unsigned char *bytes = static_cast<const unsigned char *>(data);
    size_t held = total % blockBytes, done = 0;
    total += size;
    if (held) {
      for (; held < blockBytes && done < size; ++held, ++done)
        rest[held] = bytes[done];
      if (held < blockBytes)
        return;
      addBlock(rest);
    }
    for (; size - done >= blockBytes; done += blockBytes)
      addBlock(bytes + done);
    for (held = 0; done < size; ++held, ++done)
      rest[held] = bytes[done];
  }

  /// Never 0.
  uint64_t get() const {
    unsigned char tail[blockBytes] = {};
    for (size_t i = 0; i < total % blockBytes; ++i)
      tail[i] = rest[i];
    uint64_t sum = total * multiplyB;
    for (int i = 0; i < 4; ++i)
      sum = stir(sum, stir(lanes[i], wordAt(tail + 8 * i)));
    sum = (sum ^ (sum >> 32)) * multiplyB;
    return sum ? sum : 1;
  }

private:
  static constexpr uint64_t multiplyA = 0x9e3779b97f4a7c15u; // 2^64 / golden ratio
  static constexpr uint64_t multiplyB = 0xd6e8feb86659fd93u;
  static constexpr size_t blockBytes = 32;

  // Words are little-endian on every machine, so that a file's checksum is one number.
  static uint64_t wordAt(const unsigned char *bytes) {
    uint64_t word;
    __builtin_memcpy(&word, bytes, sizeof(word));
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    return word;
  }

  static uint64_t stir(uint64_t state, uint64_t word) {
    state = (state ^ word) * multiplyA;
    return state ^ (state >> 29);
  }

  void addBlock(const unsigned char *bytes) {
    for (int i = 0; i < 4; ++i)
      lanes[i] = stir(lanes[i], wordAt(bytes + 8 * i));
  }

  // Four independent lanes keep the multiplier busy: memory speed, not latency, sets the time.
  uint64_t lanes[4] = {multiplyB, ~multiplyB, multiplyA, ~multiplyA};
  uint64_t total = 0;
  unsigned char rest[blockBytes];
};

} // namespace kiln

#endif // KILN_RUNTIME_CHECKSUM_H
