//===- Npy.h - NumPy's .npy files ------------------------------------------===//
#ifndef KILN_COMPILER_RUN_NPY_H
#define KILN_COMPILER_RUN_NPY_H

#include "compiler/run/Tensor.h"
#include "llvm/Support/raw_ostream.h"

namespace kiln {

/// Reads format versions 1 to 3, little-endian, C order: f2 f4 f8 i1 i2 i4 i8 u1 u2 u4 u8 b1, and V2 as bf16.
llvm::Expected<Tensor> readNpy(llvm::StringRef bytes);

/// False for strings of such different lengths that the file, where all are as wide as the longest, would be large and nearly empty.
bool fitsNpy(const Tensor &tensor);

/// Writes version 1. bf16 is written as V2, the way NumPy's ml_dtypes does it.
void writeNpy(llvm::raw_ostream &os, const Tensor &tensor);

} // namespace kiln

#endif // KILN_COMPILER_RUN_NPY_H
