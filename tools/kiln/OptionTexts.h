//===- OptionTexts.h - What subcommands take, as text ------------------------===//
//
// Help, manual pages and completion scripts are all made from the registered options by these functions, so that none of them goes stale.
//
//===----------------------------------------------------------------------===//
#ifndef KILN_TOOLS_KILN_OPTIONTEXTS_H
#define KILN_TOOLS_KILN_OPTIONTEXTS_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/CommandLine.h"
#include <string>
#include <vector>

namespace kiln {

struct OptionText {
  /// With its dashes: "-o", "--emit".
  std::string flag;
  /// "KIND,..."; empty for a switch.
  std::string value;
  std::string help;

  /// "-o DIR", "--emit=KIND,...".
  std::string usage() const;
};

/// The options of a subcommand that are not hidden, in the order of their names, `--help` last.
std::vector<OptionText> describeOptions(llvm::cl::SubCommand &command);

/// "kiln bench [options] MODEL.onnx".
std::string describeUsage(llvm::cl::SubCommand &command);

/// A line of the examples of a subcommand: the command, and what it does, which may be empty.
std::vector<std::pair<std::string, std::string>> splitExamples(llvm::StringRef examples);

} // namespace kiln

#endif // KILN_TOOLS_KILN_OPTIONTEXTS_H
