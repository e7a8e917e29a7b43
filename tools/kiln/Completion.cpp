//===- Completion.cpp - kiln completion: scripts for shells ----------------===//
//
// Made from the registered options, so that no script goes stale.
//
//===----------------------------------------------------------------------===//
#include "compiler/run/Tensor.h"
#include "tools/kiln/Commands.h"
#include "tools/kiln/OptionTexts.h"
#include "tools/kiln/Reporting.h"
#include "compiler/files/Suggestion.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace kiln {

static cl::opt<std::string> shell(cl::Positional, cl::Required, cl::desc("bash|fish|zsh"), cl::sub(completionCommand));

static std::vector<std::string> getFlags(cl::SubCommand &command) {
  std::vector<std::string> flags;
  for (const OptionText &option : describeOptions(command))
    flags.push_back(option.flag);
  return flags;
}

static std::string getCommandNames() {
  return join(map_range(getCommands(), [](const Command &command) { return command.subcommand->getName().str(); }), " ");
}

static void printBash(raw_ostream &os) {
  os << "# bash completion for kiln\n_kiln() {\n  local current=\"${COMP_WORDS[COMP_CWORD]}\" command=compile flags\n"
     << "  case \"${COMP_WORDS[1]}\" in " << join(split(getCommandNames(), ' '), "|") << ") command=\"${COMP_WORDS[1]}\" ;; esac\n  case \"$command\" in\n";
  for (const Command &command : getCommands())
    os << "    " << command.subcommand->getName() << ") flags=\"" << join(getFlags(*command.subcommand), " ") << "\" ;;\n";
  os << "  esac\n  if [[ \"$current\" == -* ]]; then\n    COMPREPLY=($(compgen -W \"$flags\" -- \"$current\"))\n  else\n"
     << "    COMPREPLY=($(compgen -f -- \"$current\"))\n    [[ $COMP_CWORD -eq 1 ]] && COMPREPLY+=($(compgen -W \"" << getCommandNames()
     << "\" -- \"$current\"))\n  fi\n}\ncomplete -o filenames -F _kiln kiln\n";
}

static void printZsh(raw_ostream &os) {
  os << "#compdef kiln\n_kiln() {\n  local command=compile\n  local -a flags\n"
     << "  case \"${words[2]}\" in " << join(split(getCommandNames(), ' '), "|") << ") command=\"${words[2]}\" ;; esac\n  case \"$command\" in\n";
  for (const Command &command : getCommands())
    os << "    " << command.subcommand->getName() << ") flags=(" << join(getFlags(*command.subcommand), " ") << ") ;;\n";
  os << "  esac\n  (( CURRENT == 2 )) && compadd -- " << getCommandNames() << "\n  compadd -- $flags\n  _files\n}\ncompdef _kiln kiln\n";
}

/// The first clause of a help text, which fits beside an option.
static std::string shorten(StringRef help) {
  std::string text = help.take_front(help.find_first_of(":;(")).split(", ").first.rtrim().str();
  std::replace(text.begin(), text.end(), '\'', '`');
  return text;
}

static void printFish(raw_ostream &os) {
  os << "# fish completion for kiln\nset -l commands " << getCommandNames() << "\n";
  for (const Command &command : getCommands())
    os << "complete -c kiln -n \"not __fish_seen_subcommand_from $commands\" -a " << command.subcommand->getName() << " -d '"
       << shorten(command.subcommand->getDescription()) << "'\n";
  for (const Command &command : getCommands()) {
    StringRef name = command.subcommand->getName();
    // Without a subcommand, options are those of compile.
    std::string when = name == "compile" ? "__fish_seen_subcommand_from compile; or not __fish_seen_subcommand_from $commands"
                                         : "__fish_seen_subcommand_from " + name.str();
    for (const OptionText &option : describeOptions(*command.subcommand)) {
      StringRef flag = StringRef(option.flag).ltrim('-');
      os << "complete -c kiln -n \"" << when << "\" " << (flag.size() == 1 ? "-s " : "-l ") << flag << (option.value.empty() ? "" : " -r") << " -d '"
         << shorten(option.help) << "'\n";
    }
  }
}

int runCompletion() {
  constexpr StringRef shells[] = {"bash", "fish", "zsh"};
  if (shell == "bash")
    printBash(outs());
  else if (shell == "fish")
    printFish(outs());
  else if (shell == "zsh")
    printZsh(outs());
  else
    return report(makeError("no completion for the shell '" + shell + "': expected bash, fish or zsh" + suggest(shell, ArrayRef<StringRef>(shells))),
                  WrongUsage);
  return Done;
}

} // namespace kiln
