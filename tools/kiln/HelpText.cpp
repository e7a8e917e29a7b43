//===- HelpText.cpp - Help that fits the terminal ----------------------------===//
#include "tools/kiln/HelpText.h"
#include "tools/kiln/OptionTexts.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Process.h"
#include <sys/ioctl.h>
#include <unistd.h>

using namespace llvm;

namespace kiln {

/// The columns of the terminal on standard output, 0 if it is none. LLVM's function only knows $COLUMNS, which shells do not export.
static unsigned askTerminal() {
  winsize size = {};
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

size_t getColumns() {
  constexpr unsigned usual = 80, least = 40, most = 120;
  unsigned columns = 0;
  std::optional<std::string> given = sys::Process::GetEnv("COLUMNS");
  if (!given || StringRef(*given).getAsInteger(10, columns) || !columns)
    columns = askTerminal();
  return columns ? std::clamp(columns, least, most) : usual;
}

/// The end of the part of a word that fits into `room`: behind a comma, a bar or an equals sign, so that lists and paths may break.
static size_t findBreak(StringRef word, size_t room) {
  size_t end = word.take_front(room).find_last_of(",|=/]");
  return end == StringRef::npos || end == 0 ? room : end + 1;
}

void printWrapped(raw_ostream &os, StringRef text, size_t column, size_t indent, size_t columns) {
  auto breakLine = [&] {
    os << "\n";
    os.indent(unsigned(indent));
    column = indent;
  };
  SmallVector<StringRef> words;
  text.split(words, ' ', -1, /*KeepEmpty=*/false);
  bool isFirst = true;
  for (StringRef word : words) {
    size_t blank = isFirst ? 0 : 1;
    if (column + blank + word.size() > columns && column > indent)
      breakLine();
    else
      os.indent(unsigned(blank)), column += blank;
    while (column + word.size() > columns) {
      size_t end = findBreak(word, columns - column);
      os << word.take_front(end);
      word = word.drop_front(end);
      breakLine();
    }
    os << word;
    column += word.size();
    isFirst = false;
  }
  os << "\n";
}

/// A term in a column of `indent`, and what it means beside it, or below it if it is too long.
static void printEntry(raw_ostream &os, StringRef term, StringRef meaning, size_t indent, size_t columns) {
  os << "  ";
  if (term.size() + 4 > indent) {
    printWrapped(os, term, 2, 6, columns);
    os.indent(unsigned(indent));
  } else {
    os << left_justify(term, unsigned(indent - 2));
  }
  printWrapped(os, meaning, indent, indent, columns);
}

/// A part of a command on a line of its own, an indent of 6; what is too long for it ends in a backslash at a comma, where a shell joins it again.
static void printUnbroken(raw_ostream &os, StringRef part, size_t columns) {
  while (part.size() + 6 > columns) {
    size_t end = findBreak(part, columns - 7);
    os << part.take_front(end) << "\\\n";
    part = part.drop_front(end);
  }
  os << part;
}

/// A command over several lines, as a shell reads it.
static void printShellCommand(raw_ostream &os, StringRef command, size_t columns) {
  SmallVector<StringRef> words;
  command.split(words, ' ');
  size_t column = 2 + words.front().size();
  os << "  " << words.front();
  for (size_t i = 1; i < words.size();) {
    // An option stays with its value.
    size_t end = i + 1;
    if (words[i].starts_with("-") && !words[i].contains('=') && end < words.size() && !words[end].starts_with("-"))
      ++end;
    std::string part = join(ArrayRef(words).slice(i, end - i), " ");
    if (column + 1 + part.size() + 2 > columns) {
      os << " \\\n      ";
      column = 5;
      printUnbroken(os, part, columns);
    } else {
      os << " " << part;
    }
    column += 1 + part.size();
    i = end;
  }
}

static void printExamples(raw_ostream &os, const Command &command, size_t columns) {
  if (StringRef(command.examples).empty())
    return;
  os << "\nEXAMPLES:\n\n";
  for (auto &[line, meaning] : splitExamples(command.examples)) {
    printShellCommand(os, line, columns);
    constexpr size_t beside = 42;
    if (meaning.empty()) {
      os << "\n";
    } else if (line.size() + 4 <= beside && beside + meaning.size() <= columns) {
      os.indent(unsigned(beside - 2 - line.size())) << meaning << "\n";
    } else {
      os << "\n      ";
      printWrapped(os, meaning, 6, 6, columns);
    }
  }
}

void printGeneralHelp(raw_ostream &os) {
  size_t columns = getColumns();
  printWrapped(os, "Kiln, an ahead-of-time compiler from ONNX models to C++ libraries", 0, 0, columns);
  os << "\nUSAGE: kiln [subcommand] [options]\n\nSUBCOMMANDS:\n\n";
  for (const Command &command : getCommands())
    printEntry(os, command.subcommand->getName(), command.subcommand->getDescription(), 14, columns);
  os << "\n";
  printWrapped(os, "kiln MODEL.onnx means kiln compile MODEL.onnx. kiln help SUBCOMMAND has the options of a subcommand, and kiln version -v says what this "
                   "kiln was built with.", 0, 0, columns);
}

void printHelp(raw_ostream &os, const Command &command) {
  size_t columns = getColumns();
  printWrapped(os, (command.subcommand->getDescription() + ".").str(), 0, 0, columns);
  os << "\n";
  printWrapped(os, "USAGE: " + describeUsage(*command.subcommand), 0, 12, columns);
  os << "\nOPTIONS:\n\n";
  for (const OptionText &option : describeOptions(*command.subcommand))
    printEntry(os, option.usage(), option.help, columns < 60 ? 8 : 24, columns);
  printExamples(os, command, columns);
}

} // namespace kiln
