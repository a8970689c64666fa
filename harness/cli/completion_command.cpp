#include <fmt/format.h>

#include "harness/base/split.h"
#include "harness/base/text.h"
#include "harness/cli/commands.h"
#include "harness/cli/common/command.h"

namespace hyfreedp::cli {
namespace {

constexpr std::string_view kText = R"(
hyfreedp completion bash|zsh
Prints a script that completes commands, options, their values and files. It is made of the options
that this program has.
Example: source <(hyfreedp completion bash)                 in ~/.bashrc, with hyfreedp in PATH
         source <(hyfreedp completion zsh)                  in ~/.zshrc, after compinit)";

// A command, or a part of one.
struct Described {
  std::string place;  // "run", "data fetch"
  std::vector<std::string> words, flags;
  std::vector<std::pair<std::string, std::string>> values;  // option, what --help calls its value
  bool takes_files = false;
};

Described described(const Command& command) {
  Described found{.place = command.name};
  Options options;
  if (command.parts.empty()) command.action.describe(options);
  found.words = options.words();
  found.takes_files = options.takes_files();
  for (const auto& part : command.parts) found.words.push_back(part.name.substr(command.name.size() + 1));
  const auto declared = options.declared();
  for (const auto& option : declared.options()) {
    const auto name = "--" + option->long_name();
    const auto value = option->semantic();
    const auto shown = value->name();  // "DIR", or "DIR (=out)" where there is a default
    if (value->max_tokens() == 0) {
      found.flags.push_back(name);
    } else {
      found.values.emplace_back(name, shown.substr(0, shown.find(" (=")));
    }
  }
  return found;
}

std::vector<Described> all_described() {
  std::vector<Described> all;
  for (const auto& command : commands()) {
    all.push_back(described(command));
    for (const auto& part : command.parts) all.push_back(described(part));
  }
  return all;
}

// Returns the line of the script that completes an option's value; empty if any text may be one.
std::string values_line(const std::string& value) {
  if (value.find('|') != std::string::npos) {
    return fmt::format("_hyfreedp_words '{}'", join(split(value, '|'), " "));
  }
  if (value == "DIR") return "_hyfreedp_files -d";
  const bool is_file = value == "FILE" || value == "PATH" || value.ends_with(".yaml");
  return is_file ? "_hyfreedp_files -f" : "";
}

void print_place(const Described& one, std::ostream& out) {
  std::vector<std::string> options = one.flags;
  for (const auto& [name, value] : one.values) options.push_back(name);
  out << fmt::format("    '{}')\n", one.place);
  if (!one.values.empty()) {
    out << "      case $previous in\n";
    for (const auto& [name, value] : one.values) {
      const auto line = values_line(value);
      out << fmt::format("        {}) {}return ;;\n", name, line.empty() ? "" : line + "; ");
    }
    out << "      esac\n";
  }
  out << fmt::format("      options='{}'", join(options, " "));
  if (!one.words.empty()) out << fmt::format(" words='{}'", join(one.words, " "));
  if (one.takes_files) out << " files=yes";
  out << "\n      ;;\n";
}

void print_script(std::ostream& out) {
  const auto all = all_described();
  std::vector<std::string> names, with_parts;
  for (const auto& command : commands()) names.push_back(command.name);
  for (const auto& one : all) {
    const auto parts = split(one.place, ' ');
    if (parts.size() > 1) with_parts.push_back(fmt::format("'{}'", one.place));
  }
  out << fmt::format(
      R"(_hyfreedp_words() {{
  COMPREPLY=($(compgen -W "$1" -- "$current"))
}}
_hyfreedp_files() {{
  COMPREPLY=($(compgen "$1" -- "$current"))
  compopt -o filenames 2>/dev/null
}}
_hyfreedp() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD-1]}} place=${{COMP_WORDS[1]}}
  local options='' words='' files=''
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then
    _hyfreedp_words '{0} help --help --version'
    return
  fi
  local first=yes
  if ((COMP_CWORD > 2)); then
    first=''
    case "$place ${{COMP_WORDS[2]}}" in
      {1}) place="$place ${{COMP_WORDS[2]}}" ;;
    esac
  fi
  case $place in
    help) _hyfreedp_words '{0}'; return ;;
)",
      join(names, " "), join(with_parts, " | "));
  for (const auto& one : all) print_place(one, out);
  out << R"(  esac
  if [[ $current == -* ]]; then
    _hyfreedp_words "$options"
  elif [[ -n $words && -n $first ]]; then
    _hyfreedp_words "$words"
  elif [[ -n $files ]]; then
    _hyfreedp_files -f
  fi
}
complete -F _hyfreedp hyfreedp
)";
}

struct CompletionRequest {
  std::string shell;

  void describe(Options& options) { options.positional(shell, "shell", "bash|zsh", {"bash", "zsh"}); }
};

Outcome completion(const CompletionRequest& request, std::ostream& out, std::ostream&) {
  if (request.shell == "bash") {
    out << "# Completion of hyfreedp in bash: source <(hyfreedp completion bash)\n";
  } else if (request.shell == "zsh") {
    out << "# Completion of hyfreedp in zsh: source <(hyfreedp completion zsh)\n"
           "autoload -U +X bashcompinit && bashcompinit\n";
  } else {
    return unusable("say which shell: bash or zsh");
  }
  print_script(out);
  return 0;
}

}  // namespace

Command completion_command() {
  return {"completion", kText, action<CompletionRequest>(completion),
          "prints what completes commands and options in bash or zsh", "source <(hyfreedp completion bash)"};
}

}  // namespace hyfreedp::cli
