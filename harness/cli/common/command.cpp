#include "harness/cli/common/command.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <set>

#include "harness/base/split.h"
#include "harness/base/text.h"
#include "harness/base/utf8.h"

namespace hyfreedp::cli {
namespace {

namespace po = boost::program_options;

constexpr int kStyle = po::command_line_style::unix_style & ~po::command_line_style::allow_guessing;

// Returns the first value without an option beyond the `taken` first ones, which have a meaning;
// empty if there is none.
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

// "hyfreedp data fetch": "fetch".
std::string word_of(const Command& part) { return part.name.substr(part.name.rfind(' ') + 1); }

std::string help_head(const Command& command, const std::string& usage) {
  const auto text = command.text.starts_with('\n') ? command.text.substr(1) : command.text;
  if (text.starts_with("hyfreedp ")) return fmt::format("{}\n\n", text);
  return fmt::format("hyfreedp {}{} [options]\n{}\n\n", command.name, usage, text);
}

Outcome run_part(const Command& command, const Arguments& arguments, std::ostream& out, std::ostream& err) {
  const std::string asked = arguments.empty() ? "" : arguments.front();
  if (asked == "--help" || asked == "-h") return out << help_head(command, ""), 0;
  const auto found = std::ranges::find(command.parts, asked, word_of);
  if (found != command.parts.end()) return run(*found, {arguments.begin() + 1, arguments.end()}, out, err);
  std::vector<std::string> names;
  for (const auto& part : command.parts) names.push_back(word_of(part));
  const auto meant = did_you_mean(asked, names);
  const auto last = names.back();
  names.pop_back();
  return error(fmt::format("say what: {} or {}{}.{} Try hyfreedp {} --help.", join(names, ", "), last,
                           asked.empty() ? "" : fmt::format(", not '{}'", asked), meant, command.name));
}

}  // namespace

const Allowed kPositive = {[](double value) { return value > 0 && std::isfinite(value); },
                           "be positive and finite"};
const Allowed kAtLeastZero = {[](double value) { return value >= 0 && std::isfinite(value); },
                              "be finite and at least 0"};
const Allowed kBetweenZeroAndOne = {[](double value) { return value > 0 && value < 1; }, "lie in (0, 1)"};

Refusal unusable(const std::string& message) {
  Refusal refusal(error(message));
  refusal.see_help = true;
  return refusal;
}

Refusal in_lines(const Error& failure) {
  Refusal refusal(failure);
  refusal.in_lines = true;
  return refusal;
}

Options::Options() { declared_.add_options()("help,h", "this text"); }

po::options_description Options::declared() const {
  auto all = declared_;
  if (group_) all.add(*group_);
  return all;
}

void Options::flag(bool& member, const char* name, const std::string& help) {
  add_options()(name, po::bool_switch(&member), help.c_str());
}

void Options::list(std::vector<std::string>& member, const char* name, const std::string& shown) {
  hidden_.add_options()(name, po::value(&member));
  list_ = name;
  shown_arguments_ += " " + shown;
}

// Ends where the reader is told what to see.
Error Options::what_is_wrong(const po::error& failure, const std::string& command,
                             const Arguments& arguments) const {
  const auto help = "hyfreedp " + command + " --help.";
  if (const auto* unknown = dynamic_cast<const po::unknown_option*>(&failure)) {
    std::vector<std::string> names;
    const auto all = declared();
    for (const auto& option : all.options()) names.push_back("--" + option->long_name());
    const auto near = nearest_name(unknown->get_option_name(), names);
    return error("there is no option " + unknown->get_option_name() +
                 (near.empty() ? "; see " : "; did you mean " + near + "? See ") + help);
  }
  if (dynamic_cast<const po::too_many_positional_options_error*>(&failure) != nullptr) {
    return error("the argument '" + without_option(arguments, declared(), positional_.size()) +
                 "' belongs to no option; see " + help);
  }
  return error(std::string(failure.what()) + "; see " + help);
}

Result<void> Options::read_numbers(const po::variables_map& given) const {
  for (const auto& [name, allowed, keep] : numbers_) {
    if (given.count(name) == 0) continue;
    const auto value = number_of({name, given[name].as<std::string>()});
    if (!value) return value.error();
    if (!allowed.holds(*value)) return error(fmt::format("--{} must {}.", name, allowed.must));
    keep(*value);
  }
  return {};
}

Result<bool> Options::read(const std::string& command, const Arguments& arguments) {
  po::options_description all;
  all.add(declared()).add(hidden_);
  po::positional_options_description places;
  for (const auto& name : positional_) places.add(name.c_str(), 1);
  if (!list_.empty()) places.add(list_.c_str(), -1);
  po::variables_map given;
  try {
    po::store(po::command_line_parser(arguments).options(all).positional(places).style(kStyle).run(), given);
    if (given.count("help") > 0) return true;
    po::notify(given);
  } catch (const po::error& failure) {
    return what_is_wrong(failure, command, arguments);
  }
  if (auto checked = check_folders(declared(), given); !checked) return checked.error();
  if (auto read = read_numbers(given); !read) return read.error();
  return false;
}

Result<bool> read(const Command& command, Options& options, const Arguments& arguments, std::ostream& out) {
  const auto wants_help = options.read(command.name, arguments);
  if (wants_help && *wants_help) out << help_head(command, options.usage()) << options.declared();
  return wants_help;
}

int run(const Command& command, const Arguments& arguments, std::ostream& out, std::ostream& err) {
  const auto outcome = command.parts.empty() ? command.action.run(command, arguments, out, err)
                                             : run_part(command, arguments, out, err);
  if (outcome) return *outcome;
  print_refusal(command.name, outcome.error(), err);
  return outcome.error().code;
}

void print_refusal(const std::string& command, const Refusal& refusal, std::ostream& err) {
  auto message = refusal.message;
  if (refusal.see_help) message += "; see hyfreedp " + command + " --help.";
  const auto line = begun_small(refusal.in_lines ? message : as_one_line(message));
  const bool ended = !line.empty() && std::string_view(".?!").find(line.back()) != std::string_view::npos;
  err << "hyfreedp " << command << ": " << line << (ended ? "\n" : ".\n");
}

std::optional<double> parsed_number(std::string_view text) {
  double value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

Result<double> number_of(const Given& given) {
  const auto value = parsed_number(*given.text);
  if (!value) return error(fmt::format("--{} is '{}'; it must be a number.", given.name, *given.text));
  return *value;
}

Result<std::int64_t> count_of(const Given& given, std::int64_t largest) {
  const auto value = parsed_number(*given.text);
  if (!value || *value != std::floor(*value) || *value < 1 || *value > static_cast<double>(largest)) {
    return error(fmt::format("--{} is '{}'; it must be a whole number from 1 to {}.", given.name, *given.text,
                             largest));
  }
  return static_cast<std::int64_t>(*value);
}

}  // namespace hyfreedp::cli
