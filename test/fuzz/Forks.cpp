//===- Forks.cpp - Many calls of kiln, each in a fork ----------------------===//
//
// Loading LLVM takes longer than refusing a model. Each line of standard input is a call, its arguments between tabs; the answer on standard output is
// `STATUS SECONDS MIB`: the exit status, or minus the signal; the CPU time; the most memory that it held. What the call prints goes to two files.
//
//===----------------------------------------------------------------------===//
#include "compiler/emit/ClangCompiler.h"
#include "tools/kiln/Commands.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/raw_ostream.h"
#include <csignal>
#include <cstdio>
#include <fcntl.h>
#include <iostream>
#include <string>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace llvm;

namespace {
/// Where a call prints, and the seconds that it may take, of CPU time and by the clock.
struct Limits {
  const char *out, *err;
  unsigned cpuSeconds, seconds;
};
} // namespace

static bool redirect(const char *path, int flags, int stream) {
  int file = open(path, flags, 0644);
  return file >= 0 && dup2(file, stream) >= 0 && close(file) == 0;
}

/// In the child.
[[noreturn]] static void call(StringRef line, const Limits &limits) {
  SmallVector<StringRef> parts;
  if (!line.empty())
    line.split(parts, '\t');
  std::vector<std::string> texts(parts.begin(), parts.end());
  // Messages about the command line begin with the program's name.
  char program[] = "kiln";
  std::vector<char *> arguments{program};
  for (std::string &text : texts)
    arguments.push_back(text.data());
  arguments.push_back(nullptr);
  int written = O_WRONLY | O_CREAT | O_TRUNC;
  if (!redirect("/dev/null", O_RDONLY, 0) || !redirect(limits.out, written, 1) || !redirect(limits.err, written, 2))
    _exit(2);
  rlimit limit = {limits.cpuSeconds, limits.cpuSeconds};
  setrlimit(RLIMIT_CPU, &limit);
  std::signal(SIGALRM, SIG_DFL);
  alarm(limits.seconds);
  std::exit(kiln::runProgram(int(arguments.size()) - 1, arguments.data()));
}

/// Has LLVM make what it makes once in a process, such as its lists of targets and tables of instructions, so that the forks need not.
static void warmUp() {
  constexpr StringLiteral text = "void add(float *x, const float *y) { for (int i = 0; i < 64; ++i) x[i] = x[i] * y[i] + 1; }";
  if (Error error = kiln::compileInProcess({"first.cpp", text.str()}, {}, kiln::kernel::TargetAttr()).takeError())
    consumeError(std::move(error));
}

int main(int argc, char **argv) {
  unsigned cpuSeconds = 0, seconds = 0;
  if (argc != 5 || StringRef(argv[3]).getAsInteger(10, cpuSeconds) || StringRef(argv[4]).getAsInteger(10, seconds)) {
    errs() << "usage: " << argv[0] << " OUT ERR CPU-SECONDS SECONDS\nCalls kiln for each line of standard input; OUT and ERR get what the last call printed.\n";
    return 2;
  }
  Limits limits = {argv[1], argv[2], cpuSeconds, seconds};
  InitLLVM init(argc, argv);
  warmUp();
  for (std::string line; std::getline(std::cin, line);) {
    pid_t child = fork();
    if (child == 0)
      call(line, limits);
    int status = 0;
    rusage usage = {};
    if (child < 0 || wait4(child, &status, 0, &usage) != child) {
      std::perror("fork");
      return 1;
    }
    auto toSeconds = [](timeval time) { return double(time.tv_sec) + 1e-6 * double(time.tv_usec); };
    double taken = toSeconds(usage.ru_utime) + toSeconds(usage.ru_stime);
    std::printf("%d %.3f %ld\n", WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status), taken, usage.ru_maxrss / 1024);
    std::fflush(stdout);
  }
  return 0;
}
