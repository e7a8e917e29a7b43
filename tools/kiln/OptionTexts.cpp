//===- OptionTexts.cpp - What subcommands take, as text ----------------------===//
#include "tools/kiln/OptionTexts.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace kiln {

std::string OptionText::usage() const {
  if (value.empty())
    return flag;
  return flag + (StringRef(flag).starts_with("--") ? "=" : " ") + value;
}

std::vector<OptionText> describeOptions(cl::SubCommand &command) {
  std::vector<OptionText> options;
  for (auto &entry : cl::getRegisteredOptions(command)) {
    cl::Option &option = *entry.second;
    // LLVM's own help stands at the end in our words; its other general options are of no use here.
    if (option.getOptionHiddenFlag() != cl::NotHidden || is_contained({"help", "help-list", "version"}, entry.first))
      continue;
    std::string value = option.ValueStr.str();
    if (!value.empty() && option.getValueExpectedFlag() == cl::ValueOptional)
      value = "[" + value + "]";
    options.push_back({(entry.first.size() == 1 ? "-" : "--") + entry.first.str(), value, option.HelpStr.str()});
  }
  llvm::sort(options, [](const OptionText &a, const OptionText &b) { return StringRef(a.flag).ltrim('-') < StringRef(b.flag).ltrim('-'); });
  options.push_back({"--help", "", "Print this text"});
  return options;
}

std::string describeUsage(cl::SubCommand &command) {
  std::string text = "kiln " + command.getName().str() + " [options]";
  for (cl::Option *argument : command.PositionalOpts) {
    bool isNeeded = is_contained({cl::Required, cl::OneOrMore}, argument->getNumOccurrencesFlag());
    std::string words = argument->HelpStr.str();
    text += isNeeded ? " " + words : " [" + words + "]";
  }
  return text;
}

std::vector<std::pair<std::string, std::string>> splitExamples(StringRef examples) {
  std::vector<std::pair<std::string, std::string>> lines;
  SmallVector<StringRef> texts;
  examples.split(texts, '\n', -1, /*KeepEmpty=*/false);
  for (StringRef text : texts) {
    auto [command, meaning] = text.trim().split("  ");
    lines.push_back({command.str(), meaning.trim().str()});
  }
  return lines;
}

} // namespace kiln
