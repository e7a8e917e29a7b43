//===- HelpText.h - Help that fits the terminal ------------------------------===//
#ifndef KILN_TOOLS_KILN_HELPTEXT_H
#define KILN_TOOLS_KILN_HELPTEXT_H

#include "tools/kiln/Commands.h"
#include "llvm/Support/raw_ostream.h"

namespace kiln {

/// Columns of standard output: $COLUMNS, or those of the terminal, or 80; at least 40, at most 120, beyond which lines are hard to read.
size_t getColumns();

/// Prints words in lines of at most `columns`, all but the first indented. The cursor stands at `column`.
void printWrapped(llvm::raw_ostream &os, llvm::StringRef text, size_t column, size_t indent, size_t columns);

/// The help of the program, and that of a subcommand.
void printGeneralHelp(llvm::raw_ostream &os);
void printHelp(llvm::raw_ostream &os, const Command &command);

} // namespace kiln

#endif // KILN_TOOLS_KILN_HELPTEXT_H
