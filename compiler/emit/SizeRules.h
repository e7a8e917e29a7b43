//===- SizeRules.h - What a model demands of its dimensions -----------------===//
#ifndef KILN_COMPILER_EMIT_SIZERULES_H
#define KILN_COMPILER_EMIT_SIZERULES_H

#include "compiler/emit/Signature.h"

namespace kiln {

/// Reads what a run checks of the dimensions that the caller gives: the rules of the signature, and what they mean for each of its symbols.
void readSizeRules(Signature &signature);

/// Whether the rule holds, as an expression of C over the fields of `dims` and the functions of kiln/explain.h.
std::string ruleCondition(const SizeRule &rule, const Signature &signature);

} // namespace kiln

#endif // KILN_COMPILER_EMIT_SIZERULES_H
