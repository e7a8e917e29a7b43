//===- Dispatch.cpp - From a command line to a subcommand ------------------===//
#include "compiler/files/Printable.h"
#include "tools/kiln/Commands.h"
#include "tools/kiln/Reporting.h"
#include "llvm/Support/raw_ostream.h"

#include <cstring>

using namespace llvm;

namespace kiln {

static constexpr Command commands[] = {
    {&compileCommand, runCompile,
     "EXAMPLES:\n\n"
     "  kiln model.onnx -o out                      out/model.h and out/libmodel.a\n"
     "  kiln model.onnx -o out --dim batch=1        with a static batch\n"
     "  kiln a.onnx b.onnx --name ab -o out         several models in one library: out/ab.h and out/libab.a\n"
     "  kiln model.onnx -o out --emit=cpp           C++ sources with their own CMakeLists.txt\n"
     "  kiln model.onnx -o out --target=generic     for any CPU\n"
     "  kiln --target=list                          the targets, and what they have\n"
     "  kiln model.onnx --stop-after=graph          print the IR after the graph passes\n"
     "  kiln model.onnx -o out --why                print each kernel, why it was chosen, and why not others\n"},
    {&runCommand, runRun,
     "EXAMPLES:\n\n"
     "  kiln run model.onnx --input x=x.npy --output-dir out              writes out/NAME.npy for each output\n"
     "  kiln run model.onnx --input x=cat.png --image-scale 1/255 --output-dir out\n"
     "  kiln run model.onnx --input x=random:7 --input n=3 --output-dir out --threads 4\n"},
    {&verifyCommand, runVerify,
     "EXAMPLES:\n\n"
     "  kiln verify model.onnx --data test_data_set_0    against recorded outputs (ONNX backend layout)\n"
     "  kiln verify model.onnx                           fused native kernels against decomposed generic ones\n"},
    {&benchCommand, runBench,
     "EXAMPLES:\n\n"
     "  kiln bench model.onnx --dim batch=1 --threads 4\n"
     "  kiln bench model.onnx --input ids=randint:0:30000 --min-time 3 --json\n"},
    {&tuneCommand, runTune,
     "EXAMPLES:\n\n"
     "  kiln tune model.onnx --dim batch=1 -o model.profile\n"
     "  kiln model.onnx --dim batch=1 --profile model.profile -o out\n"},
    {&quantizeCommand, runQuantize,
     "EXAMPLES:\n\n"
     "  kiln quantize model.onnx --data samples -o model.int8.onnx              8-bit weights and activations\n"
     "  kiln quantize model.onnx --data samples -o model.int8.onnx --max-error 0.02 --report report.json\n"
     "  kiln quantize model.onnx --weights int4 --block 32 --data samples -o model.int4.onnx\n"},
    {&inspectCommand, runInspect,
     "EXAMPLES:\n\n"
     "  kiln inspect model.onnx\n"
     "  kiln inspect out/libmodel.a --json\n"},
    {&opsCommand, runOps,
     "EXAMPLES:\n\n"
     "  kiln ops acme.kiln                                              check the file and list its operators\n"
     "  kiln ops acme.kiln --eval gate --input x=x.npy --input w=w.npy -o y.npy\n"
     "  kiln ops acme.kiln --ir gate --shape x=2x3 --shape w=2x3\n"
     "  kiln ops acme.kiln --onnx acme.onnx                             functions for other engines\n"},
    {&kernelsCommand, runKernels,
     "EXAMPLES:\n\n"
     "  kiln kernels --list                                             what there is\n"
     "  kiln kernels gemm_f32,softmax -o out --name acme                out/acme.h and out/libacme.a\n"
     "  kiln kernels relu,relu_f16=relu:type=f16 -o out                 a kernel for another type, under another name\n"
     "  kiln kernels gemm_u8s8 -o out --target=x86-64-v2,x86-64-v3,x86-64-v4\n"
     "  kiln kernels gate --ops acme.kiln -o out                        an operator of your own\n"},
    {&completionCommand, runCompletion,
     "EXAMPLES:\n\n"
     "  source <(kiln completion bash)\n"
     "  kiln completion zsh > ~/.zfunc/_kiln\n"},
};

ArrayRef<Command> getCommands() { return commands; }

static const Command *findCommand(StringRef name) {
  const Command *command = llvm::find_if(commands, [&](const Command &command) { return command.subcommand->getName() == name; });
  return command == std::end(commands) ? nullptr : command;
}

static void printVersion(raw_ostream &os) { os << "kiln " KILN_VERSION " (LLVM " LLVM_VERSION_STRING ")\n"; }

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

int dispatch(int argc, char **argv) {
  ArrayRef<char *> own(argv + 1, static_cast<size_t>(std::max(argc - 1, 0)));
  if (asksForTargets(own))
    return listTargets(llvm::any_of(own, [](char *text) { return StringRef(text) == "--json"; }));
  // Without the name of a subcommand, the arguments are for `compile`; help and version are for the program.
  SmallVector<const char *> arguments(argv, argv + argc);
  StringRef first = argc > 1 ? argv[1] : "";
  bool general = first.empty() || first == "--help" || first == "-help" || first == "-h" || first == "--version" || first == "-version";
  if (!general && !findCommand(first))
    arguments.insert(arguments.begin() + 1, "compile");
  const Command *command = general ? nullptr : findCommand(arguments[1]);
  std::string ending = std::string("\n") + (command ? command->examples : "See kiln SUBCOMMAND --help for more; kiln MODEL.onnx means kiln compile "
      "MODEL.onnx.\n");
  cl::extrahelp text(ending); // refers to the string
  cl::SetVersionPrinter(printVersion);
  cl::OptionCategory none("none");
  if (general)
    cl::HideUnrelatedOptions(none);
  std::string faults;
  raw_string_ostream os(faults);
  if (!cl::ParseCommandLineOptions(int(arguments.size()), arguments.data(), "Kiln, an ahead-of-time compiler from ONNX to C++\n", &os, nullptr,
      nullptr, true)) {
    // An argument may be the name of a file that came from elsewhere.
    for (StringRef rest = StringRef(faults).rtrim('\n'); !rest.empty();) {
      auto [line, next] = rest.split('\n');
      printLine(errs(), line);
      rest = next;
    }
    return WrongUsage;
  }
  if (!command) {
    cl::PrintHelpMessage();
    return WrongUsage;
  }
  return command->run();
}

} // namespace kiln
