//===- Program.cpp - A model as a program of its own, run by a command ------===//
#include "compiler/run/Program.h"
#include "compiler/emit/EmbeddedFiles.h"
#include "compiler/emit/ExternalCompiler.h"
#include "compiler/emit/TargetLinker.h"
#include "compiler/emit/Temporary.h"
#include "compiler/files/InputFile.h"
#include "compiler/run/LibraryFolder.h"
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

/// Stands in a command for the script that makes node a runner, which link() writes.
static constexpr StringLiteral nodeScript = "runner.mjs";

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

/// node runs JavaScript, so it is told of a program in that language.
static Error addScript(StringRef folder, std::vector<std::string> &command) {
  if (command.back() != nodeScript)
    return Error::success();
  command.back() = inFolder(folder, "runner.mjs");
  return writeFile(command.back(), embeddedFile("builtin/runner.mjs"));
}

/// What GCC's driver for the machine is called. Of 64-bit machines, only GCC's own code needs its library.
static std::string nameDriver(const Destination &machine) {
  if (machine.triple.isOSLinux() && (machine.triple.isAArch64() || machine.triple.isRISCV64()))
    return (machine.triple.isAArch64() ? "aarch64" : "riscv64") + std::string("-linux-gnu-gcc");
  if (machine.triple.isARM() || machine.triple.isThumb())
    return machine.hasNoSystem() ? "arm-none-eabi-gcc" : "arm-linux-gnueabihf-gcc";
  return machine.triple.getArch() == Triple::riscv32 ? "riscv64-unknown-elf-gcc" : "";
}

/// The library of the operations that the machine has no instructions for; empty where GCC's is not installed.
static std::string findArithmetic(const Destination &machine, StringRef folder) {
  ErrorOr<std::string> driver = sys::findProgramByName(nameDriver(machine));
  if (!driver)
    return "";
  std::vector<StringRef> line = {*driver};
  line.insert(line.end(), machine.flags.begin(), machine.flags.end());
  line.push_back("-print-libgcc-file-name");
  std::string out = inFolder(folder, "libgcc");
  std::optional<StringRef> streams[] = {StringRef(""), StringRef(out), StringRef("")};
  return sys::ExecuteAndWait(*driver, line, std::nullopt, streams) == 0 ? readText(out) : "";
}

/// The words behind the objects.
static Expected<std::vector<std::string>> addSurroundings(const Destination &machine, StringRef folder) {
  std::vector<std::string> words;
  if (const Board *board = findBoard(machine)) {
    std::string script = inFolder(folder, "board.ld");
    if (Error error = writeFile(script, printLinkerScript(*board)))
      return std::move(error);
    words.insert(words.end(), {"-T", script});
  }
  if (std::string library = findArithmetic(machine, folder); !library.empty())
    words.push_back(library);
  return words;
}

/// The first line of what the linker says, and what may help.
static Error explainLink(const Destination &machine, StringRef said) {
  std::string driver = nameDriver(machine), help;
  size_t fault = said.find("error: ");
  if (said.contains("undefined symbol: __") && !driver.empty() && !sys::findProgramByName(driver))
    help = "; install " + driver + ", whose library has such functions";
  said = said.drop_front(fault == StringRef::npos ? 0 : fault).split('\n').first;
  return makeError("the model does not link for " + machine.triple.getArchName() + ": " + said + help);
}

Expected<std::unique_ptr<Program>> Program::link(std::vector<std::unique_ptr<MemoryBuffer>> objects, const Destination &machine,
                                                 std::vector<std::string> command) {
  Expected<std::string> linker = findTargetLinker(machine.triple, "running a model for " + machine.triple.getArchName().str());
  Expected<SystemLibrary> system = linker ? makeSystemLibrary(machine.triple) : linker.takeError();
  if (!system)
    return system.takeError();
  if (!system->name.empty())
    objects.push_back(MemoryBuffer::getMemBufferCopy(system->bytes, system->name));
  std::unique_ptr<Program> program(new Program);
  Expected<std::string> folder = makeTemporaryFolder("for the program of the model");
  if (!folder)
    return folder.takeError();
  program->folder = *folder;
  program->path = inFolder(*folder, machine.triple.isOSWindows() ? "model.exe" : "model");
  program->command = std::move(command);
  if (Error error = addScript(*folder, program->command))
    return std::move(error);
  std::vector<std::string> words = {*linker, "-o", program->path}, files;
  append_range(words, programOptions(machine.triple));
  for (auto [i, object] : enumerate(objects)) {
    files.push_back(inFolder(*folder, Twine(i) + ".o"));
    if (Error error = writeFile(files.back(), object->getBuffer()))
      return std::move(error);
    object.reset();
  }
  Expected<std::vector<std::string>> surroundings = addSurroundings(machine, *folder);
  if (!surroundings)
    return surroundings.takeError();
  append_range(words, files);
  append_range(words, *surroundings);
  SmallVector<StringRef> line(words.begin(), words.end());
  std::string log = inFolder(*folder, "log");
  std::optional<StringRef> streams[] = {StringRef(""), StringRef(""), StringRef(log)};
  if (sys::ExecuteAndWait(*linker, line, std::nullopt, streams) != 0)
    return explainLink(machine, readText(log));
  for (const std::string &file : files)
    sys::fs::remove(file);
  return std::move(program);
}

Program::~Program() {
  if (!folder.empty())
    removeTemporaryFolder(folder);
}

/// A word of a command with the path of a file for its name in braces. QEMU wants commas in its lists doubled.
static std::string putPath(StringRef word, StringRef name, StringRef path) {
  auto [before, after] = word.split(name);
  if (before.size() == word.size())
    return word.str();
  std::string text;
  for (char c : path)
    text += std::string(c == ',' && word.contains(',') ? 2 : 1, c);
  return before.str() + text + after.str();
}

Expected<std::unique_ptr<MemoryBuffer>> Program::ask(const RequestWriter &request) const { return askBy(command, request); }

StringRef Program::getEmulator() const {
  StringRef name = sys::path::filename(command.front());
  return name.starts_with("qemu-") ? name : "";
}

Expected<std::optional<int64_t>> Program::countInstructions(const RequestWriter &request) const {
  std::string plugin = findLibraryFile("kiln/kiln_count.so"), number = inFolder(folder, "instructions");
  StringRef emulator = getEmulator();
  if (plugin.empty() || emulator.empty() || emulator.starts_with("qemu-system-"))
    return std::nullopt;
  std::vector<std::string> counting(command);
  counting.insert(counting.begin() + 1, {"-plugin", plugin + ",out=" + number});
  Expected<std::unique_ptr<MemoryBuffer>> answer = askBy(counting, request);
  if (!answer)
    return answer.takeError();
  int64_t instructions;
  if (StringRef(readText(number)).getAsInteger(10, instructions))
    return makeError("'" + command.front() + "' has counted no instructions");
  return instructions;
}

Expected<std::unique_ptr<MemoryBuffer>> Program::askBy(ArrayRef<std::string> command, const RequestWriter &request) const {
  std::string in = inFolder(folder, "request"), out = inFolder(folder, "answer"), log = inFolder(folder, "log");
  if (Error error = writeFile(in, request.text()))
    return std::move(error);
  ErrorOr<std::string> found = sys::findProgramByName(command.front());
  if (!found)
    return makeError("cannot find '" + command.front() + "', which is to run the model");
  std::vector<std::string> words;
  for (const std::string &word : command)
    words.push_back(putPath(putPath(word, "{request}", in), "{answer}", out));
  words.push_back(path);
  SmallVector<StringRef> line(words.begin(), words.end());
  bool isFile = any_of(command, [](StringRef word) { return word.contains("{answer}"); });
  std::optional<StringRef> streams[] = {StringRef(in), isFile ? StringRef() : StringRef(out), StringRef(log)};
  std::string message;
  int status = sys::ExecuteAndWait(*found, line, std::nullopt, streams, 0, 0, &message);
  std::string text = readText(log), said = text.substr(text.rfind('\n') + 1); // the last line, or the only one
  if (status != 0)
    return makeError(describeFailure(isFile ? command.front() : join(command, " "), status, message) + (said.empty() ? "" : ": " + said));
  return readInputFile(out, mostDataBytes);
}

/// The words in front of a program's path for QEMU, which emulates a Linux machine.
static std::vector<std::string> nameEmulation(const Destination &machine) {
  std::string name = "qemu-" + machine.triple.getArchName().str();
  switch (machine.triple.getArch()) {
  case Triple::aarch64:
    return {name, "-cpu", "max,sve-default-vector-length=" + std::to_string(std::max(machine.vectorBits, 128u) / 8)};
  case Triple::riscv64:
    return {name, "-cpu", "rv64" + (machine.vectorBits < 128 ? "" : ",v=true,vext_spec=v1.0,vlen=" + std::to_string(machine.vectorBits))};
  case Triple::riscv32:
    return {name, "-cpu", "rv32"};
  case Triple::arm:
    return {"qemu-arm", "-cpu", "max"};
  default:
    return {};
  }
}

/// The same for a board without a system. Every instruction takes a nanosecond of the emulated clock, so that times count instructions.
static std::vector<std::string> nameBoard(const Board &board) {
  return {"qemu-system-arm", "-M",      board.name.str(),      "-nographic", "-monitor", "none", "-serial", "none",
          "-icount",         "shift=0", "-semihosting-config", "enable=on,target=native,arg=model,arg={request},arg={answer}", "-kernel"};
}

Expected<std::vector<std::string>> findEmulator(const Destination &machine) {
  const Board *board = findBoard(machine);
  const Triple &triple = machine.triple, host(sys::getProcessTriple());
  std::string system = triple.isOSWindows() ? " under Windows" : triple.isOSDarwin() ? " under macOS" : "";
  auto fail = [&](const Twine &help) {
    return makeError("the model is compiled for " + triple.getArchName() + system + ", which this machine (" + host.getArchName() + ") cannot run" + help);
  };
  // The program around the model calls the system itself.
  if (triple.isOSDarwin())
    return fail("");
  if (triple.isOSWindows() && triple.getArch() == host.getArch()) {
    if (ErrorOr<std::string> wine = sys::findProgramByName("wine"))
      return std::vector<std::string>{*wine};
    return fail(": install wine, which has wine, or give --runner=COMMAND");
  }
  std::vector<std::string> words = board ? nameBoard(*board) : nameEmulation(machine);
  if (triple.isWasm()) {
    if (ErrorOr<std::string> node = sys::findProgramByName("node"))
      return std::vector<std::string>{*node, "--no-warnings", nodeScript.str()};
    return fail(": install node, or give --runner=COMMAND, which runs a program for WASI");
  }
  bool isRunByUser = triple.isOSLinux() || triple.getArch() == Triple::riscv32;
  if (words.empty() || (!board && !isRunByUser))
    return fail(": give --runner=COMMAND, which runs a program of it");
  for (const std::string &program : {words.front(), words.front() + "-static"})
    if (ErrorOr<std::string> found = sys::findProgramByName(program)) {
      words.front() = *found;
      return words;
    }
  return fail(": install " + std::string(board ? "qemu-system-arm" : "qemu-user, which has " + words.front()) + ", or give --runner=COMMAND");
}

} // namespace kiln
