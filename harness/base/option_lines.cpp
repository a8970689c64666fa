#include "harness/base/option_lines.h"

#include <utility>

namespace hyfreedp {

OptionSpec choice_option(std::string name, std::vector<std::string> choices, std::string help) {
  return {.name = std::move(name),
          .type = OptionType::choice,
          .default_value = json::value(choices.front()),
          .help = std::move(help),
          .choices = choices};
}

OptionSpec plain_option(std::string name, std::string help) {
  return {.name = std::move(name), .help = std::move(help)};
}

OptionSpec ranged_option(std::string name, double min, double max, std::string help, std::string unit) {
  auto option = plain_option(std::move(name), std::move(help));
  option.unit = std::move(unit);
  option.min = min;
  option.max = max;
  return option;
}

OptionSpec later_option(OptionSpec one) {
  one.stored_always = false;
  return one;
}

OptionSpec only_with(std::string other, std::string choice, OptionSpec one) {
  one.read_with = {.option = std::move(other), .rule = ReadWith::Rule::is, .choice = std::move(choice)};
  return one;
}

OptionSpec only_without(std::string other, std::string choice, OptionSpec one) {
  one.read_with = {.option = std::move(other), .rule = ReadWith::Rule::is_not, .choice = std::move(choice)};
  return one;
}

OptionSpec only_above(std::string other, double bound, OptionSpec one) {
  one.read_with = {.option = std::move(other), .rule = ReadWith::Rule::above, .bound = bound};
  return one;
}

std::vector<OptionSpec> joined(const std::vector<std::vector<OptionSpec>>& tables) {
  std::vector<OptionSpec> all;
  for (const auto& table : tables) all.insert(all.end(), table.begin(), table.end());
  return all;
}

}  // namespace hyfreedp
