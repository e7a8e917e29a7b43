//===- Recursion.cpp - What keeps recursive code from running out of stack -===//
#include "compiler/Recursion.h"
#include "compiler/files/Printable.h"

#include "mlir/Bytecode/BytecodeReader.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/WithColor.h"
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <pthread.h>
#include <unistd.h>

using namespace llvm;

namespace kiln {

//===- Texts ---------------------------------------------------------------===//

/// More levels than any real text has, and more digits than the longest exact decimal of a double, which has 1,074 after its point.
static constexpr unsigned deepestBrackets = 256, mostOperators = 1000, mostDigits = 2000;
static constexpr StringLiteral tooDeep = "brackets or expressions are nested too deep", tooLong = "a number has more than 2000 digits";

bool FractionLength::add(char c) {
  bool isPoint = c == '.', isDigit = llvm::isDigit(c);
  hasPoint = isPoint || (hasPoint && isDigit);
  digits = isDigit ? digits + 1 : isPoint ? digits : 0;
  return digits <= mostDigits || !hasPoint;
}

/// Bytecode has texts of attributes that MLIR's lexer reads.
static bool hasLongFraction(StringRef bytes) {
  FractionLength length;
  return any_of(bytes, [&](char c) { return !length.add(c); });
}

StringRef findExcess(StringRef text) {
  if (mlir::isBytecode(MemoryBufferRef(text, "")))
    return hasLongFraction(text) ? StringRef(tooLong) : "";
  struct Level {
    char closes;
    unsigned operators = 0;
  };
  SmallVector<Level> levels = {{0}};
  unsigned digits = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    bool opens = StringRef("([{<").contains(c), isArrow = c == '>' && i > 0 && text[i - 1] == '-';
    if (c == '"') {
      while (++i < text.size() && text[i] != '"' && text[i] != '\n')
        i += text[i] == '\\';
    } else if (c == '/' && text.substr(i).starts_with("//")) {
      i = std::min(text.find('\n', i), text.size());
    } else if (opens) {
      levels.push_back({c == '(' ? ')' : c == '[' ? ']' : c == '{' ? '}' : '>'});
    } else if (c == levels.back().closes && c != 0 && !isArrow) {
      levels.pop_back();
    } else if (c == ',' || c == '=') {
      levels.back().operators = 0;
    } else if (StringRef("+-*").contains(c) || text.substr(i).starts_with(" mod ") || text.substr(i).starts_with("div ")) {
      ++levels.back().operators;
    }
    digits = isHexDigit(c) || c == '.' ? digits + 1 : 0;
    if (digits > mostDigits)
      return tooLong;
    if (levels.size() > deepestBrackets || levels.back().operators > mostOperators)
      return tooDeep;
  }
  return "";
}

bool JsonDepth::add(char c) {
  if (isString) {
    isString = c != '"' || isEscaped;
    isEscaped = c == '\\' && !isEscaped;
  } else if (c == '"') {
    isString = true;
  } else if (c == '[' || c == '{') {
    ++open;
  } else if ((c == ']' || c == '}') && open > 0) {
    --open;
  }
  return open <= deepestBrackets;
}

Expected<json::Value> parseJson(StringRef text) {
  JsonDepth depth;
  for (char c : text)
    if (!depth.add(c))
      return createStringError("brackets are nested more than " + Twine(deepestBrackets) + " deep");
  return json::parse(text);
}

//===- Stack ---------------------------------------------------------------===//

/// A chain of as many nodes as a model may have needs much less.
static constexpr size_t stackBytes = size_t(1) << 30;

namespace {
struct Call {
  function_ref<int()> program;
  int result;
};
} // namespace

/// Signals are handled on a separate stack, so that an overflow of the thread's stack can be reported. At its end the thread restores the signal stack that
/// it began with, because sanitizers free that one.
static void *runCall(void *argument) {
  static constexpr size_t signalStackBytes = 1 << 16;
  stack_t signals = {}, before = {};
  std::unique_ptr<char[]> bytes(new char[signalStackBytes]);
  signals.ss_sp = bytes.get();
  signals.ss_size = signalStackBytes;
  bool isSet = sigaltstack(&signals, &before) == 0;
  auto *call = static_cast<Call *>(argument);
  call->result = call->program();
  if (isSet)
    sigaltstack(&before, nullptr);
  return nullptr;
}

int runOnLargeStack(function_ref<int()> program) {
  Call call = {program, 0};
  pthread_attr_t attributes;
  pthread_t thread;
  bool runs = pthread_attr_init(&attributes) == 0 && pthread_attr_setstacksize(&attributes, stackBytes) == 0 &&
              pthread_create(&thread, &attributes, runCall, &call) == 0;
  pthread_attr_destroy(&attributes);
  if (!runs)
    return program();
  pthread_join(thread, nullptr);
  return call.result;
}

//===- Tools of MLIR's -----------------------------------------------------===//

/// The input file among the arguments; "-" for standard input, empty if nothing is read.
static StringRef findInput(ArrayRef<char *> arguments) {
  StringRef input = "-";
  for (size_t i = 1; i < arguments.size(); ++i) {
    StringRef argument = arguments[i];
    if (argument.starts_with("-help") || argument.starts_with("--help") || argument.ends_with("-version") || argument == "-h")
      return "";
    bool isOutput = StringRef(arguments[i - 1]) == "-o";
    if (!argument.starts_with("-") && !isOutput && access(argument.str().c_str(), R_OK) == 0)
      input = argument;
  }
  return input;
}

/// Replaces the program's standard input by a text.
static bool giveAsInput(StringRef text) {
  std::FILE *file = std::tmpfile();
  if (!file || std::fwrite(text.data(), 1, text.size(), file) != text.size() || std::fflush(file) != 0)
    return false;
  return lseek(fileno(file), 0, SEEK_SET) == 0 && dup2(fileno(file), STDIN_FILENO) >= 0;
}

int runOnIR(int argc, char **argv, function_ref<int()> tool) {
  StringRef input = findInput(ArrayRef(argv, argc));
  bool isPiped = input == "-";
  if (!input.empty() && !(isPiped && isatty(STDIN_FILENO)))
    if (auto text = MemoryBuffer::getFileOrSTDIN(input)) {
      if (StringRef excess = findExcess((*text)->getBuffer()); !excess.empty()) {
        printLine(WithColor::error(errs()), input + ": " + excess);
        return 1;
      }
      if (isPiped && !giveAsInput((*text)->getBuffer())) {
        printLine(WithColor::error(errs()), "cannot write a temporary file for standard input");
        return 1;
      }
    }
  return runOnLargeStack(tool);
}

} // namespace kiln
