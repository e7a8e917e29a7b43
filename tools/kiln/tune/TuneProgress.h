//===- TuneProgress.h - How far kiln tune is ------------------------------------===//
#ifndef KILN_TOOLS_KILN_TUNE_TUNEPROGRESS_H
#define KILN_TOOLS_KILN_TUNE_TUNEPROGRESS_H

#include "llvm/ADT/Twine.h"
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>

namespace kiln {

/// Counts the steps of a measurement, which are compiles of variants and rounds of measuring them, and estimates what the rest takes from those that are done.
/// While it lives, Ctrl-C does not end the program but is noted; a second one ends it.
class TuneProgress {
public:
  TuneProgress();
  ~TuneProgress();
  TuneProgress(const TuneProgress &) = delete;

  enum Step { Compile, Round };
  /// Adds steps that will be taken.
  void plan(Step step, size_t count) { counts[step].left += count; }
  /// Notes that a step begins, and that it is done, and shows how far it is.
  void begin();
  void end(Step step);
  /// A line for a piece of work that is measured.
  void tell(const llvm::Twine &line);
  /// What the user should know of the measurement, once.
  void note(const std::string &line);

  static bool isInterrupted();

private:
  struct Count {
    size_t left = 0, done = 0;
    double seconds = 0;
  };
  /// "about 40 s left"; empty while nothing is known.
  std::string estimate() const;
  void show(const std::string &text);

  Count counts[2];
  int64_t start = 0;
  std::set<std::string> notes;
  bool isTerminal, isListed;
};

} // namespace kiln

#endif // KILN_TOOLS_KILN_TUNE_TUNEPROGRESS_H
