//===- ModelModule.h - A model as an ES module of JavaScript ----------------===//
#ifndef KILN_COMPILER_EMIT_WEB_MODELMODULE_H
#define KILN_COMPILER_EMIT_WEB_MODELMODULE_H

#include "compiler/emit/Signature.h"

namespace kiln {

/// NAME.mjs: the signature as data, then the text that loads and runs any model. `forms` are the names of targets, the best first.
std::string printModelModule(const Signature &signature, llvm::ArrayRef<std::string> forms);

/// NAME.d.ts, its types for TypeScript.
std::string printModelTypes(const Signature &signature, llvm::ArrayRef<std::string> forms);

/// package.json of a package for npm with these files.
std::string printPackageFile(const Signature &signature, llvm::ArrayRef<std::string> files);

/// The text as a literal of JavaScript and JSON.
std::string quoteText(llvm::StringRef text);

} // namespace kiln

#endif // KILN_COMPILER_EMIT_WEB_MODELMODULE_H
