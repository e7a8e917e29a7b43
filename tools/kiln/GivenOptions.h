//===- GivenOptions.h - The options of this command line, for another one ---------===//
#ifndef KILN_TOOLS_KILN_GIVENOPTIONS_H
#define KILN_TOOLS_KILN_GIVENOPTIONS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/CommandLine.h"
#include <string>
#include <vector>

namespace kiln {

/// The options as they were given, each with its value behind it if they were two words, but for those of the names in `without`.
std::vector<std::string> getGivenOptions(llvm::cl::SubCommand &command, llvm::ArrayRef<llvm::StringRef> without);

} // namespace kiln

#endif // KILN_TOOLS_KILN_GIVENOPTIONS_H
