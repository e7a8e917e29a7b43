//===- Program.cpp - A model as a program of its own, run by a command ------===//
#include "compiler/run/Program.h"
#include "compiler/emit/TargetLinker.h"
#include "compiler/emit/Temporary.h"
#include "compiler/files/InputFile.h"
#include "compiler/run/Tensor.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TargetParser/Host.h"
#include <cstring>

using namespace llvm;

namespace kiln {

int64_t AnswerReader::takeNumber() {
  StringRef bytes = takeBytes(sizeof(int64_t));
  int64_t number = 0;
  if (!broken)
    std::memcpy(&number, bytes.data(), sizeof(number));
  return number;
}

StringRef AnswerReader::takeBytes(uint64_t size) {
  broken |= size > rest.size();
  StringRef bytes = broken ? StringRef() : rest.take_front(size);
  rest = rest.drop_front(bytes.size());
  return bytes;
}

std::optional<StringRef> AnswerReader::takeText() {
  int64_t length = takeNumber();
  if (length < 0)
    return std::nullopt;
  return takeBytes(uint64_t(length));
}

static std::string inFolder(StringRef folder, const Twine &name) {
  SmallString<128> path(folder);
  sys::path::append(path, name);
  return std::string(path);
}

static Error writeFile(StringRef path, StringRef bytes) {
  std::error_code error;
  raw_fd_ostream out(path, error);
  if (!error) {
    out << bytes;
    out.close();
    error = out.error();
    out.clear_error();
  }
  return error ? createFileError(path, error) : Error::success();
}

static std::string readText(StringRef path) {
  Expected<std::unique_ptr<MemoryBuffer>> file = readInputFile(path, mostTextBytes);
  if (file)
    return (*file)->getBuffer().trim().str();
  consumeError(file.takeError());
  return "";
}

Expected<std::unique_ptr<Program>> Program::link(std::vector<std::unique_ptr<MemoryBuffer>> objects, const Triple &triple, std::vector<std::string> command) {
  Expected<std::string> linker = findTargetLinker(triple, "running a model for " + triple.getArchName().str());
  Expected<SystemLibrary> system = linker ? makeSystemLibrary(triple) : linker.takeError();
  if (!system)
    return system.takeError();
  if (!system->name.empty())
    objects.push_back(MemoryBuffer::getMemBufferCopy(system->bytes, system->name));
  std::unique_ptr<Program> program(new Program);
  Expected<std::string> folder = makeTemporaryFolder("for the program of the model");
  if (!folder)
    return folder.takeError();
  program->folder = *folder;
  program->path = inFolder(*folder, triple.isOSWindows() ? "model.exe" : "model");
  program->command = std::move(command);
  std::vector<std::string> words = {*linker, "-o", program->path}, inputs;
  append_range(words, programOptions(triple));
  for (auto [i, object] : enumerate(objects)) {
    inputs.push_back(inFolder(*folder, Twine(i) + ".o"));
    if (Error error = writeFile(inputs.back(), object->getBuffer()))
      return std::move(error);
    object.reset();
  }
  append_range(words, inputs);
  SmallVector<StringRef> line(words.begin(), words.end());
  std::string log = inFolder(*folder, "log");
  std::optional<StringRef> streams[] = {StringRef(""), StringRef(""), StringRef(log)};
  if (sys::ExecuteAndWait(*linker, line, std::nullopt, streams) != 0) {
    std::string said = readText(log);
    size_t fault = StringRef(said).find("error: ");
    return makeError("the model does not link for " + triple.getArchName() + ": " +
                     StringRef(said).drop_front(fault == StringRef::npos ? 0 : fault).split('\n').first);
  }
  for (const std::string &input : inputs)
    sys::fs::remove(input);
  return std::move(program);
}

Program::~Program() {
  if (!folder.empty())
    removeTemporaryFolder(folder);
}

Expected<std::unique_ptr<MemoryBuffer>> Program::ask(const RequestWriter &request) const {
  std::string in = inFolder(folder, "request"), out = inFolder(folder, "answer"), log = inFolder(folder, "log");
  if (Error error = writeFile(in, request.text()))
    return std::move(error);
  ErrorOr<std::string> found = sys::findProgramByName(command.front());
  if (!found)
    return makeError("cannot find '" + command.front() + "', which is to run the model");
  SmallVector<StringRef> line(command.begin(), command.end());
  line.push_back(path);
  std::optional<StringRef> streams[] = {StringRef(in), StringRef(out), StringRef(log)};
  std::string message;
  int status = sys::ExecuteAndWait(*found, line, std::nullopt, streams, 0, 0, &message);
  std::string said = StringRef(readText(log)).rsplit('\n').second.str();
  if (status != 0)
    return makeError("'" + join(command, " ") + "' failed" + (message.empty() ? " with status " + std::to_string(status) : ": " + message) +
                     (said.empty() ? "" : ": " + said));
  return readInputFile(out, mostDataBytes);
}

Expected<std::vector<std::string>> findEmulator(const Triple &triple, unsigned vectorBits) {
  std::string name = "qemu-" + triple.getArchName().str(), package = "qemu-user", cpu;
  Triple host(sys::getProcessTriple());
  bool isForWine = triple.isOSWindows() && triple.getArch() == host.getArch();
  if (isForWine)
    name = package = "wine";
  if (triple.isOSLinux() && triple.isAArch64())
    cpu = "max,sve-default-vector-length=" + std::to_string(std::max(vectorBits, 128u) / 8);
  if (triple.isOSLinux() && triple.getArch() == Triple::riscv64)
    cpu = "rv64" + (vectorBits < 128 ? "" : ",v=true,vext_spec=v1.0,vlen=" + std::to_string(vectorBits));
  std::string system = triple.isOSLinux() ? "" : triple.isOSWindows() ? " under Windows" : triple.isOSDarwin() ? " under macOS" : "";
  auto fail = [&](const Twine &help) {
    return makeError("the model is compiled for " + triple.getArchName() + system + ", which this machine (" + host.getArchName() + ") cannot run" + help);
  };
  // The program around the model calls the system itself.
  if (triple.isOSDarwin())
    return fail("");
  if (cpu.empty() && !isForWine)
    return fail(": give --runner=COMMAND, which runs a program of it");
  std::vector<std::string> options;
  if (!cpu.empty())
    options = {"-cpu", cpu};
  for (const std::string &program : {name, name + "-static"})
    if (ErrorOr<std::string> found = sys::findProgramByName(program)) {
      options.insert(options.begin(), *found);
      return options;
    }
  return fail(": install " + package + ", which has " + name + ", or give --runner=COMMAND");
}

} // namespace kiln
