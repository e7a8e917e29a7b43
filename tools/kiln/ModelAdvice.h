//===- ModelAdvice.h - Options with which a model compiles ------------------===//
#ifndef KILN_TOOLS_KILN_MODELADVICE_H
#define KILN_TOOLS_KILN_MODELADVICE_H

#include "compiler/CompileOptions.h"
#include "compiler/import/ModelSummary.h"
#include <optional>

namespace kiln {

/// For a model that the import refuses with these options: options to add with which it takes it, as they are typed: constants for inputs of one integer,
/// numbers for dynamic dimensions. Found by trying, so it is an example. Empty if none of those that are tried helps.
std::string findMissingOptions(const CompileOptions &options, const ModelSummary &summary);

} // namespace kiln

#endif // KILN_TOOLS_KILN_MODELADVICE_H
