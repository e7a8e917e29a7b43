//===- Dispatch.cpp - From a command line to a subcommand ------------------===//
#include "compiler/Recursion.h"
#include "compiler/files/Printable.h"
#include "compiler/run/Tensor.h"
#include "compiler/target/native/HiddenFeatures.h"
#include "tools/kiln/Commands.h"
#include "tools/kiln/HelpText.h"
#include "tools/kiln/Reporting.h"
#include "compiler/files/Suggestion.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/PrettyStackTrace.h"
#include "llvm/Support/raw_ostream.h"

#include <cstring>

using namespace llvm;

namespace kiln {

static constexpr Command commands[] = {
    {&compileCommand, runCompile,
     "  kiln model.onnx -o out                      out/model.h and out/libmodel.a\n"
     "  kiln model.onnx -o out --dim batch=1        with a static batch\n"
     "  kiln a.onnx b.onnx --name ab -o out         several models in one library: out/ab.h and out/libab.a\n"
     "  kiln model.onnx -o out --emit=cpp           C++ sources with their own CMakeLists.txt\n"
     "  kiln model.onnx -o out --target=generic     for any CPU\n"
     "  kiln --target=list                          the targets, and what they have\n"
     "  kiln model.onnx --stop-after=graph          print the IR after the graph passes\n"
     "  kiln model.onnx -o out --why                print each kernel, why it was chosen, and why not others\n"},
    {&runCommand, runRun,
     "  kiln run model.onnx --input x=x.npy --output-dir out              writes out/NAME.npy for each output\n"
     "  kiln run model.onnx --input x=cat.png --image-scale 1/255 --output-dir out\n"
     "  kiln run model.onnx --input x=random:7 --input n=3 --output-dir out --threads 4\n"},
    {&verifyCommand, runVerify,
     "  kiln verify model.onnx --data test_data_set_0    against recorded outputs (ONNX backend layout)\n"
     "  kiln verify model.onnx                           fused native kernels against decomposed generic ones\n"},
    {&benchCommand, runBench,
     "  kiln bench model.onnx --dim batch=1 --threads 4\n"
     "  kiln bench model.onnx --input ids=randint:0:30000 --min-time 3 --json\n"},
    {&tuneCommand, runTune,
     "  kiln tune model.onnx --dim batch=1 -o model.profile\n"
     "  kiln model.onnx --dim batch=1 --profile model.profile -o out\n"},
    {&quantizeCommand, runQuantize,
     "  kiln quantize model.onnx --data samples -o model.int8.onnx              8-bit weights and activations\n"
     "  kiln quantize model.onnx --data samples -o model.int8.onnx --max-error 0.02 --report report.json\n"
     "  kiln quantize model.onnx --weights int4 --block 32 --data samples -o model.int4.onnx\n"},
    {&inspectCommand, runInspect,
     "  kiln inspect model.onnx\n"
     "  kiln inspect out/libmodel.a --json\n"},
    {&reportCommand, runReport,
     "  kiln report model.onnx -o report.html\n"
     "  kiln report model.onnx -o report.html --bench --run-dim seq=128 --threads 4\n"
     "  kiln report model.onnx -o new.html --target=x86-64-v3,x86-64-v4 --compare old.html\n"
     "  kiln report new.html --compare old.html -o differences.html     two reports that are there already\n"},
    {&planCommand, runPlan,
     "  kiln plan model.onnx --ranks=1,2,4,8 --network=2us,4GB/s\n"
     "  kiln plan model.onnx --dim batch=1 --ranks=1,8,64 --network=20us,10Gbit/s -o plan.svg\n"
     "  kiln plan --measure -o machine.json                             this machine, with a rank for each core\n"
     "  kiln plan model.onnx --ranks=1,2,4,8 --machine machine.json --network=20us,10Gbit/s\n"},
    {&opsCommand, runOps,
     "  kiln ops acme.kiln                                              check the file and list its operators\n"
     "  kiln ops acme.kiln --eval gate --input x=x.npy --input w=w.npy -o y.npy\n"
     "  kiln ops acme.kiln --ir gate --shape x=2x3 --shape w=2x3\n"
     "  kiln ops acme.kiln --onnx acme.onnx                             functions for other engines\n"},
    {&kernelsCommand, runKernels,
     "  kiln kernels --list                                             what there is\n"
     "  kiln kernels gemm_f32,softmax -o out --name acme                out/acme.h and out/libacme.a\n"
     "  kiln kernels relu,relu_f16=relu:type=f16 -o out                 a kernel for another type, under another name\n"
     "  kiln kernels gemm_u8s8 -o out --target=x86-64-v2,x86-64-v3,x86-64-v4\n"
     "  kiln kernels gate --ops acme.kiln -o out                        an operator of your own\n"},
    {&newCommand, runNew,
     "  kiln new app model.onnx                     app/CMakeLists.txt, app/main.cpp and a test\n"
     "  kiln new app model.onnx --dim batch=1       for a static batch\n"
     "  kiln new app model.onnx --size seq=128      a program that runs it with 128 steps\n"},
    {&completionCommand, runCompletion,
     "  source <(kiln completion bash)\n"
     "  kiln completion fish > ~/.config/fish/completions/kiln.fish\n"
     "  kiln completion zsh > ~/.zfunc/_kiln\n"},
    {&manCommand, runMan,
     "  kiln man compile > kiln-compile.1\n"
     "  kiln man bench | man -l -\n"},
    {&helpCommand, runHelp, "  kiln help bench\n"},
    {&versionCommand, runVersion, ""},
};

static cl::opt<std::string> topic(cl::Positional, cl::desc("SUBCOMMAND"), cl::sub(helpCommand));

ArrayRef<Command> getCommands() { return commands; }

const Command *findCommand(StringRef name) {
  const Command *command = llvm::find_if(commands, [&](const Command &command) { return command.subcommand->getName() == name; });
  return command == std::end(commands) ? nullptr : command;
}

std::string suggestCommand(StringRef name) {
  std::vector<StringRef> names;
  for (const Command &command : commands)
    names.push_back(command.subcommand->getName());
  return suggest(name, names);
}

int printPage(StringRef topic, void (*printGeneral)(raw_ostream &), void (*printCommand)(raw_ostream &, const Command &)) {
  if (topic.empty()) {
    printGeneral(outs());
    return Done;
  }
  const Command *command = findCommand(topic);
  if (!command)
    return report(makeError("there is no subcommand '" + topic + "'" + suggestCommand(topic)), WrongUsage);
  printCommand(outs(), *command);
  return Done;
}

int runHelp() { return printPage(topic, printGeneralHelp, printHelp); }

/// Whether `--target=list` is among the arguments, for which no model has to be named.
static bool asksForTargets(ArrayRef<char *> arguments) {
  for (size_t i = 0; i < arguments.size(); ++i) {
    StringRef text = StringRef(arguments[i]).ltrim('-');
    if (text.size() == std::strlen(arguments[i]) || !text.consume_front("target"))
      continue;
    if (text == "=list" || (text.empty() && i + 1 < arguments.size() && StringRef(arguments[i + 1]) == "list"))
      return true;
  }
  return false;
}

static std::vector<std::string> givenArguments;

ArrayRef<std::string> getArguments() { return givenArguments; }

static bool isHelp(StringRef text) { return is_contained({"--help", "-help", "-h"}, text); }

/// Whether the first word is neither a subcommand nor a model: there is no such file, and it looks like no file's name.
static bool isMistyped(StringRef word) {
  bool isName = word.find_first_of("./=") == StringRef::npos && !word.starts_with("-");
  return isName && !findCommand(word) && !sys::fs::exists(word);
}

/// LLVM's libraries register options for LLVM's own tools, which every subcommand would take; some of them end the program.
static void removeForeignOptions() {
  std::vector<cl::Option *> foreign;
  for (auto &entry : cl::getRegisteredOptions(cl::SubCommand::getTopLevel()))
    if (!entry.second->Subs.contains(&cl::SubCommand::getAll()))
      foreign.push_back(entry.second);
  for (cl::Option *option : foreign)
    option->removeArgument();
}

/// Parses the options. Prints what is wrong with them.
static bool parseOptions(ArrayRef<const char *> arguments) {
  removeForeignOptions();
  std::string faults;
  raw_string_ostream os(faults);
  if (cl::ParseCommandLineOptions(int(arguments.size()), arguments.data(), "", &os, nullptr, nullptr, true))
    return true;
  // An argument may be the name of a file that came from elsewhere.
  for (StringRef rest = StringRef(faults).rtrim('\n'); !rest.empty();) {
    auto [line, next] = rest.split('\n');
    printLine(errs(), line);
    rest = next;
  }
  return false;
}

int dispatch(int argc, char **argv) {
  if (std::string unknown = findUnknownHiddenFeature(); !unknown.empty())
    return report(makeError("KILN_CPU_WITHOUT=" + getHiddenFeatures() + ": no feature of a CPU begins with '" + unknown +
                            "', expected names such as avx512 or amx, separated by commas"),
                  WrongUsage);
  ArrayRef<char *> own(argv + 1, static_cast<size_t>(std::max(argc - 1, 0)));
  if (asksForTargets(own))
    return listTargets(llvm::any_of(own, [](char *text) { return StringRef(text) == "--json"; }));
  if (own.empty() || isHelp(own.front())) {
    printGeneralHelp(outs());
    return own.empty() ? WrongUsage : Done;
  }
  // Without the name of a subcommand, the arguments are for `compile`.
  SmallVector<const char *> arguments(argv, argv + argc);
  if (StringRef first = own.front(); first == "--version" || first == "-version")
    arguments[1] = "version";
  else if (isMistyped(first))
    return report(makeError("there is no subcommand or model '" + first + "'" + suggestCommand(first) + "; kiln help lists them"), WrongUsage);
  else if (!findCommand(first))
    arguments.insert(arguments.begin() + 1, "compile");
  const Command *command = findCommand(arguments[1]);
  givenArguments.assign(arguments.begin() + 2, arguments.end());
  if (llvm::any_of(ArrayRef(arguments).drop_front(2), isHelp)) {
    printHelp(outs(), *command);
    return Done;
  }
  return parseOptions(arguments) ? command->run() : int(WrongUsage);
}

int runProgram(int argc, char **argv) {
  setBugReportMsg("");
  watchForCrashes(argc, argv);
  followTerminal();
  return runOnLargeStack([&] { return dispatch(argc, argv); });
}

} // namespace kiln
