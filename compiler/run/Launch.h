//===- Launch.h - Processes that were started together as ranks --------------===//
//
// `mpirun -np 4 kiln run model.onnx --ranks=4`: each process is a rank. Rank 0 leads. It alone reads files, compiles and prints; it sends the others the
// objects, the inputs and what they are to do, and they answer. A message is a header and, if it says so, bytes. While rank 0 has nothing to say, a thread of
// its own tells the others that it is alive, so that the deadline does not have to cover a compile, and hears of each that it is, too.
//
//===----------------------------------------------------------------------===//
#ifndef KILN_COMPILER_RUN_LAUNCH_H
#define KILN_COMPILER_RUN_LAUNCH_H

#include "kiln/communicator.h"
#include "llvm/Support/Error.h"
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

namespace kiln {

/// What rank 0 tells the others to do, and their answer. Models and executions have numbers.
enum class Task : int64_t { Nothing = 1, Load, Unload, Prepare, Release, Run, Check, TakeTimes, End, Answer };

class Launch {
public:
  /// Loads the shared library of kiln/launcher.h and joins the others. If they do not come before the deadline, the process ends, and says so if it `speaks`.
  static llvm::Expected<std::unique_ptr<Launch>> open(llvm::StringRef library, int64_t deadlineNs, bool speaks = true);
  /// Only an end that nobody has told to the others gets here: an error that all of them have.
  ~Launch();

  int32_t getRank() const { return communicator->rank; }
  int32_t getSize() const { return communicator->size; }
  /// Whether all processes were given equal bytes: KILN_STATUS_RANKS_MISMATCH on all of them if not. The first call of each.
  kiln_status agree(llvm::StringRef bytes);
  /// Rank 0, when all others listen: from here to the end, a thread tells them that it is alive, and ends all if one of them does not answer.
  void startBeats();
  /// For the calls of a model's run.
  const kiln_communicator *getCommunicator() const { return communicator; }
  /// Held by rank 0 while it says something, runs a model, or waits for answers.
  std::unique_lock<std::mutex> lock() { return std::unique_lock(mutex); }

  /// Rank 0 to all others, or to one. With `lock`.
  llvm::Error tell(Task task, int64_t number, llvm::StringRef bytes = {});
  kiln_status tellRun(int64_t number);
  llvm::Error tell(int32_t rank, Task task, int64_t number, llvm::StringRef bytes);
  /// The answer of a rank. With `lock`.
  llvm::Expected<std::string> hear(int32_t rank);
  /// More bytes of a message, whose number both sides know.
  llvm::Error send(int32_t rank, llvm::StringRef bytes);
  llvm::Error receive(int32_t rank, char *bytes, size_t size);

  /// What rank 0 says next.
  struct Order {
    Task task = Task::Nothing;
    int64_t number = 0;
    std::string bytes;
  };
  llvm::Expected<Order> listen();
  llvm::Error answer(llvm::StringRef bytes);

  /// Rank 0: ends the others with this exit status, and leaves. Gives the status of this process.
  int end(int status);
  /// The last call of a rank that has been told to end.
  void leave();
  /// Ends all processes: a rank has failed, or is gone.
  [[noreturn]] void abort();
  /// Says why before that. Rank 0 is the first to say something, if it is still there.
  [[noreturn]] void giveUp(llvm::Error error);

private:
  Launch() = default;
  void stopBeats();
  void beat(int64_t intervalNs);
  llvm::Error checkOthers();
  llvm::Expected<Order> take(int32_t rank);
  llvm::Error tellEnd(int status);

  const kiln_communicator *communicator = nullptr;
  void (*closeLibrary)() = nullptr;
  void (*abortLibrary)(int) = nullptr;
  bool isOpen = false;
  int64_t deadlineNs = 0;
  std::mutex mutex;
  std::condition_variable ends;
  bool isEnding = false;
  /// When rank 0 last said something.
  int64_t lastWord = 0;
  /// Answers that rank 0 has not yet heard, of each rank.
  std::vector<int64_t> owed;
  std::thread beats;
};

} // namespace kiln

#endif // KILN_COMPILER_RUN_LAUNCH_H
