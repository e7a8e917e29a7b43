//===- FuzzServer.cpp - Any bytes as a session with the language server ----===//
//
// An input that begins like a message is a whole session. Any other one is a text of IR, for a session whose messages are right: most mutants of messages
// end their session at once.
//
// The server reads standard input to its end, and its options can be registered once: each session is a fork.
//
//===----------------------------------------------------------------------===//
#include "test/fuzz/Target.h"
#include "tools/kiln-lsp-server/Serve.h"

#include "compiler/files/Printable.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/xxhash.h"
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace kiln;

static constexpr rlim_t mostSeconds = 10;
static constexpr long mostKilobytes = 1 << 20;

/// Sessions whose messages are told apart by lines `// -----` need no lengths, which few mutants would have right.
[[noreturn]] static void serveFile(const std::string &path, bool hasLengths) {
  int input = open(path.c_str(), O_RDONLY), nothing = open("/dev/null", O_WRONLY);
  if (dup2(input, STDIN_FILENO) < 0 || dup2(nothing, STDOUT_FILENO) < 0 || (!getenv("KILN_FUZZ_SHOW") && dup2(nothing, STDERR_FILENO) < 0))
    _exit(2);
  rlimit limit = {mostSeconds, mostSeconds};
  setrlimit(RLIMIT_CPU, &limit);
  std::signal(SIGALRM, SIG_DFL);
  alarm(6 * mostSeconds);
  char program[] = "kiln-lsp-server", style[] = "--input-style=delimited", quiet[] = "--log=error", last[] = "--input-style=standard";
  char *arguments[] = {program, quiet, hasLengths ? last : style, nullptr};
  int status = serve(3, arguments);
  _exit(status);
}

/// A session about a text of IR, with right messages: opens it and asks for all that can be asked for at some place in it.
static std::string makeSession(llvm::StringRef text) {
  using llvm::json::Object;
  auto document = [] { return Object{{"uri", "test:///a.mlir"}}; };
  uint64_t place = llvm::xxh3_64bits(text), lines = text.count('\n') + 1;
  auto position = [&](int64_t after) { return Object{{"line", int64_t(place % lines) + after}, {"character", int64_t(place >> 32) % 80}}; };
  auto range = [&] { return Object{{"start", position(0)}, {"end", position(1)}}; };
  auto there = [&] { return Object{{"textDocument", document()}, {"position", position(0)}, {"context", Object{{"includeDeclaration", true}, {"triggerKind", 1}}}}; };
  std::string session;
  int64_t number = 0;
  auto add = [&](llvm::StringRef method, Object parameters) {
    Object message{{"jsonrpc", "2.0"}, {"method", method}, {"params", std::move(parameters)}};
    // What has no answer has no number, either.
    if (method != "textDocument/didOpen")
      message["id"] = ++number;
    session += llvm::formatv("{0}\n// -----\n", llvm::json::Value(std::move(message))).str();
  };
  add("initialize", Object{{"capabilities", Object{}}});
  Object whole = document();
  whole["languageId"] = "mlir";
  whole["version"] = 1;
  whole["text"] = jsonText(text);
  add("textDocument/didOpen", Object{{"textDocument", std::move(whole)}});
  for (llvm::StringRef method : {"textDocument/hover", "textDocument/definition", "textDocument/references", "textDocument/completion"})
    add(method, there());
  add("textDocument/documentSymbol", Object{{"textDocument", document()}});
  add("textDocument/codeAction", Object{{"textDocument", document()}, {"range", range()}, {"context", Object{{"diagnostics", llvm::json::Array{}}}}});
  add("mlir/convertToBytecode", Object{{"uri", "test:///a.mlir"}});
  add("shutdown", Object{});
  return session;
}

/// Whether a string of the text does not end on its line, or a line ends in a carriage return alone. MLIR 22's server looks up a place behind the line for
/// its message and ends the process: a fault of its own, which says nothing of Kiln's dialects.
static bool upsetsParser(llvm::StringRef text) {
  bool isOpen = false;
  for (size_t at = text.find('\r'); at != llvm::StringRef::npos; at = text.find('\r', at + 1))
    if (!text.substr(at + 1).starts_with("\n"))
      return true;
  for (size_t i = 0; i < text.size(); ++i) {
    if (isOpen && text[i] == '\n')
      return true;
    if (isOpen && text[i] == '\\')
      ++i;
    else if (text[i] == '"')
      isOpen = !isOpen;
  }
  return isOpen;
}

/// The same for the texts in the messages of a session.
static bool upsetsServer(llvm::StringRef session) {
  llvm::SmallVector<llvm::StringRef> lines;
  session.split(lines, '\n');
  return llvm::any_of(lines, [](llvm::StringRef line) {
    llvm::Expected<llvm::json::Value> message = llvm::json::parse(line);
    if (!message) {
      consumeError(message.takeError());
      return false;
    }
    const llvm::json::Object *object = message->getAsObject(), *parameters = object ? object->getObject("params") : nullptr;
    const llvm::json::Object *document = parameters ? parameters->getObject("textDocument") : nullptr;
    std::optional<llvm::StringRef> text = document ? document->getString("text") : std::nullopt;
    return text && upsetsParser(*text);
  });
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  llvm::StringRef bytes(reinterpret_cast<const char *>(data), size);
  bool hasLengths = bytes.starts_with("Content-Length"), isSession = hasLengths || bytes.starts_with("{\"");
  std::string session = isSession ? bytes.str() : makeSession(bytes);
  if (isSession ? upsetsServer(session) : upsetsParser(bytes))
    return 0;
  std::string path = writeInput(reinterpret_cast<const uint8_t *>(session.data()), session.size(), ".session");
  pid_t child = fork();
  if (child == 0)
    serveFile(path, hasLengths);
  int status = 0;
  rusage usage = {};
  pid_t ended;
  // libFuzzer has a timer whose signals arrive here, too.
  while ((ended = wait4(child, &status, 0, &usage)) < 0 && errno == EINTR)
    continue;
  expect(child > 0 && ended == child, "cannot fork");
  // 0 after an exit, 1 when the session ends without one.
  expect(WIFEXITED(status) && WEXITSTATUS(status) <= 1, "the server crashed, or took more than ten seconds");
  expect(usage.ru_maxrss < mostKilobytes, "the server took more than a gibibyte");
  return 0;
}
