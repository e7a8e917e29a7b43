//===- GuaranteeCheck.h - Whether objects keep guarantees ---------------------===//
#ifndef KILN_COMPILER_EMIT_GUARANTEECHECK_H
#define KILN_COMPILER_EMIT_GUARANTEECHECK_H

#include "compiler/emit/Guarantees.h"
#include "compiler/emit/Objects.h"

namespace kiln {

/// A line for each guarantee that the objects of a library do not keep; it names the function or the symbol that breaks it. The objects are those of the
/// sources, of any format, without that of the weights.
std::vector<std::string> findBrokenGuarantees(const Guarantees &guarantees, const ModelSources &sources, llvm::ArrayRef<ObjectFile> objects);

} // namespace kiln

#endif // KILN_COMPILER_EMIT_GUARANTEECHECK_H
