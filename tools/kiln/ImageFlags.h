//===- ImageFlags.h - The command-line options of pictures --------===//
#ifndef KILN_TOOLS_KILN_IMAGEFLAGS_H
#define KILN_TOOLS_KILN_IMAGEFLAGS_H

#include "compiler/ImageOptions.h"
#include "llvm/Support/Error.h"

namespace kiln {

/// What the --image options say.
llvm::Expected<ImageOptions> getImageOptions();

/// Whether one of them was given.
bool hasImageOptions();

} // namespace kiln

#endif // KILN_TOOLS_KILN_IMAGEFLAGS_H
