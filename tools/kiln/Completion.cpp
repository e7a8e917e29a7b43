//===- Completion.cpp - kiln completion: scripts for shells ----------------===//
//
// Made from the registered options, so that no script goes stale.
//
//===----------------------------------------------------------------------===//
#include "tools/kiln/Commands.h"
#include "tools/kiln/Reporting.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace kiln {

static cl::opt<std::string> shell(cl::Positional, cl::Required, cl::desc("bash|zsh"), cl::sub(completionCommand));

static std::vector<std::string> getFlags(cl::SubCommand &command) {
  std::vector<std::string> flags;
  for (auto &entry : cl::getRegisteredOptions(command)) {
    cl::Option &option = *entry.second;
    if (option.getOptionHiddenFlag() == cl::NotHidden)
      flags.push_back((entry.first.size() == 1 ? "-" : "--") + entry.first.str());
  }
  llvm::sort(flags);
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

int runCompletion() {
  if (shell == "bash")
    printBash(outs());
  else if (shell == "zsh")
    printZsh(outs());
  else {
    printError("no completion for the shell '" + shell + "': expected bash or zsh");
    return WrongUsage;
  }
  return Done;
}

} // namespace kiln
