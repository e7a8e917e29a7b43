//===- LibraryFolder.cpp - Where Kiln's functions for libraries lie --------===//
#include "compiler/run/LibraryFolder.h"
#include "compiler/files/InputFile.h"
#include "compiler/run/Tensor.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include <dlfcn.h>

using namespace llvm;

namespace kiln {

std::string libraryFolder() {
  if (std::optional<std::string> folder = sys::Process::GetEnv("KILN_LIBRARY_DIR"))
    return *folder;
  static int here;
  SmallString<256> path(sys::fs::getMainExecutable("", &here));
  sys::path::remove_filename(path);
  sys::path::append(path, "..", KILN_LIBDIR);
  sys::path::remove_dots(path, /*remove_dot_dot=*/true);
  return std::string(path);
}

std::string findLibraryFile(StringRef name) {
  SmallString<256> path(libraryFolder());
  sys::path::append(path, name);
  return sys::fs::exists(path) ? std::string(path) : "";
}

/// It is never unloaded: threads that have run it free what is theirs when they end.
static Error openForGood(const std::string &path, const Twine &what) {
  if (!dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL | RTLD_NODELETE))
    return makeError(what + " cannot be loaded: " + dlerror());
  return Error::success();
}

Error loadLibrary(StringRef name) {
  std::string file = "kiln_" + name.str() + ".so", path = findLibraryFile("kiln/" + file);
  if (path.empty())
    return makeError("the model calls library '" + name + "', but there is no kiln/" + file + " in " + libraryFolder() +
                     ": this Kiln is built without the library");
  return openForGood(path, "library '" + name + "'");
}

Error loadFunctions(StringRef path) {
  // The loader looks for a name without a slash in the system's folders only.
  SmallString<256> absolute(path);
  sys::fs::make_absolute(absolute);
  // The loader would wait for a FIFO's writer.
  Expected<FileHead> head = readFileHead(absolute);
  if (!head)
    return makeError("'" + path + "' cannot be loaded: " + toString(head.takeError()));
  return openForGood(std::string(absolute), "'" + path + "'");
}

} // namespace kiln
