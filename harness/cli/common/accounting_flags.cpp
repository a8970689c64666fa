#include "harness/cli/common/accounting_flags.h"

#include <cmath>
#include <fmt/format.h>
#include <sstream>

#include "harness/base/text.h"

namespace hyfreedp::cli {
namespace {

namespace po = boost::program_options;

constexpr double kLargestOrder = 1e6;

// The value, in the words of the command line, with what it must be.
Error out_of_range(const Given& given, const std::string& name, const char* must) {
  return error(fmt::format("--{} is {}; {}.", name, given[name].as<std::string>(), must));
}

}  // namespace

void add_text(po::options_description_easy_init& add, const char* name, const char* value_name,
              const char* help) {
  add(name, po::value<std::string>()->value_name(value_name), help);
}

Result<double> rate_given(const Given& given, const std::string& name) {
  const auto rate = number_given(given, name);
  if (rate && !(*rate > 0 && *rate <= 1)) {
    return out_of_range(given, name, "a sampling rate must lie in (0, 1]");
  }
  return rate;
}

Result<double> positive_given(const Given& given, const std::string& name) {
  const auto value = number_given(given, name);
  if (value && !(*value > 0 && std::isfinite(*value))) {
    return out_of_range(given, name, "it must be a positive, finite number");
  }
  return value;
}

Result<double> delta_given(const Given& given) {
  const auto delta = number_given(given, "delta");
  if (delta && !(*delta > 0 && *delta < 1)) return out_of_range(given, "delta", "it must lie in (0, 1)");
  return delta;
}

Result<accounting::Neighbouring> neighbouring_given(const Given& given) {
  if (given.count("neighbouring") == 0) return accounting::Neighbouring::add_remove;
  const auto& name = given["neighbouring"].as<std::string>();
  if (auto ok = one_of("neighbouring", name, {"add-remove", "replace-one"}); !ok) return ok.error();
  return name == "add-remove" ? accounting::Neighbouring::add_remove : accounting::Neighbouring::replace_one;
}

Result<std::vector<double>> orders_given(const Given& given) {
  if (given.count("orders") == 0) return accounting::default_orders();
  std::vector<double> orders;
  std::istringstream list(given["orders"].as<std::string>());
  for (std::string item; std::getline(list, item, ',');) {
    const auto order = parsed_number(item);
    if (!order || !(*order > 1 && *order <= kLargestOrder)) {
      return error(fmt::format(
          "--orders holds '{}'; an order is a number above 1 and at most 1e6, in a list such as 1.5,2,4,8.",
          item));
    }
    orders.push_back(*order);
  }
  if (orders.empty()) return error("--orders is empty; give a list such as 1.5,2,4,8.");
  return orders;
}

Result<void> excluded(const Given& given, const char* name, std::initializer_list<const char*> others) {
  if (given.count(name) == 0) return {};
  for (const char* other : others) {
    if (given.count(other) > 0) {
      return error(fmt::format("--{} cannot be given together with --{}.", other, name));
    }
  }
  return {};
}

Result<void> one_of(const char* name, const std::string& value, const std::vector<std::string>& allowed) {
  for (const auto& one : allowed) {
    if (value == one) return {};
  }
  return error(fmt::format("--{} is '{}'; valid values are {}.{}", name, value, join(allowed, ", "),
                           did_you_mean(value, allowed)));
}

}  // namespace hyfreedp::cli
