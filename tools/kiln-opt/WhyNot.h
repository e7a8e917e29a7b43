//===- WhyNot.h - The reasons of patterns that did not match ---------------===//
#ifndef KILN_TOOLS_KILN_OPT_WHYNOT_H
#define KILN_TOOLS_KILN_OPT_WHYNOT_H

#include "mlir/IR/DialectRegistry.h"

namespace kiln {

/// Runs mlir-opt with these dialects. With --why-not, it prints why patterns did not match the operations that are left.
mlir::LogicalResult runOpt(int argc, char **argv, mlir::DialectRegistry &registry);

} // namespace kiln

#endif // KILN_TOOLS_KILN_OPT_WHYNOT_H
