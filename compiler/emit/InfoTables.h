//===- InfoTables.h - The signature as constant data -----------------------===//
#ifndef KILN_COMPILER_EMIT_INFOTABLES_H
#define KILN_COMPILER_EMIT_INFOTABLES_H

#include "compiler/emit/Signature.h"

namespace kiln {

/// The constant tables of NAME_info, in an anonymous namespace.
std::string printInfoTables(const Signature &signature, size_t launches);

} // namespace kiln

#endif // KILN_COMPILER_EMIT_INFOTABLES_H
