//===- AlderLake.cpp - Intel Core from 2021 on ------------------------------===//
#include "compiler/target/Targets.h"
#include "compiler/target/x86_64/Levels.h"

using namespace mlir;

namespace kiln {

// The caches are those of a fast core; the small cores share 2 MiB of second-level cache among four.
kernel::TargetAttr describeAlderLake(MLIRContext *context, StringRef name) {
  return makeX86Target(context, name, name, x86Features(name), 48 << 10, 1280 << 10, 24 << 20);
}

} // namespace kiln
