//===- ModelAdvice.h - Options with which a model compiles ------------------===//
#ifndef KILN_TOOLS_KILN_MODELADVICE_H
#define KILN_TOOLS_KILN_MODELADVICE_H

#include "compiler/CompileOptions.h"
#include "compiler/import/ModelSummary.h"
#include <optional>

namespace kiln {

struct Advice {
  /// Options as they are typed: constants for inputs of one integer, numbers for dynamic dimensions. Empty if none of those that are tried helps.
  std::string options;
  /// What the numbers rest on.
  std::string ground;
};

/// For a model that the import refuses with these options: options to add with which it takes it, found by trying.
Advice findMissingOptions(const CompileOptions &options, const ModelSummary &summary);

/// Inputs that look like pictures: f32, f16 or bytes with one, three or four channels.
std::vector<std::string> listPictures(const ModelSummary &summary);

} // namespace kiln

#endif // KILN_TOOLS_KILN_MODELADVICE_H
