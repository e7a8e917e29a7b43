//===- ProjectTexts.h - The texts of kiln new's files ------------------------------===//
#ifndef KILN_TOOLS_KILN_PROJECT_PROJECTTEXTS_H
#define KILN_TOOLS_KILN_PROJECT_PROJECTTEXTS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <string>
#include <utility>

namespace kiln {

/// Texts with marks such as @NAME@.
extern const llvm::StringLiteral listText, mainText, buffersText, testText, scriptText;

/// A text with the values of its marks. Values are not searched for marks again.
std::string replaceMarks(llvm::StringRef text, llvm::ArrayRef<std::pair<llvm::StringRef, std::string>> values);

} // namespace kiln

#endif // KILN_TOOLS_KILN_PROJECT_PROJECTTEXTS_H
