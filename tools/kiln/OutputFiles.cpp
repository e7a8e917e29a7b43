//===- OutputFiles.cpp - Files that appear whole or not at all -------------===//
#include "tools/kiln/OutputFiles.h"
#include "tools/kiln/Commands.h"
#include "tools/kiln/StagedFile.h"
#include "compiler/run/Tensor.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <csignal>
#include <tuple>

using namespace llvm;

namespace kiln {

/// Makes the folder and those that it needs, and adds what was not there before to `made`, outermost first.
static Error makeFolders(StringRef folder, std::vector<std::string> &made) {
  if (folder.empty() || sys::fs::exists(folder))
    return Error::success();
  if (Error error = makeFolders(sys::path::parent_path(folder), made))
    return error;
  // As mkdir does: the umask alone takes permissions away.
  std::error_code error = sys::fs::create_directory(folder, /*IgnoreExisting=*/false, sys::fs::all_all);
  if (!error)
    made.push_back(folder.str());
  // Another process may have been faster, and `a/..` is there with `a`.
  if (error && error != std::errc::file_exists)
    return makeError("cannot make the folder " + folder + ": " + error.message());
  return Error::success();
}

static Error fail(StringRef path, const Twine &reason) { return makeError("cannot write " + path + ": " + reason); }

static Error writeStaged(const StagedFile &staged, StringRef path, const OutputFile &source) {
  raw_fd_ostream os(staged.getDescriptor(), /*shouldClose=*/false);
  // Linux holds what is written in one call in pages as large as fit into it, and maps files by such pages.
  constexpr size_t bytesAtOnce = 8 << 20;
  os.SetBufferSize(bytesAtOnce);
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

/// Whether the command line names the file for something else than its output, by itself or behind `NAME=`.
static bool isInput(StringRef path) {
  constexpr StringLiteral outputs[] = {"o", "output-dir", "report", "depfile", "stamp", "trace", "onnx"};
  StringRef option;
  for (StringRef word : getArguments()) {
    bool isOption = word.starts_with("-");
    if (isOption)
      std::tie(option, word) = word.ltrim('-').split('=');
    bool isOutput = is_contained(outputs, option);
    if (!isOption)
      option = "";
    for (StringRef file : {word, word.split('=').second})
      if (!isOutput && !file.empty() && sys::fs::equivalent(file, path))
        return true;
  }
  return false;
}

static Error refuseInput(StringRef path) { return isInput(path) ? fail(path, "the command reads it") : Error::success(); }

Error checkWritable(StringRef path) {
  if (Error error = refuseInput(path))
    return error;
  if (StringRef folder = sys::path::parent_path(path); !folder.empty() && !sys::fs::exists(folder))
    return Error::success();
  Expected<StagedFile> file = StagedFile::create(path);
  return file ? Error::success() : fail(path, toString(file.takeError()));
}

std::string makeFileName(StringRef output, StringSet<> &taken) {
  std::string name = output.str();
  for (char &c : name)
    if (!isAlnum(c) && c != '_' && c != '.' && c != '-')
      c = '_';
  std::string stem = name;
  for (unsigned number = 2; !taken.insert(name).second; ++number)
    name = stem + "_" + std::to_string(number);
  return name + ".npy";
}

std::vector<PlacedFile> placeFiles(StringRef folder, ArrayRef<OutputFile> files) {
  std::vector<PlacedFile> placed;
  for (const OutputFile &file : files) {
    SmallString<128> path(folder);
    sys::path::append(path, file.path);
    placed.push_back({std::string(path), &file});
  }
  return placed;
}

Error writeFiles(ArrayRef<PlacedFile> files, SameBytes same) {
  std::vector<std::string> made;
  std::vector<StagedFile> staged;
  auto write = [&](const PlacedFile &file) -> Error {
    if (Error error = refuseInput(file.path))
      return error;
    if (Error error = makeFolders(sys::path::parent_path(file.path), made))
      return error;
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
  for (size_t i = 0; i < staged.size() && !error; ++i) {
    if (same == SameBytes::Left && staged[i].isUnchanged())
      continue;
    if (Error kept = staged[i].keep())
      error = fail(files[i].path, toString(std::move(kept)));
  }
  staged.clear();
  if (error)
    for (const std::string &path : reverse(made))
      sys::fs::remove(path);
  return error;
}

} // namespace kiln
