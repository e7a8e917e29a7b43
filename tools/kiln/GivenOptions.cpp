//===- GivenOptions.cpp - The options of this command line, for another one -------===//
#include "tools/kiln/GivenOptions.h"
#include "tools/kiln/Commands.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace kiln {

std::vector<std::string> getGivenOptions(cl::SubCommand &command, ArrayRef<StringRef> without) {
  std::vector<std::string> options;
  ArrayRef<std::string> arguments = getArguments();
  auto &registered = cl::getRegisteredOptions(command);
  for (size_t i = 0; i < arguments.size(); ++i) {
    StringRef text = arguments[i], name = text.ltrim('-').split('=').first;
    if (!text.starts_with("-"))
      continue;
    auto option = registered.find(name);
    bool hasOwnValue = !text.contains('=') && option != registered.end() && option->second->getValueExpectedFlag() == cl::ValueRequired;
    if (!is_contained(without, name)) {
      options.push_back(text.str());
      if (hasOwnValue && i + 1 < arguments.size())
        options.push_back(arguments[i + 1]);
    }
    i += hasOwnValue;
  }
  return options;
}

} // namespace kiln
