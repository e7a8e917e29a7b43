//===- Forks.cpp - Many calls of kiln, each in a fork ----------------------===//
//
// Loading LLVM takes longer than refusing a model. Each line of standard input is a call, its arguments between tabs; the answer on standard output is
// `STATUS SECONDS MIB`: the exit status, or minus the signal; the CPU time; the most memory that it held. What the call prints goes to a file.
//
//===----------------------------------------------------------------------===//
#include "tools/kiln/Commands.h"
#include "tools/kiln/Reporting.h"

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

/// In the child: what the call prints goes to the file, and it gets no more CPU time than it may take. Waiting counts less: other programs run, too.
[[noreturn]] static void call(char *program, StringRef line, const char *printed, unsigned seconds) {
  SmallVector<StringRef> parts;
  line.split(parts, '\t');
  std::vector<std::string> texts(parts.begin(), parts.end());
  std::vector<char *> arguments{program};
  for (std::string &text : texts)
    arguments.push_back(text.data());
  arguments.push_back(nullptr);
  int file = open(printed, O_WRONLY | O_CREAT | O_TRUNC, 0644), nothing = open("/dev/null", O_RDONLY);
  if (file < 0 || nothing < 0 || dup2(file, 1) < 0 || dup2(file, 2) < 0 || dup2(nothing, 0) < 0)
    _exit(2);
  kiln::watchForCrashes(int(arguments.size()) - 1, arguments.data());
  rlimit limit = {seconds, seconds};
  setrlimit(RLIMIT_CPU, &limit);
  std::signal(SIGALRM, SIG_DFL);
  alarm(6 * seconds);
  std::exit(kiln::dispatch(int(arguments.size()) - 1, arguments.data()));
}

int main(int argc, char **argv) {
  unsigned seconds = 0;
  if (argc != 3 || StringRef(argv[2]).getAsInteger(10, seconds)) {
    errs() << "usage: " << argv[0] << " PRINTED SECONDS\nCalls kiln for each line of standard input; PRINTED gets what the last call printed.\n";
    return 2;
  }
  InitLLVM init(argc, argv);
  for (std::string line; std::getline(std::cin, line);) {
    pid_t child = fork();
    if (child == 0)
      call(argv[0], line, argv[1], seconds);
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
