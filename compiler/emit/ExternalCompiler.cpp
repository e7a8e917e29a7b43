//===- ExternalCompiler.cpp - C++ text to an object, by an installed compiler //
#include "compiler/emit/ExternalCompiler.h"
#include "compiler/emit/CompilerFlags.h"
#include "compiler/emit/EmbeddedFiles.h"
#include "compiler/emit/Temporary.h"
#include "compiler/files/Hash.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Program.h"

using namespace llvm;

namespace kiln {

static Error writeFile(const Twine &path, function_ref<void(raw_ostream &)> write) {
  std::error_code error;
  std::string name = path.str();
  raw_fd_ostream out(name, error);
  if (!error) {
    write(out);
    out.close();
    error = out.error();
    out.clear_error();
  }
  return error ? createFileError(name, error) : Error::success();
}

static Error writeFile(const Twine &path, StringRef text) {
  return writeFile(path, [&](raw_ostream &out) { out << text; });
}

static Expected<SmallVector<char, 0>> readFile(StringRef path) {
  auto file = MemoryBuffer::getFile(path);
  if (!file)
    return createFileError(path, file.getError());
  StringRef bytes = (*file)->getBuffer();
  return SmallVector<char, 0>(bytes.begin(), bytes.end());
}

static SmallString<128> inFolder(StringRef folder, const Twine &name) {
  SmallString<128> path = folder;
  sys::path::append(path, name);
  return path;
}

Expected<ExternalCompiler> ExternalCompiler::create(StringRef program, ArrayRef<SourceFile> headers) {
  ExternalCompiler compiler;
  ErrorOr<std::string> found = sys::findProgramByName(program);
  if (!found)
    return createStringError(found.getError(), "cannot find the compiler '" + program + "'");
  compiler.program = *found;
  Expected<std::string> folder = makeTemporaryFolder("for the compiler");
  if (!folder)
    return folder.takeError();
  compiler.folder = *folder;
  for (const SourceFile &header : headers)
    if (Error error = writeFile(inFolder(compiler.folder, header.name), header.text))
      return error;
  for (const EmbeddedFile &file : embeddedFiles())
    if (file.path.starts_with("kiln/")) {
      // Only here, so that a folder that a signal handler has removed is not made again.
      auto path = inFolder(compiler.folder, file.path);
      sys::fs::create_directories(sys::path::parent_path(path));
      if (Error error = writeFile(path, file.text))
        return error;
    }
  return compiler;
}

ExternalCompiler::ExternalCompiler(ExternalCompiler &&other) : program(std::move(other.program)), folder(std::exchange(other.folder, "")) {}

ExternalCompiler::~ExternalCompiler() {
  if (!folder.empty())
    removeTemporaryFolder(folder);
}

std::string describeFailure(StringRef program, int status, StringRef message) {
  return ("'" + program + "' failed" + (message.empty() ? " with status " + std::to_string(status) : (": " + message).str())).str();
}

Error ExternalCompiler::run(ArrayRef<std::string> arguments, StringRef log) const {
  SmallVector<StringRef> line = {program};
  line.append(arguments.begin(), arguments.end());
  std::optional<StringRef> streams[] = {StringRef(""), StringRef(""), log};
  std::string message;
  int status = sys::ExecuteAndWait(program, line, std::nullopt, streams, 0, 0, &message);
  if (status == 0)
    return Error::success();
  auto text = MemoryBuffer::getFile(log);
  StringRef said = text ? (*text)->getBuffer().rtrim() : "";
  return createStringError(inconvertibleErrorCode(), describeFailure(program, status, message) + (said.empty() ? "" : ":\n" + said));
}

/// All that the program prints when it is called so.
std::string ExternalCompiler::ask(ArrayRef<StringRef> arguments) const {
  auto path = inFolder(folder, "answer");
  std::optional<StringRef> streams[] = {StringRef(""), StringRef(path), StringRef(path)};
  SmallVector<StringRef> line = {program};
  append_range(line, arguments);
  sys::ExecuteAndWait(program, line, std::nullopt, streams);
  auto said = readFile(path);
  return said ? std::string(said->begin(), said->end()) : (consumeError(said.takeError()), "");
}

std::string ExternalCompiler::identify() const {
  SmallString<128> real, current;
  auto file = sys::fs::real_path(program, real) ? ErrorOr<std::unique_ptr<MemoryBuffer>>(std::errc::no_such_file_or_directory) : MemoryBuffer::getFile(real);
  // A script does what its variables and other files say.
  if (!file || (*file)->getBuffer().starts_with("#!") || sys::fs::current_path(current))
    return "";
  // The steps that a driver says have the options of its configuration files and of the environment. Clang names the current folder in them.
  std::string steps = ask({"-###", "-S", "-x", "c++", "/dev/null", "-o", "/dev/null"});
  SmallVector<StringRef> parts;
  StringRef(steps).split(parts, current);
  std::string text = program + "\n" + std::string(real) + "\n" + hashText((*file)->getBuffer()) + "\n" + ask({"--version"}) + join(parts, ".");
  for (const char *variable : {"CPATH", "CPLUS_INCLUDE_PATH"})
    text += std::string("\n") + variable + "=" + sys::Process::GetEnv(variable).value_or("");
  return text;
}

Expected<SmallVector<char, 0>> ExternalCompiler::compile(const SourceFile &unit, kernel::TargetAttr target) const {
  auto source = inFolder(folder, unit.name), object = inFolder(folder, unit.name + ".o"), log = inFolder(folder, unit.name + ".log");
  if (Error error = writeFile(source, unit.text))
    return std::move(error);
  std::vector<std::string> arguments = commonFlags();
  for (const std::string &flag : targetFlags(target))
    arguments.push_back(flag);
  for (StringRef flag : {"-Wno-psabi", "-w", "-I", folder.c_str(), "-c", source.c_str(), "-o", object.c_str()})
    arguments.push_back(flag.str());
  if (Error error = run(arguments, log))
    return std::move(error);
  return readFile(object);
}

Expected<std::unique_ptr<MemoryBuffer>> linkObjects(StringRef program, ArrayRef<ArchiveMember> objects, ArrayRef<std::string> options) {
  auto linker = ExternalCompiler::create(program, {});
  if (!linker)
    return linker.takeError();
  auto path = inFolder(linker->folder, "linked"), log = inFolder(linker->folder, "log");
  std::vector<std::string> arguments = {"-o", path.str().str()};
  for (const ArchiveMember &object : objects) {
    arguments.push_back(inFolder(linker->folder, object.name).str().str());
    if (Error error = writeFile(arguments.back(), object.write))
      return std::move(error);
  }
  arguments.insert(arguments.end(), options.begin(), options.end());
  if (Error error = linker->run(arguments, log))
    return std::move(error);
  // The mapping remains valid after the file is removed.
  auto library = MemoryBuffer::getFile(path, false, false);
  if (!library)
    return createFileError(path, library.getError());
  return std::move(*library);
}

Expected<std::unique_ptr<MemoryBuffer>> linkSharedLibrary(StringRef program, ArrayRef<ArchiveMember> objects, ArrayRef<std::string> links) {
  std::vector<std::string> options = {"-shared"};
  append_range(options, links);
  return linkObjects(program, objects, options);
}

} // namespace kiln
