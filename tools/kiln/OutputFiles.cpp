//===- OutputFiles.cpp - Files that appear whole or not at all -------------===//
#include "tools/kiln/OutputFiles.h"
#include "tools/kiln/StagedFile.h"
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

static Error fail(StringRef path, const Twine &reason) { return makeError("cannot write " + path + ": " + reason); }

static Error writeStaged(const StagedFile &staged, StringRef path, const OutputFile &source) {
  raw_fd_ostream os(staged.getDescriptor(), /*shouldClose=*/false);
  source.write(os);
  os.flush();
  if (!os.has_error())
    return Error::success();
  std::string reason = os.error().message();
  os.clear_error();
  return fail(path, reason);
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

std::vector<PlacedFile> placeFiles(StringRef folder, ArrayRef<OutputFile> files) {
  std::vector<PlacedFile> placed;
  for (const OutputFile &file : files) {
    SmallString<128> path(folder);
    sys::path::append(path, file.path);
    placed.push_back({std::string(path), &file});
  }
  return placed;
}

Error writeFiles(ArrayRef<PlacedFile> files) {
  std::vector<std::string> made;
  std::vector<StagedFile> staged;
  auto write = [&](const PlacedFile &file) -> Error {
    StringRef parent = sys::path::parent_path(file.path);
    std::vector<std::string> missing = findMissingFolders(parent);
    // As mkdir does: the umask alone takes permissions away.
    if (std::error_code error = missing.empty() ? std::error_code() : sys::fs::create_directories(parent, true, sys::fs::all_all))
      return makeError("cannot make the folder " + parent + ": " + error.message());
    made.insert(made.end(), missing.begin(), missing.end());
    Expected<StagedFile> next = StagedFile::create(file.path);
    if (!next)
      return fail(file.path, toString(next.takeError()));
    staged.push_back(std::move(*next));
    return writeStaged(staged.back(), file.path, *file.file);
  };
  Error error = Error::success();
  for (const PlacedFile &file : files)
    if ((error = write(file)))
      break;
  SignalsLater later;
  for (size_t i = 0; i < staged.size() && !error; ++i)
    if (Error kept = staged[i].keep())
      error = fail(files[i].path, toString(std::move(kept)));
  staged.clear();
  if (error)
    for (const std::string &path : reverse(made))
      sys::fs::remove(path);
  return error;
}

} // namespace kiln
