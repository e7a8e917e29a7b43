//===- SilentProtobuf.h - Parsing without protobuf's own messages ----------===//
#ifndef KILN_COMPILER_IMPORT_SILENTPROTOBUF_H
#define KILN_COMPILER_IMPORT_SILENTPROTOBUF_H

#include <google/protobuf/stubs/logging.h>

namespace kiln {

/// protobuf otherwise writes to stderr what we say ourselves, as long as one lives.
struct SilentProtobuf {
  google::protobuf::LogHandler *previous = google::protobuf::SetLogHandler(nullptr);
  ~SilentProtobuf() { google::protobuf::SetLogHandler(previous); }
};

} // namespace kiln

#endif // KILN_COMPILER_IMPORT_SILENTPROTOBUF_H
