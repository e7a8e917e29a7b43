//===- ExplainPrinter.h - What is wrong with arguments, as C ----------------===//
#ifndef KILN_COMPILER_EMIT_EXPLAINPRINTER_H
#define KILN_COMPILER_EMIT_EXPLAINPRINTER_H

#include "compiler/emit/Signature.h"

namespace kiln {

/// NAME_explain, if the model has dimensions that the caller gives, and NAME_explain_run, as inline functions of the header. The header has kiln/explain.h.
std::string printExplain(const Signature &signature);

/// The lines of a comment that say what the model demands of its dimensions; empty if it demands nothing.
std::string printDemands(const Signature &signature);

} // namespace kiln

#endif // KILN_COMPILER_EMIT_EXPLAINPRINTER_H
