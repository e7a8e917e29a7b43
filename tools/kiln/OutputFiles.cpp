//===- OutputFiles.cpp - Files that appear whole or not at all -------------===//
#include "tools/kiln/OutputFiles.h"
#include "compiler/run/Tensor.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <csignal>

using namespace llvm;

namespace kiln {

/// The folders that `folder` needs and that do not exist yet, outermost first.
static std::vector<std::string> findMissingFolders(StringRef folder) {
  std::vector<std::string> missing;
  for (StringRef path = folder; !path.empty() && !sys::fs::exists(path); path = sys::path::parent_path(path))
    missing.insert(missing.begin(), path.str());
  return missing;
}

static Error writeTemporary(sys::fs::TempFile &file, StringRef path, const OutputFile &source) {
  raw_fd_ostream os(file.FD, /*shouldClose=*/false);
  source.write(os);
  os.flush();
  if (!os.has_error())
    return Error::success();
  std::string reason = os.error().message();
  os.clear_error();
  return makeError("cannot write " + path + ": " + reason);
}

namespace {
/// Holds back what would end the program, so that all files appear or none.
class SignalsLater {
public:
  SignalsLater() {
    sigset_t signals;
    sigemptyset(&signals);
    for (int signal : {SIGHUP, SIGINT, SIGTERM})
      sigaddset(&signals, signal);
    pthread_sigmask(SIG_BLOCK, &signals, &before);
  }
  ~SignalsLater() { pthread_sigmask(SIG_SETMASK, &before, nullptr); }

private:
  sigset_t before;
};
} // namespace

Error writeFiles(StringRef folder, ArrayRef<OutputFile> files) {
  std::vector<std::string> made;
  std::vector<std::pair<sys::fs::TempFile, std::string>> temporaries;
  auto write = [&](const OutputFile &file) -> Error {
    SmallString<128> path(folder);
    sys::path::append(path, file.path);
    StringRef parent = sys::path::parent_path(path);
    std::vector<std::string> missing = findMissingFolders(parent);
    // As mkdir does: the umask alone takes permissions away.
    if (std::error_code error = sys::fs::create_directories(parent, true, sys::fs::all_all))
      return makeError("cannot make the folder " + parent + ": " + error.message());
    made.insert(made.end(), missing.begin(), missing.end());
    Expected<sys::fs::TempFile> temporary = sys::fs::TempFile::create(path + ".%%%%%%%%.part", 0666 & ~sys::fs::getUmask());
    if (!temporary)
      return makeError("cannot write " + path + ": " + toString(temporary.takeError()));
    temporaries.emplace_back(std::move(*temporary), std::string(path));
    return writeTemporary(temporaries.back().first, path, file);
  };
  Error error = Error::success();
  for (const OutputFile &file : files)
    if ((error = write(file)))
      break;
  SignalsLater later;
  for (auto &[temporary, path] : temporaries) {
    if (error)
      consumeError(temporary.discard());
    else if (Error kept = temporary.keep(path))
      error = makeError("cannot write " + path + ": " + toString(std::move(kept)));
  }
  if (error)
    for (const std::string &path : reverse(made))
      sys::fs::remove(path);
  return error;
}

} // namespace kiln
