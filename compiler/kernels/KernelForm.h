//===- KernelForm.h - A kernel without a model -------------------------------===//
//
//   [m, n, k](a: f32[m, k], b: f32[k, n]) -> (c: f32[m, n]) { c = MatMul(a, b) }
//
// The text of a kernel: the sizes that its caller gives, in their order, its tensors, and ONNX nodes, the small model that a compile makes it of. A tensor
// without dimensions is a number that the caller passes by value. `$name` stands for a parameter of the kernel, which the user of `kiln kernels` may choose.
//
//   [m, n, k; blocks = k / 32](...)     a size of the model that follows from the caller's
//   y = Softmax<axis = -1>(x)           attributes: integers, reals, lists of integers, "strings", names of types
//   y = Pow(x, 2.0)                     constants: reals are f32, integers i64; 0:u8 is of another type; [0, -1] is a list of i64
//   y = com.microsoft.QuickGelu(x)      an operator of another domain
//   packed b: i8[k, n]                  an operand, the right side of a product, that a function of the library packs first; with more dimensions, filters
//   sums s: i32[n]                      the sums of its columns, which that function stores behind it
//   scales s: f32[n, blocks]            numbers of its blocks, which that function takes and stores behind it
//
//===----------------------------------------------------------------------===//
#ifndef KILN_COMPILER_KERNELS_KERNELFORM_H
#define KILN_COMPILER_KERNELS_KERNELFORM_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace kiln {

/// An operand or a result.
struct KernelTensor {
  std::string name;
  /// f32, u8: the types of generated headers.
  std::string element;
  /// Names of sizes, and numbers. For results of definitions, expressions for people to read.
  std::vector<std::string> dims;
  /// A matrix that the caller packs; the sums of its columns, of which he knows nothing; the scales of its blocks, which are packed with it.
  bool isPacked = false, isSums = false, isScales = false;

  bool isValue() const { return dims.empty(); }
  /// It lies behind the packed matrix, so the kernel's function does not take it.
  bool isBehindPacked() const { return isSums || isScales; }
  /// f32[m,k].
  std::string text() const;
};

/// What a kernel can be made for: a type, an axis, a constant.
struct KernelParameter {
  std::string name, value;
  /// What the table allows for an integer: numbers up to one, and multiples of one.
  int64_t most = INT64_MAX, step = 1;
};

/// A size of the model that is another one divided by a number.
struct DerivedSize {
  std::string name, of;
  int64_t divisor;
};

struct KernelForm {
  /// The name in the library, and that in the list; they differ where the user has renamed it.
  std::string name, kernel;
  std::string summary;
  std::vector<KernelParameter> parameters;
  std::vector<std::string> sizes;
  std::vector<DerivedSize> derived;
  std::vector<KernelTensor> inputs, outputs;
  /// The small model, an ONNX file's bytes.
  std::string model;
  /// The file of definitions that it needs; empty: none.
  std::string definitions;

  /// gemm_f32(m, n, k; a: f32[m,k], b: f32[k,n]) -> c: f32[m,n]
  std::string signature() const;
};

/// Reads the text of a kernel. `form` has its name and its parameters, and gets the rest.
llvm::Error readKernelText(llvm::StringRef text, KernelForm &form);

/// The number of an element type in ONNX, such as 1 for f32; 0 for other words.
int findElementNumber(llvm::StringRef name);
/// The end of a message about such another word.
std::string describeUnknownType(llvm::StringRef name);

} // namespace kiln

#endif // KILN_COMPILER_KERNELS_KERNELFORM_H
