//===- Description.h - The description of a compiled model -------------------===//
#ifndef KILN_COMPILER_DESCRIPTION_H
#define KILN_COMPILER_DESCRIPTION_H

#include "compiler/Decisions.h"
#include "compiler/Origin.h"
#include "compiler/emit/Signature.h"

namespace kiln {

/// The information that `kiln inspect` prints. A library contains it as JSON in a section that linkers leave out of programs.
struct Description {
  struct Tensor {
    std::string name, type; // "f32[1,3]"
    std::optional<std::pair<double, double>> range = std::nullopt;
    /// The sequence and the index if it is an element of one.
    std::string element = "";
    /// What its integers stand for.
    std::optional<nn::TensorQuantization> quantization = std::nullopt;
    /// What the classes of an output are.
    std::optional<nn::ClassLabels> labels = std::nullopt;
    /// The caller's layout, "nhwc"; empty: the model's.
    std::string layout = "";
  };
  struct Dimension {
    std::string name;
    int64_t min = 0, max = 0;
    /// The upper bound, if the model computes it.
    std::string bound;
    /// Sizes with a special version.
    std::vector<int64_t> special = {};
  };
  std::string name, target, accuracy = "default";
  /// What is rounded because the user asked for it, in sentences with the bounds.
  std::vector<std::string> rounding;
  /// The CPU features that each target needs, "avx avx2 fma". Targets without requirements are omitted.
  std::map<std::string, std::string> needs;
  std::vector<Tensor> inputs, outputs;
  std::vector<Dimension> dimensions;
  /// What the model demands of its dimensions: "height % 32 == 0 (Add 'p2o.Add.234')".
  std::vector<std::string> demands;
  /// The ONNX file's metadata_props.
  std::vector<std::pair<std::string, std::string>> metadata;
  /// A workspace size of -1 depends on the dimensions.
  int64_t weightsBytes = 0, workspaceBytes = -1, fileBytes = 0;
  /// The bytes of each rank's weights, if the model is sharded.
  std::vector<int64_t> rankBytes = {};
  std::map<std::string, int64_t> operators;
  std::vector<Decision> kernels;
  /// Of a library: what it was made from, and what its objects were checked for.
  std::optional<Origin> origin = std::nullopt;
  std::vector<std::string> guarantees = {};
  /// The models of a library of several; the name, target and weights above are the library's.
  std::vector<Description> graphs = {};
};

/// After the kernel stage; `signature` is that of the whole library.
Description describe(const Compilation &compilation, const Signature &signature);

/// The same with the models of a library, if it has several.
Description describe(const Compilation &compilation, const Signature &signature, llvm::ArrayRef<Signature> models);

llvm::json::Object toJson(const Description &description);
std::optional<Description> descriptionFromJson(llvm::StringRef text);

/// The section of the archive member that holds the JSON.
inline constexpr llvm::StringLiteral recordSection = ".kiln.record";

} // namespace kiln

#endif // KILN_COMPILER_DESCRIPTION_H
