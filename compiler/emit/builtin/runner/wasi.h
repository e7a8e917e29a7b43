// What the program around a model asks of WASI.
#ifndef KILN_RUNNER_WASI_H
#define KILN_RUNNER_WASI_H

#include "kiln/abi.h"

extern "C" {
struct Piece {
  const void *at;
  size_t bytes;
};
#define KILN_WASI(name) __attribute__((import_module("wasi_snapshot_preview1"), import_name(name)))
KILN_WASI("fd_read") int32_t wasi_read(int32_t file, const Piece *pieces, size_t count, size_t *done);
KILN_WASI("fd_write") int32_t wasi_write(int32_t file, const Piece *pieces, size_t count, size_t *done);
KILN_WASI("clock_time_get") int32_t wasi_clock(int32_t clock, uint64_t precision, int64_t *nanoseconds);
KILN_WASI("proc_exit") [[noreturn]] void wasi_exit(int32_t status);
extern char __heap_base;
}

namespace {

[[noreturn]] void stop(int32_t status) { wasi_exit(status); }

// The bytes that were done; -1 if it fails.
intptr_t moveBytes(int32_t (*call)(int32_t, const Piece *, size_t, size_t *), int32_t file, const void *at, uintptr_t bytes) {
  const Piece piece = {at, bytes};
  size_t done = 0;
  return call(file, &piece, 1, &done) == 0 ? intptr_t(done) : -1;
}
intptr_t readSome(void *to, uintptr_t bytes) { return moveBytes(wasi_read, 0, to, bytes); }
intptr_t writeSome(const void *from, uintptr_t bytes) { return moveBytes(wasi_write, 1, from, bytes); }

// Memory that has never been used is zero; null if there is no more.
char *map(uintptr_t bytes) {
  constexpr uint64_t page = 65536, most = 65536 * page;
  static uint64_t used = 0;
  const uint64_t start = reinterpret_cast<size_t>(&__heap_base), at = (start + used + KILN_ALIGNMENT - 1) / KILN_ALIGNMENT * KILN_ALIGNMENT;
  const uint64_t have = __builtin_wasm_memory_size(0) * page;
  if (at >= most || bytes > most - at)
    return nullptr;
  used = at + bytes - start;
  if (at + bytes > have && __builtin_wasm_memory_grow(0, size_t((at + bytes - have + page - 1) / page)) == size_t(-1))
    return nullptr;
  return reinterpret_cast<char *>(size_t(at));
}

int64_t readClock() {
  constexpr int32_t monotonic = 1;
  int64_t nanoseconds = 0;
  wasi_clock(monotonic, 1, &nanoseconds);
  return nanoseconds;
}

} // namespace

#endif // KILN_RUNNER_WASI_H
