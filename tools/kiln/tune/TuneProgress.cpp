//===- TuneProgress.cpp - How far kiln tune is ----------------------------------===//
#include "tools/kiln/tune/TuneProgress.h"
#include "compiler/files/Printable.h"
#include "kiln/runtime.h"
#include "tools/kiln/Reporting.h"

#include "llvm/Support/Process.h"
#include "llvm/Support/WithColor.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>
#include <csignal>
#include <unistd.h>

using namespace llvm;

namespace kiln {

static volatile std::sig_atomic_t interrupted = 0;
/// What a second Ctrl-C does.
static struct sigaction before;

static void onInterrupt(int) {
  interrupted = 1;
  sigaction(SIGINT, &before, nullptr);
  constexpr char text[] = "\nstopping: what is measured so far will be written; Ctrl-C again ends kiln at once\n";
  (void)!write(STDERR_FILENO, text, sizeof(text) - 1);
}

TuneProgress::TuneProgress() {
  // A dumb terminal cannot take a line back.
  isTerminal = verbosity() > 0 && sys::Process::StandardErrIsDisplayed() && sys::Process::GetEnv("TERM").value_or("") != "dumb";
  isListed = verbosity() > 1 && !isTerminal;
  struct sigaction action = {};
  action.sa_handler = onInterrupt;
  action.sa_flags = SA_RESTART;
  sigaction(SIGINT, &action, &before);
}

TuneProgress::~TuneProgress() {
  if (!interrupted)
    sigaction(SIGINT, &before, nullptr);
}

bool TuneProgress::isInterrupted() { return interrupted; }

std::string TuneProgress::estimate() const {
  double seconds = 0;
  for (const Count &count : counts) {
    if (count.left && !count.done)
      return "";
    seconds += count.done ? double(count.left) * count.seconds / double(count.done) : 0;
  }
  constexpr double minute = 60;
  return seconds < 2 * minute ? "about " + std::to_string(std::max(1L, std::lround(seconds))) + " s left"
                              : "about " + std::to_string(std::lround(seconds / minute)) + " min left";
}

void TuneProgress::begin() { start = kiln_clock_ns(); }

void TuneProgress::end(Step step) {
  Count &count = counts[step];
  count.seconds += double(kiln_clock_ns() - start) * 1e-9;
  ++count.done;
  count.left -= count.left > 0;
  size_t done = counts[0].done + counts[1].done, left = counts[0].left + counts[1].left;
  std::string text = "step " + std::to_string(done) + " of " + std::to_string(done + left), rest = left ? estimate() : "";
  show(text + (rest.empty() ? "" : ", " + rest));
}

void TuneProgress::show(const std::string &text) {
  if (isTerminal)
    errs() << "\r\x1b[K" << text;
  else if (isListed)
    printLine(errs(), text);
  errs().flush();
}

void TuneProgress::tell(const Twine &line) {
  if (isTerminal)
    errs() << "\r\x1b[K";
  if (verbosity() > 0)
    printLine(errs(), line);
  errs().flush();
}

void TuneProgress::note(const std::string &line) {
  if (verbosity() > 0 && notes.insert(line).second)
    printLine(WithColor::note(errs()), line);
}

} // namespace kiln
