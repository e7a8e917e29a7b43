//===- OutputFile.cpp - A file that a compile makes ------------------------===//
#include "compiler/OutputFile.h"

#include <algorithm>

using namespace llvm;

namespace kiln {

namespace {
/// A stream into memory of sufficient size.
class FixedStream : public raw_ostream {
public:
  explicit FixedStream(char *start) : next(start), start(start) {}
  ~FixedStream() override { flush(); }

private:
  void write_impl(const char *bytes, size_t size) override { next = std::copy_n(bytes, size, next); }
  uint64_t current_pos() const override { return next - start; }
  char *next, *start;
};
} // namespace

void OutputFile::write(raw_ostream &out) const {
  if (stream)
    stream(out);
  else
    out << contents;
}

std::unique_ptr<MemoryBuffer> OutputFile::toBuffer() const {
  if (!stream)
    return MemoryBuffer::getMemBuffer(contents, path, false);
  // Aligned like a mapped file, because weights must begin on a cache line.
  std::unique_ptr<WritableMemoryBuffer> buffer = WritableMemoryBuffer::getNewUninitMemBuffer(getSize(), path, Align(64));
  if (!buffer)
    return nullptr;
  FixedStream out(buffer->getBufferStart());
  stream(out);
  return buffer;
}

} // namespace kiln
