// What README.md says to type, and what it says comes out.
//
// A command is what begins with one of the programs below: in a fenced block a line of its own
// (after "$ " where the block has such lines; then what follows is its output), part of one
// (after &&, |, cron's times or YAML's "run:"), and in running text an inline `span`. A comment at
// its end and redirections are left off, white space is one blank, and build/release/bin/hyfreedp
// is hyfreedp.
#pragma once

#include <algorithm>
#include <array>
#include <map>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

namespace hyfreedp::end_to_end {

struct ReadmeCommand {
  std::string text;                 // normalised
  std::vector<std::string> output;  // lines beneath it; empty where none is shown
};

inline std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

inline std::string trimmed(const std::string& text) {
  const auto begin = text.find_first_not_of(" \t");
  if (begin == std::string::npos) return "";
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

// Empty where the text holds no command.
inline std::string command_in(const std::string& text) {
  static const std::regex kCommandName(
      R"((^|[\s"'(])((build/release/bin/)?hyfreedp|experiments/run|tests/run|tests/lint|cmake|ninja|ctest|git|apt-get)(?=\s|$))");
  static const std::regex kEnd(R"(\s+#(\s.*)?$|\s\d?>+\s?\S+|\s\\$)");
  std::smatch found;
  if (!std::regex_search(text, found, kCommandName)) return "";
  auto command = text.substr(static_cast<std::size_t>(found.position(2)));
  command = std::regex_replace(command, kEnd, "");
  command = std::regex_replace(command, std::regex(R"(\s+)"), " ");
  command = replaced(command, "build/release/bin/hyfreedp", "hyfreedp");
  while (!command.empty() && std::string(" \"')").find(command.back()) != std::string::npos) {
    if (command.back() == '"' && std::count(command.begin(), command.end(), '"') % 2 == 0) break;
    if (command.back() == '\'' && std::count(command.begin(), command.end(), '\'') % 2 == 0) break;
    if (command.back() == ')' && command.find('(') != std::string::npos) break;
    command.pop_back();
  }
  return command;
}

// The commands of one line of a fenced block, joined by &&, ||, | and ;.
inline std::vector<std::string> commands_of_line(const std::string& line) {
  std::vector<std::string> commands;
  static const std::regex kJoint(R"(\s(&&|\|\||\||;)\s|;\s)");
  const auto code = std::regex_replace(line, std::regex(R"((^|\s)#(\s.*)?$)"), "");
  for (std::sregex_token_iterator part(code.begin(), code.end(), kJoint, -1), end; part != end; ++part) {
    if (auto command = command_in(part->str()); !command.empty()) commands.push_back(command);
  }
  return commands;
}

inline void read_block(const std::vector<std::string>& lines, std::vector<ReadmeCommand>& commands) {
  const auto is_prompt = [](const std::string& line) { return line.rfind("$ ", 0) == 0; };
  if (std::none_of(lines.begin(), lines.end(), is_prompt)) {
    for (const auto& line : lines) {
      for (const auto& command : commands_of_line(line)) commands.push_back({command, {}});
    }
    return;
  }
  bool shown = false;  // output of the last command
  for (const auto& line : lines) {
    if (is_prompt(line)) {
      for (const auto& command : commands_of_line(line.substr(2))) commands.push_back({command, {}});
      shown = true;
    } else if (trimmed(line).empty()) {
      shown = false;
    } else if (shown && !commands.empty()) {
      commands.back().output.push_back(line);
    }
  }
}

// A line that ends with a backslash goes on with the next.
inline std::vector<std::string> joined_lines(const std::vector<std::string>& lines) {
  std::vector<std::string> joined;
  bool goes_on = false;
  for (const auto& line : lines) {
    if (goes_on) {
      joined.back() += " " + trimmed(line);
    } else {
      joined.push_back(line);
    }
    goes_on = !joined.back().empty() && joined.back().back() == '\\';
    if (goes_on) joined.back().pop_back();
  }
  return joined;
}

inline std::vector<ReadmeCommand> commands_of(const std::string& readme) {
  std::vector<ReadmeCommand> commands;
  std::vector<std::string> block;
  std::string prose;
  bool in_block = false;
  std::istringstream lines(readme);
  for (std::string line; std::getline(lines, line);) {
    if (trimmed(line).rfind("```", 0) == 0) {
      if (in_block) read_block(joined_lines(block), commands);
      block.clear();
      in_block = !in_block;
    } else if (in_block) {
      block.push_back(line);
    } else {
      prose += line + "\n";
    }
  }
  static const std::regex kSpan("`([^`]+)`");
  for (std::sregex_iterator span(prose.begin(), prose.end(), kSpan), end; span != end; ++span) {
    auto text = std::regex_replace((*span)[1].str(), std::regex(R"(\s+)"), " ");
    const auto whole = replaced(text, "build/release/bin/hyfreedp", "hyfreedp");
    const auto found = commands_of_line(text);
    if (found.empty() || whole.rfind(found[0].substr(0, found[0].find(' ')), 0) != 0)
      continue;  // not at its beginning
    for (const auto& command : found) commands.push_back({command, {}});
  }
  return commands;
}

// Rows of the Markdown tables whose header begins so, without footnote markers.
inline std::vector<std::string> table_lines(const std::string& markdown, const std::string& header) {
  static const std::regex kMarker(R"( ?<sup>[^<]*</sup>)");
  std::vector<std::string> kept;
  bool inside = false;
  std::istringstream lines(markdown);
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind(header, 0) == 0) inside = true;
    if (line.rfind('|', 0) != 0) inside = false;
    if (inside) kept.push_back(std::regex_replace(line, kMarker, ""));
  }
  return kept;
}

}  // namespace hyfreedp::end_to_end
