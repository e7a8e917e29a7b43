//===- Launch.cpp - Processes that were started together as ranks ------------===//
#include "compiler/run/Launch.h"
#include "compiler/emit/Temporary.h"
#include "compiler/files/Printable.h"
#include "compiler/run/LibraryFolder.h"
#include "compiler/run/Tensor.h"
#include "kiln/launcher.h"
#include "kiln/runtime.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/WithColor.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Support/xxhash.h"
#include <cstring>
#include <dlfcn.h>

using llvm::Error;
using llvm::Expected;
using llvm::StringRef;

namespace kiln {

namespace {
struct Header {
  int64_t task, number, bytes;
};

/// For calls of the library that have no deadline, such as those of MPI's own start and end: ends the process if one does not return before it.
class Watch {
public:
  Watch(int64_t deadlineNs, bool speaks) {
    if (deadlineNs > 0)
      thread = std::thread([this, deadlineNs, speaks] { wait(deadlineNs, speaks); });
  }
  ~Watch() {
    {
      std::lock_guard guard(mutex);
      isDone = true;
    }
    changes.notify_all();
    if (thread.joinable())
      thread.join();
  }

private:
  void wait(int64_t deadlineNs, bool speaks) {
    std::unique_lock guard(mutex);
    if (changes.wait_for(guard, std::chrono::nanoseconds(deadlineNs), [&] { return isDone; }))
      return;
    if (speaks)
      llvm::errs() << "error: " << kiln_status_string(KILN_STATUS_PEER_LATE) << "\n";
    std::_Exit(1);
  }

  std::mutex mutex;
  std::condition_variable changes;
  bool isDone = false;
  std::thread thread;
};
} // namespace

/// Bytes that go in one call, which has to end before the deadline, and that a message of a broken launch could ask for.
static constexpr size_t mostAtOnce = size_t(64) << 20;
static constexpr int64_t mostInMessage = int64_t(1) << 40;

static Error fail(kiln_status status) { return status ? makeError(kiln_status_string(status)) : Error::success(); }

Expected<std::unique_ptr<Launch>> Launch::open(StringRef library, int64_t deadlineNs, bool speaks) {
  if (Error error = loadFunctions(library))
    return std::move(error);
  std::unique_ptr<Launch> launch(new Launch);
  llvm::SmallString<256> path(library);
  llvm::sys::fs::make_absolute(path);
  void *handle = dlopen(path.c_str(), RTLD_NOW | RTLD_NOLOAD);
  auto find = [&](const char *name, auto &function) {
    function = reinterpret_cast<std::decay_t<decltype(function)>>(handle ? dlsym(handle, name) : nullptr);
    return function != nullptr;
  };
  decltype(&kiln_launcher_open) openLibrary = nullptr;
  if (!find("kiln_launcher_open", openLibrary) || !find("kiln_launcher_close", launch->closeLibrary) || !find("kiln_launcher_abort", launch->abortLibrary))
    return makeError("'" + library + "' lacks functions of kiln/launcher.h");
  launch->deadlineNs = deadlineNs;
  Watch watch(deadlineNs, speaks);
  if (kiln_status status = openLibrary(deadlineNs, &launch->communicator))
    return makeError("'" + library + "' cannot join the other ranks: " + kiln_status_string(status));
  launch->isOpen = true;
  launch->owed.resize(size_t(launch->getSize()));
  return std::move(launch);
}

Launch::~Launch() {
  if (isOpen)
    leave();
}

kiln_status Launch::agree(StringRef bytes) {
  const uint64_t words[2] = {llvm::xxh3_64bits(bytes), bytes.size()};
  uint8_t fingerprint[sizeof(words)];
  std::memcpy(fingerprint, words, sizeof(words));
  auto guard = lock();
  lastWord = kiln_clock_ns();
  if (kiln_status status = communicator->begin(communicator->user, fingerprint))
    return status;
  return communicator->end(communicator->user, KILN_STATUS_OK);
}

//===- Signs of life ---------------------------------------------------------===//

void Launch::startBeats() {
  constexpr int64_t second = 1000000000;
  int64_t interval = deadlineNs > 0 ? std::min(second, deadlineNs / 4) : second;
  lastWord = kiln_clock_ns();
  beats = std::thread([this, interval] { beat(interval); });
}

void Launch::stopBeats() {
  {
    std::lock_guard guard(mutex);
    isEnding = true;
  }
  ends.notify_all();
  if (beats.joinable())
    beats.join();
}

/// What goes to a rank that is stopped is sent without a fault: only an answer says that it is alive. A rank that owes an answer to something else is not
/// asked.
Error Launch::checkOthers() {
  std::vector<int32_t> asked;
  for (int32_t rank = 1; rank < getSize(); ++rank) {
    if (owed[size_t(rank)] == 0)
      asked.push_back(rank);
    if (Error error = tell(rank, Task::Nothing, owed[size_t(rank)] == 0, {}))
      return error;
  }
  for (int32_t rank : asked)
    if (Expected<std::string> answer = hear(rank); !answer)
      return answer.takeError();
  return Error::success();
}

void Launch::beat(int64_t intervalNs) {
  std::unique_lock guard(mutex);
  while (!ends.wait_for(guard, std::chrono::nanoseconds(intervalNs), [&] { return isEnding; })) {
    if (kiln_clock_ns() - lastWord < intervalNs)
      continue;
    if (Error error = checkOthers()) {
      // Whoever runs a model has seen that first, and is about to say it.
      if (ends.wait_for(guard, std::chrono::milliseconds(500), [&] { return isEnding; }))
        return llvm::consumeError(std::move(error));
      llvm::errs() << "error: " << llvm::toString(std::move(error)) << "\n";
      abort();
    }
  }
}

//===- Messages ------------------------------------------------------------===//

Error Launch::send(int32_t rank, StringRef bytes) {
  for (size_t at = 0; at < bytes.size(); at += mostAtOnce) {
    StringRef part = bytes.substr(at, mostAtOnce);
    if (kiln_status status = communicator->send(communicator->user, rank, part.data(), int64_t(part.size())))
      return fail(status);
  }
  return Error::success();
}

Error Launch::receive(int32_t rank, char *bytes, size_t size) {
  for (size_t at = 0; at < size; at += mostAtOnce)
    if (kiln_status status = communicator->receive(communicator->user, rank, bytes + at, int64_t(std::min(mostAtOnce, size - at))))
      return fail(status);
  return Error::success();
}

/// Whether the others answer it; a sign of life, if it has a number.
static bool isAnswered(Task task, int64_t number) {
  switch (task) {
  case Task::Nothing:
    return number != 0;
  case Task::Load:
  case Task::Prepare:
  case Task::Check:
  case Task::TakeTimes:
  case Task::End:
    return true;
  default:
    return false;
  }
}

Error Launch::tell(int32_t rank, Task task, int64_t number, StringRef bytes) {
  owed[size_t(rank)] += isAnswered(task, number);
  Header header{int64_t(task), number, int64_t(bytes.size())};
  lastWord = kiln_clock_ns();
  if (Error error = send(rank, StringRef(reinterpret_cast<const char *>(&header), sizeof(header))))
    return error;
  return send(rank, bytes);
}

Error Launch::tell(Task task, int64_t number, StringRef bytes) {
  for (int32_t rank = 1; rank < getSize(); ++rank)
    if (Error error = tell(rank, task, number, bytes))
      return error;
  return Error::success();
}

kiln_status Launch::tellRun(int64_t number) {
  Header header{int64_t(Task::Run), number, 0};
  lastWord = kiln_clock_ns();
  for (int32_t rank = 1; rank < getSize(); ++rank)
    if (kiln_status status = communicator->send(communicator->user, rank, &header, sizeof(header)))
      return status;
  return KILN_STATUS_OK;
}

Expected<Launch::Order> Launch::take(int32_t rank) {
  Header header;
  if (Error error = receive(rank, reinterpret_cast<char *>(&header), sizeof(header)))
    return std::move(error);
  if (header.bytes < 0 || header.bytes > mostInMessage)
    return fail(KILN_STATUS_RANKS_MISMATCH);
  Order order{Task(header.task), header.number, std::string(size_t(header.bytes), 0)};
  if (Error error = receive(rank, order.bytes.data(), order.bytes.size()))
    return std::move(error);
  return order;
}

Expected<std::string> Launch::hear(int32_t rank) {
  Expected<Order> order = take(rank);
  if (!order)
    return order.takeError();
  lastWord = kiln_clock_ns();
  if (order->task != Task::Answer)
    return fail(KILN_STATUS_RANKS_MISMATCH);
  --owed[size_t(rank)];
  return std::move(order->bytes);
}

Expected<Launch::Order> Launch::listen() {
  for (;;) {
    Expected<Order> order = take(0);
    if (!order || order->task != Task::Nothing)
      return order;
    if (Error error = order->number ? answer({}) : Error::success())
      return std::move(error);
  }
}

Error Launch::answer(StringRef bytes) { return tell(0, Task::Answer, 0, bytes); }

//===- The end ---------------------------------------------------------------===//

void Launch::leave() {
  stopBeats();
  isOpen = false;
  Watch watch(deadlineNs, getRank() == 0);
  closeLibrary();
}

/// They answer, so that none is left waiting for one that is gone.
Error Launch::tellEnd(int status) {
  if (Error error = tell(Task::End, status))
    return error;
  for (int32_t rank = 1; rank < getSize(); ++rank)
    if (Expected<std::string> answer = hear(rank); !answer)
      return answer.takeError();
  return Error::success();
}

int Launch::end(int status) {
  stopBeats();
  if (Error error = tellEnd(status)) {
    std::string reason = llvm::toString(std::move(error));
    if (status == 0) // else that has been said
      llvm::errs() << "error: " << reason << "\n";
    abort();
  }
  leave();
  return status;
}

void Launch::abort() {
  llvm::outs().flush();
  llvm::errs().flush();
  // Another thread may be compiling or writing a file.
  llvm::sys::RunInterruptHandlers();
  removeTemporaryFolders();
  Watch watch(deadlineNs, false);
  abortLibrary(1);
  std::_Exit(1);
}

void Launch::giveUp(Error error) {
  std::string text = llvm::toString(std::move(error));
  if (getRank() != 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    text = "rank " + std::to_string(getRank()) + ": " + text;
  }
  printLine(llvm::WithColor::error(llvm::errs()), text);
  abort();
}

} // namespace kiln
