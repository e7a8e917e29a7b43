// How kiln's processes talk under mpirun, for sanitizers: kiln's own source (compiler/run/Launch.cpp) without the compiler. Usage: mpirun -np N launch LIBRARY ROUNDS
// Rank 0 asks, the others answer, and between rounds the thread of rank 0 that says that it is alive has time to do so. A negative number: rank 1 dies after as
// many rounds, and the others end with status 1.
#include "compiler/emit/Temporary.h"
#include "compiler/run/Launch.h"
#include "compiler/run/LibraryFolder.h"
#include "compiler/run/Tensor.h"
#include "kiln/runtime.h"
#include "llvm/Support/raw_ostream.h"

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <dlfcn.h>

using namespace kiln;

// Of the compiler's libraries.
llvm::Error kiln::makeError(const llvm::Twine &message) { return llvm::createStringError(message); }

llvm::Error kiln::loadFunctions(llvm::StringRef path) {
  return dlopen(path.str().c_str(), RTLD_NOW) ? llvm::Error::success() : makeError(dlerror());
}

void kiln::removeTemporaryFolders() {}

// Also of MPI's start, which takes seconds with a sanitizer on a busy machine.
static constexpr int64_t deadlineNs = 20000000000;

static llvm::Error lead(Launch &launch, int64_t rounds) {
  for (int64_t round = 0; round < rounds; ++round) {
    // Longer than the time between two signs of life.
    std::this_thread::sleep_for(std::chrono::microseconds(round % 8 == 7 ? 1200000 : 100));
    auto guard = launch.lock();
    std::string bytes(size_t(round * 9001), char('a' + round % 26));
    if (llvm::Error error = launch.tell(Task::Check, round, bytes))
      return error;
    for (int32_t rank = 1; rank < launch.getSize(); ++rank) {
      llvm::Expected<std::string> answer = launch.hear(rank);
      if (!answer)
        return answer.takeError();
      if (*answer != bytes)
        return makeError("other bytes");
    }
  }
  return llvm::Error::success();
}

static llvm::Error follow(Launch &launch, int64_t last) {
  for (;;) {
    llvm::Expected<Launch::Order> order = launch.listen();
    if (!order)
      return order.takeError();
    if (order->number == last && launch.getRank() == 1)
      raise(SIGKILL);
    if (llvm::Error error = launch.answer(order->bytes))
      return error;
    if (order->task == Task::End)
      return llvm::Error::success();
  }
}

int main(int argc, char **argv) {
  llvm::Expected<std::unique_ptr<Launch>> launch = Launch::open(argv[1], deadlineNs);
  if (!launch) {
    llvm::errs() << llvm::toString(launch.takeError()) << "\n";
    return 2;
  }
  int64_t rounds = argc == 3 ? std::atoll(argv[2]) : 0;
  bool isFirst = (*launch)->getRank() == 0;
  if (isFirst)
    (*launch)->startBeats();
  if (llvm::Error error = isFirst ? lead(**launch, std::abs(rounds) + (rounds < 0)) : follow(**launch, rounds < 0 ? -rounds : -1)) {
    llvm::errs() << "rank " << (*launch)->getRank() << ": " << llvm::toString(std::move(error)) << "\n";
    if (!isFirst)
      (*launch)->abort();
    return (*launch)->end(1);
  }
  if (isFirst) {
    llvm::outs() << rounds << " rounds\n";
    return (*launch)->end(0);
  }
  (*launch)->leave();
  return 0;
}
