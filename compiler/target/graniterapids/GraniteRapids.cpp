//===- GraniteRapids.cpp - Intel Xeon of 2024 ------------------------------===//
#include "compiler/target/Targets.h"
#include "compiler/target/x86_64/Levels.h"

using namespace mlir;

namespace kiln {

kernel::TargetAttr describeGraniteRapids(MLIRContext *context, StringRef name) {
  return makeX86Target(context, name, name, x86Features(name), 48 << 10, 2 << 20, 64 << 20);
}

} // namespace kiln
