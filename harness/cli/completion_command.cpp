#include <fmt/format.h>
#include <optional>
#include <sstream>

#include "harness/base/split.h"
#include "harness/base/text.h"
#include "harness/cli/commands.h"
#include "harness/cli/common/command_line.h"

namespace hyfreedp::cli {
namespace {

constexpr const char* kUsage =
    "hyfreedp completion bash|zsh\n"
    "Prints a script that completes commands, options, their values and files. It is made of the options "
    "that\n"
    "this program has.\n"
    "Example: source <(hyfreedp completion bash)                 in ~/.bashrc, with hyfreedp in PATH\n"
    "         source <(hyfreedp completion zsh)                  in ~/.zshrc, after compinit\n\n";

// What a command, or a part of one, says of itself (kDescribe).
struct Described {
  std::string place;  // "run", "data fetch"
  std::vector<std::string> words, flags;
  std::vector<std::pair<std::string, std::string>> values;  // option, what --help calls its value
  bool takes_files = false;
};

// Nothing where the arguments before are no part of the command.
std::optional<Described> described(const Command& command, std::vector<std::string> before) {
  Described found{.place = before.empty() ? command.name : command.name + " " + before.front()};
  before.emplace_back(kDescribe);
  std::ostringstream out, err;
  if (command.function(before, out, err) != 0) return std::nullopt;
  std::istringstream lines(out.str());
  for (std::string line; std::getline(lines, line);) {
    const auto parts = split(line, ' ');
    if (parts.front() == "file") found.takes_files = true;
    if (parts.front() == "word") found.words.push_back(parts.at(1));
    if (parts.front() == "flag") found.flags.push_back(parts.at(1));
    if (parts.front() == "value") found.values.emplace_back(parts.at(1), parts.at(2));
  }
  return found;
}

std::vector<Described> all_described() {
  std::vector<Described> all;
  for (const auto& command : commands()) {
    const auto whole = described(command, {});
    if (!whole) continue;
    all.push_back(*whole);
    for (const auto& word : whole->words) {
      if (auto part = described(command, {word})) all.push_back(std::move(*part));
    }
  }
  return all;
}

// What may stand for an option's value: a line of the script, or nothing where that is anybody's
// guess.
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

}  // namespace

int completion_command(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err) {
  CommandLine line{.command = "completion", .usage = kUsage, .positional = "shell", .words = {"bash", "zsh"}};
  line.options.add_options()("help,h", "this text");
  boost::program_options::variables_map given;
  if (const auto code = read_command_line(line, arguments, given, out, err)) return *code;
  const auto shell = given.count("shell") > 0 ? given["shell"].as<std::string>() : std::string();
  if (shell == "bash") {
    out << "# Completion of hyfreedp in bash: source <(hyfreedp completion bash)\n";
  } else if (shell == "zsh") {
    out << "# Completion of hyfreedp in zsh: source <(hyfreedp completion zsh)\n"
           "autoload -U +X bashcompinit && bashcompinit\n";
  } else {
    return refused("completion", error("say which shell: bash or zsh; see hyfreedp completion --help."), err);
  }
  print_script(out);
  return 0;
}

}  // namespace hyfreedp::cli
