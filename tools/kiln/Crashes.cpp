//===- Crashes.cpp - How kiln ends when it cannot go on -----------------------===//
//
// A crash may be inside of malloc or of the loader, whose locks are held for good then. The handlers call only what signals allow, and whatever runs after a
// crash in a pass, from which MLIR returns with a reproducer, is ended when it stands still.
//
//===----------------------------------------------------------------------===//
#include "tools/kiln/Reporting.h"
#include "compiler/CrashFolder.h"
#include "compiler/emit/Temporary.h"
#include "compiler/files/Printable.h"
#include "tools/kiln/Commands.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/CrashRecoveryContext.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/raw_ostream.h"
#include <atomic>
#include <csignal>
#include <cstring>
#include <ctime>
#include <cxxabi.h>
#include <execinfo.h>
#include <fcntl.h>
#include <new>
#include <pthread.h>
#include <system_error>
#include <unistd.h>

using namespace llvm;

namespace kiln {

//===- Crashes -------------------------------------------------------------===//

/// Everything the signal handler needs, made beforehand: it may not allocate.
static std::string crashText;
static char crashPath[4096];

static constexpr int crashSignals[] = {SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGTRAP, SIGQUIT, SIGSYS, SIGXCPU};
/// From the first ones CrashRecoveryContext returns to a pass manager, by these handlers.
static constexpr size_t recoverable = 6;
static struct sigaction recoveries[std::size(crashSignals)];

static void say(const char *text) { (void)!write(STDERR_FILENO, text, std::strlen(text)); }

[[noreturn]] static void endCrash() {
  sys::RunInterruptHandlers();
  removeTemporaryFolders();
  _exit(InternalError);
}

static void reportCrash() {
  int file = openCrashFile("crash.txt", crashPath, sizeof(crashPath));
  bool written = file >= 0 && write(file, crashText.data(), crashText.size()) == ssize_t(crashText.size());
  say("error: internal error in Kiln, please report it with the model");
  if (written) {
    say(" and ");
    say(crashPath);
  }
  say("\n");
}

/// Ends a process that has used no CPU time for some seconds, or has gone on for too long, since a crash.
static void onAlarm(int) {
  constexpr int mostStill = 3, mostSeconds = 600;
  constexpr long leastNanoseconds = 1000000;
  static timespec before = {};
  static int still = 0, seconds = 0;
  timespec now = {};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  bool stands = now.tv_sec == before.tv_sec && now.tv_nsec - before.tv_nsec < leastNanoseconds;
  before = now;
  still = stands ? still + 1 : 0;
  if (still >= mostStill || ++seconds >= mostSeconds) {
    reportCrash();
    endCrash();
  }
  alarm(1);
}

static void watchTime() {
  struct sigaction action = {};
  action.sa_handler = onAlarm;
  action.sa_flags = SA_ONSTACK | SA_RESTART;
  sigaction(SIGALRM, &action, nullptr);
  sigset_t alarms;
  sigemptyset(&alarms);
  sigaddset(&alarms, SIGALRM);
  pthread_sigmask(SIG_UNBLOCK, &alarms, nullptr);
  alarm(1);
}

static void onCrash(int signal) {
  watchTime();
  for (size_t i = 0; i < recoverable && CrashRecoveryContext::GetCurrent(); ++i)
    if (crashSignals[i] == signal)
      recoveries[i].sa_handler(signal);
  // A crash of another thread, or of this handler.
  static std::atomic<pthread_t> thread = {};
  pthread_t none = {}, self = pthread_self();
  if (!thread.compare_exchange_strong(none, self)) {
    if (pthread_equal(none, self))
      endCrash();
    for (;;)
      pause();
  }
  reportCrash();
  constexpr int mostFrames = 64;
  void *frames[mostFrames];
  backtrace_symbols_fd(frames, backtrace(frames, mostFrames), STDERR_FILENO);
  endCrash();
}

/// In front of the handlers of LLVM, which print the stack and allocate for it.
static void installHandlers() {
  for (auto [signal, recovery] : zip_equal(crashSignals, recoveries)) {
    struct sigaction action = {};
    action.sa_handler = onCrash;
    action.sa_flags = SA_ONSTACK | SA_NODEFER;
    struct sigaction before;
    if (sigaction(signal, &action, &before) == 0 && before.sa_handler != onCrash)
      recovery = before;
  }
}

/// While passes run, CrashRecoveryContext's handlers are in front.
static void watchRecovery() {
  struct sigaction now;
  if (CrashRecoveryContext::GetCurrent() && sigaction(SIGSEGV, nullptr, &now) == 0 && now.sa_handler != onCrash)
    installHandlers();
}

//===- Exhaustion ------------------------------------------------------------===//

/// No memory, or no threads: the machine's fault. Nothing may be allocated here; temporary files go away.
[[noreturn]] static void endExhausted(StringRef message) {
  bool said = write(STDERR_FILENO, message.data(), message.size()) > 0;
  sys::RunInterruptHandlers();
  removeTemporaryFolders();
  _exit(said ? AtFault : InternalError);
}

[[noreturn]] static void onExhaustion() { endExhausted("error: out of memory\n"); }

[[noreturn]] static void onThreadFailure() {
  endExhausted("error: the system refused to start a thread: its limit of processes and threads is reached (ulimit -u, or that of a container), "
               "or there is no memory for a stack\n");
}

/// Kiln throws nothing; the libraries throw when they are out of memory or threads.
static void onTerminate() {
  const std::type_info *type = abi::__cxa_current_exception_type();
  if (type && *type == typeid(std::bad_alloc))
    onExhaustion();
  if (type && *type == typeid(std::system_error))
    onThreadFailure();
  abort();
}

/// LLVM reports at the program's end that standard output could not take all of it: a full disk, or closed.
[[noreturn]] static void onUnwritable(StringRef reason) {
  std::string message = "error: cannot write to standard output or standard error: " + reason.str() + "\n";
  (void)!write(STDERR_FILENO, message.data(), message.size());
  _exit(AtFault);
}

static void onFatalError(void *, const char *reason, bool) {
  StringRef text(reason);
  if (text.consume_front("IO failure on output stream: "))
    onUnwritable(text);
  if (text.contains("pthread_create failed"))
    onThreadFailure();
  if (text.contains("out of memory"))
    onExhaustion();
  printLine(errs(), "LLVM ERROR: " + text);
  abort();
}

static void watchForExhaustion() {
  std::set_new_handler(onExhaustion);
  std::set_terminate(onTerminate);
  install_bad_alloc_error_handler([](void *, const char *, bool) { onExhaustion(); });
  install_fatal_error_handler(onFatalError);
}

void watchForCrashes(int argc, char **argv) {
  watchForExhaustion();
  prepareCrashFolder();
  SmallString<128> folder;
  sys::fs::current_path(folder);
  crashText = "version: " KILN_VERSION "\nfolder: " + std::string(folder) + "\ncommand:";
  for (int i = 0; i < argc; ++i)
    crashText += std::string(" '") + argv[i] + "'";
  crashText += "\n";
  // The first call of backtrace() loads a library.
  void *frame;
  backtrace(&frame, 1);
  installHandlers();
  watchPasses(watchRecovery);
  // A file that may not grow is a write error like a full disk, not a crash.
  std::signal(SIGXFSZ, SIG_IGN);
}

} // namespace kiln
