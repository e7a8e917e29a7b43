//===- WayOut.h - What a user can do about an operator ------------------------===//
#ifndef KILN_COMPILER_IMPORT_WAYOUT_H
#define KILN_COMPILER_IMPORT_WAYOUT_H

#include "llvm/ADT/StringRef.h"

namespace kiln::import {

/// What helps with a model that calls an operator that is not there, which depends on who writes such operators.
llvm::StringRef findWayOut(llvm::StringRef domain);

} // namespace kiln::import

#endif // KILN_COMPILER_IMPORT_WAYOUT_H
