#include "harness/cli/common/command_line.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <set>
#include <sstream>
#include <string_view>
#include <utility>

#include "harness/base/split.h"
#include "harness/base/text.h"
#include "harness/base/utf8.h"

namespace hyfreedp::cli {
namespace {

namespace po = boost::program_options;

constexpr int kStyle = po::command_line_style::unix_style & ~po::command_line_style::allow_guessing;
// What is given without an option, beyond the `taken` first ones that have a meaning.
std::string without_option(const std::vector<std::string>& arguments, const po::options_description& options,
                           std::size_t taken) {
  const auto parsed = po::command_line_parser(arguments).options(options).style(kStyle).run();
  for (const auto& option : parsed.options) {
    if (option.position_key < 0 || option.value.empty()) continue;
    if (taken == 0) return option.value.front();
    --taken;
  }
  return {};
}

std::vector<std::string> names_without_option(const CommandLine& line) {
  if (line.positional.empty()) return {};
  std::vector<std::string> names{line.positional};
  names.insert(names.end(), line.more_positional.begin(), line.more_positional.end());
  return names;
}

// Ends where the reader is told what to see.
std::string what_is_wrong(const po::error& failure, const CommandLine& line,
                          const std::vector<std::string>& arguments) {
  const auto& options = line.options;
  if (const auto* unknown = dynamic_cast<const po::unknown_option*>(&failure)) {
    std::vector<std::string> names;
    for (const auto& option : options.options()) names.push_back("--" + option->long_name());
    const auto near = nearest_name(unknown->get_option_name(), names);
    return "there is no option " + unknown->get_option_name() +
           (near.empty() ? "; see " : "; did you mean " + near + "? See ");
  }
  if (dynamic_cast<const po::too_many_positional_options_error*>(&failure) != nullptr) {
    return "the argument '" + without_option(arguments, options, names_without_option(line).size()) +
           "' belongs to no option; see ";
  }
  return std::string(failure.what()) + "; see ";
}

// Some messages are sentences of their own elsewhere; here they stand behind the command's name. A
// name or a path that begins with a capital keeps it.
std::string begun_small(std::string sentence) {
  static const std::set<std::string> kPlainWords = {"A",       "An",         "Delta", "Epsilon", "No",
                                                    "Private", "Subsampled", "The",   "There",   "Unknown"};
  if (kPlainWords.contains(sentence.substr(0, sentence.find(' ')))) {
    sentence.front() = static_cast<char>(std::tolower(static_cast<unsigned char>(sentence.front())));
  }
  return sentence;
}

constexpr std::size_t kHelpColumns = 100;

std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U; }));
}

// The last space that is not beyond the columns; npos where there is none.
std::size_t last_break(const std::string& line, std::size_t indent) {
  std::size_t found = std::string::npos;
  for (std::size_t at = indent; (at = line.find(' ', at)) != std::string::npos; ++at) {
    if (width_of(std::string_view(line).substr(0, at)) > kHelpColumns) break;
    found = at;
  }
  return found;
}

// Lines that are too long are broken. Within a paragraph the rest begins the next line; a line that
// is set apart, such as a command, goes on indented.
std::string within_columns(const std::string& usage) {
  std::istringstream lines(usage);
  std::string out, rest;
  for (std::string line; std::getline(lines, line);) {
    const bool begins = line.empty() || line.front() == ' ' || line.starts_with("hyfreedp ") ||
                        line.starts_with("Example") || line.starts_with("Exit code");
    if (begins && !rest.empty()) out += std::exchange(rest, {}) + '\n';
    if (!rest.empty()) line.insert(0, std::exchange(rest, {}) + ' ');
    const bool is_apart = begins && !line.starts_with("Exit code");
    const auto indent = is_apart ? line.find_first_not_of(' ') + 4 : 0;
    bool is_broken = false;
    while (width_of(line) > kHelpColumns) {
      const auto at = last_break(line, is_broken ? indent : 0);
      if (at == std::string::npos) break;
      out += line.substr(0, at) + '\n';
      line = std::string(indent, ' ') + line.substr(at + 1);
      is_broken = true;
    }
    if (is_broken && !is_apart) {
      rest = line;
    } else {
      out += line + '\n';
    }
  }
  return rest.empty() ? out : out + rest + '\n';
}

void describe(const CommandLine& line, std::ostream& out) {
  for (const auto& word : line.words) out << "word " << word << '\n';
  const bool takes_names = !line.positional.empty() || !line.list.empty();
  if (takes_names && line.words.empty()) out << "file\n";
  for (const auto& option : line.options.options()) {
    const auto name = option->canonical_display_name(po::command_line_style::allow_long);
    const auto value = option->semantic();
    if (value->max_tokens() == 0) {
      out << "flag " << name << '\n';
    } else {
      const auto shown = value->name();  // "DIR", or "DIR (=out)" where there is a default
      out << "value " << name << ' ' << shown.substr(0, shown.find(" (=")) << '\n';
    }
  }
}

// The folder's name is told in files and on pages, which are UTF-8, and files are made in it.
Result<void> check_folder(const std::string& option, const std::string& folder) {
  constexpr std::size_t kLongestPart = 255, kLongestPath = 3500;  // of 4095, with what lies in it
  if (const auto bad = first_byte_not_utf8(folder)) {
    return error(
        fmt::format("--{}: the folder's name is not UTF-8 (its byte {} is 0x{:02X}), and it is told in files "
                    "that are; give "
                    "another.",
                    option, *bad + 1, static_cast<unsigned char>(folder[*bad])));
  }
  std::size_t longest = 0;
  for (const auto& part : split(folder, '/')) longest = std::max(longest, part.size());
  if (longest <= kLongestPart && folder.size() <= kLongestPath) return {};
  return error(longest > kLongestPart ? fmt::format("--{}: a folder's name has {} bytes, and it may have {}.",
                                                    option, longest, kLongestPart)
                                      : fmt::format("--{}: the path has {} bytes, and it may have {}.",
                                                    option, folder.size(), kLongestPath));
}

Result<void> check_folders(const po::options_description& options, const po::variables_map& given) {
  for (const auto& option : options.options()) {
    const auto& name = option->long_name();
    if (given.count(name) == 0 || !option->semantic()->name().starts_with("DIR")) continue;
    const auto* folder = boost::any_cast<std::string>(&given[name].value());
    if (folder == nullptr) continue;
    if (auto checked = check_folder(name, *folder); !checked) return checked;
  }
  return {};
}

}  // namespace

std::optional<int> read_command_line(const CommandLine& line, const std::vector<std::string>& arguments,
                                     po::variables_map& given, std::ostream& out, std::ostream& err) {
  if (arguments == std::vector<std::string>{kDescribe}) return describe(line, out), 0;
  po::options_description all;
  all.add(line.options);
  po::positional_options_description positional;
  for (const auto& name : names_without_option(line)) {
    all.add_options()(name.c_str(), po::value<std::string>());
    positional.add(name.c_str(), 1);
  }
  if (!line.list.empty()) {
    all.add_options()(line.list.c_str(), po::value<std::vector<std::string>>());
    positional.add(line.list.c_str(), -1);
  }
  try {
    po::store(po::command_line_parser(arguments).options(all).positional(positional).style(kStyle).run(),
              given);
    if (given.count("help") > 0) {
      out << within_columns(line.usage) << line.options;
      return 0;
    }
    po::notify(given);
  } catch (const po::error& failure) {
    return refused(line.command,
                   error(what_is_wrong(failure, line, arguments) + "hyfreedp " + line.command + " --help."),
                   err);
  }
  if (auto checked = check_folders(line.options, given); !checked) {
    return refused(line.command, checked.error(), err);
  }
  return std::nullopt;
}

int run_part(const std::string& command, const std::string& usage, const std::vector<Part>& parts,
             const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err) {
  const std::string asked = arguments.empty() ? "" : arguments.front();
  if (asked == "--help" || asked == "-h") return out << within_columns(usage), 0;
  if (asked == kDescribe) {
    for (const auto& part : parts) out << "word " << part.name << '\n';
    out << "flag --help\n";
    return 0;
  }
  const auto found = std::ranges::find(parts, asked, &Part::name);
  if (found != parts.end()) return found->run({arguments.begin() + 1, arguments.end()}, out, err);
  std::vector<std::string> names;
  names.reserve(parts.size());
  for (const auto& part : parts) names.push_back(part.name);
  const auto meant = did_you_mean(asked, names);
  const auto last = names.back();
  names.pop_back();
  return refused(command,
                 error(fmt::format("say what: {} or {}{}.{} Try hyfreedp {} --help.", join(names, ", "), last,
                                   asked.empty() ? "" : fmt::format(", not '{}'", asked), meant, command)),
                 err);
}

int refused(const std::string& command, const Error& failure, std::ostream& err) {
  return refused_lines(command, error(as_one_line(failure.message)), err);
}

int refused_lines(const std::string& command, const Error& failure, std::ostream& err) {
  const auto line = begun_small(failure.message);
  const bool ended = !line.empty() && std::string_view(".?!").find(line.back()) != std::string_view::npos;
  err << "hyfreedp " << command << ": " << line << (ended ? "\n" : ".\n");
  return 2;
}

std::optional<double> parsed_number(std::string_view text) {
  double value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

Result<double> number_given(const po::variables_map& given, const std::string& name) {
  const auto& text = given[name].as<std::string>();
  const auto value = parsed_number(text);
  if (!value) return error(fmt::format("--{} is '{}'; it must be a number.", name, text));
  return *value;
}

Result<std::int64_t> count_given(const po::variables_map& given, const std::string& name,
                                 std::int64_t largest) {
  const auto& text = given[name].as<std::string>();
  const auto value = parsed_number(text);
  if (!value || *value != std::floor(*value) || *value < 1 || *value > static_cast<double>(largest)) {
    return error(fmt::format("--{} is '{}'; it must be a whole number from 1 to {}.", name, text, largest));
  }
  return static_cast<std::int64_t>(*value);
}

}  // namespace hyfreedp::cli
