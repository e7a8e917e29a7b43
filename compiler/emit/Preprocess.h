//===- Preprocess.h - From pictures to inputs ---------------------===//
#ifndef KILN_COMPILER_EMIT_PREPROCESS_H
#define KILN_COMPILER_EMIT_PREPROCESS_H

#include "compiler/ImageOptions.h"
#include "compiler/emit/Signature.h"
#include "kiln/pixels.h"
#include "llvm/Support/Error.h"

namespace kiln {

/// The axes of an input that takes a picture; -1: no such axis.
struct ImageAxes {
  int64_t batch = -1, channels = -1, height = 0, width = 1;
};

/// Fails for ranks other than 2 to 4 and for a layout that is not known.
llvm::Expected<ImageAxes> findImageAxes(size_t rank, const ImageOptions &options);

/// What the runtime is to do for an input with these dimensions, of which -1 are as the picture. Fails for options that it does not know, and for
/// another number of means, deviations and fills than one or one for each channel; `channels` is that of the picture, where the input leaves it open.
llvm::Expected<kiln_preprocess> makePreprocess(const ImageOptions &options, kiln_element_type type, llvm::ArrayRef<int64_t> dims, int64_t channels = 0);

/// Macros NET_X_PREPROCESS of the inputs that take a picture; empty if the user asks for none.
std::string printPreprocess(const Signature &signature);

/// The error for options of pictures in the compile of a model that has no input for one.
llvm::Error checkPreprocess(const Signature &signature);

} // namespace kiln

#endif // KILN_COMPILER_EMIT_PREPROCESS_H
