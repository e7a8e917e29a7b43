//===- FuzzServer.cpp - Any bytes as a session with the language server ----===//
//
// The server reads standard input to its end, and its options can be registered once: each session is a fork.
//
//===----------------------------------------------------------------------===//
#include "test/fuzz/Target.h"
#include "tools/kiln-lsp-server/Serve.h"

#include "llvm/ADT/StringRef.h"
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
  alarm(6 * mostSeconds);
  char program[] = "kiln-lsp-server", style[] = "--input-style=delimited", quiet[] = "--log=error", last[] = "--input-style=standard";
  char *arguments[] = {program, quiet, hasLengths ? last : style, nullptr};
  int status = serve(3, arguments);
  _exit(status);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string path = writeInput(data, size, ".session");
  pid_t child = fork();
  if (child == 0)
    serveFile(path, llvm::StringRef(reinterpret_cast<const char *>(data), size).starts_with("Content-Length"));
  int status = 0;
  rusage usage = {};
  expect(child > 0 && wait4(child, &status, 0, &usage) == child, "cannot fork");
  // 0 after an exit, 1 when the session ends without one.
  expect(WIFEXITED(status) && WEXITSTATUS(status) <= 1, "the server crashed, or took more than ten seconds");
  expect(usage.ru_maxrss < mostKilobytes, "the server took more than a gibibyte");
  return 0;
}
