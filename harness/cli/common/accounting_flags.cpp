#include "harness/cli/common/accounting_flags.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <sstream>

#include "harness/accounting/mechanism.h"
#include "harness/base/text.h"

namespace hyfreedp::cli {
namespace {

namespace po = boost::program_options;

constexpr double kLargestOrder = 1e6;
constexpr std::int64_t kMostRecords = 1'000'000'000'000;

// The value, in the words of the command line, with what it must be.
Error out_of_range(const Given& given, const std::string& name, const char* must) {
  return error(fmt::format("--{} is {}; {}.", name, given[name].as<std::string>(), must));
}

// The numbers of --NAME, a list with commas, each as `read` takes it alone.
template <class Read>
Result<std::vector<double>> each_given(const Given& given, const std::string& name, const Read& read) {
  std::vector<double> values;
  std::istringstream list(given[name].as<std::string>());
  for (std::string item; std::getline(list, item, ',');) {
    auto one = given;
    one.at(name).value() = item;
    auto value = read(one, name);
    if (!value) return value.error();
    values.push_back(*value);
  }
  if (values.empty()) return error(fmt::format("--{} is empty; give a number, or a list with commas.", name));
  return values;
}

}  // namespace

void add_text(po::options_description_easy_init& add, const char* name, const char* value_name,
              const char* help) {
  add(name, po::value<std::string>()->value_name(value_name), help);
}

Result<double> rate_given(const Given& given, const std::string& name) {
  auto rate = number_given(given, name);
  if (rate && !(*rate > 0 && *rate <= 1)) {
    return out_of_range(given, name, "a sampling rate must lie in (0, 1]");
  }
  return rate;
}

Result<double> positive_given(const Given& given, const std::string& name) {
  auto value = number_given(given, name);
  if (value && !(*value > 0 && std::isfinite(*value))) {
    return out_of_range(given, name, "it must be a positive, finite number");
  }
  return value;
}

Result<double> delta_given(const Given& given) {
  auto delta = number_given(given, "delta");
  if (delta && !(*delta > 0 && *delta < 1)) return out_of_range(given, "delta", "it must lie in (0, 1)");
  return delta;
}

Result<std::vector<double>> positives_given(const Given& given, const std::string& name) {
  return each_given(given, name, positive_given);
}

void add_sampling(po::options_description_easy_init& add) {
  add_text(add, "sample-rate", "q", "Poisson sampling rate, (0, 1]");
  add_text(add, "steps", "T", "number of steps");
  add_text(add, "records", "N", "in place of q and T: number of records, with --batch-size and --epochs");
  add_text(add, "batch-size", "B", "with --records: expected records of a batch; q = B / N");
  add_text(add, "epochs", "E", "with --records: passes over the data; T = E N / B, rounded up");
}

Result<Sampling> sampling_given(const Given& given, const std::string& others) {
  const bool counted =
      given.count("records") > 0 || given.count("batch-size") > 0 || given.count("epochs") > 0;
  using Names = std::vector<const char*>;
  for (const char* name :
       counted ? Names{"records", "batch-size", "epochs"} : Names{"sample-rate", "steps"}) {
    if (given.count(name) > 0) continue;
    return error(counted ? fmt::format("--{} is missing; give --records, --batch-size and --epochs.", name)
                         : fmt::format("--{} is missing{}.", name, others));
  }
  Sampling sampling;
  if (!counted) {
    const auto rate = rate_given(given, "sample-rate");
    if (!rate) return rate.error();
    const auto steps = count_given(given, "steps", accounting::kMaxMechanisms);
    if (!steps) return steps.error();
    return Sampling{*rate, *steps};
  }
  if (auto ok = excluded(given, "records", {"sample-rate", "steps"}); !ok) return ok.error();
  const auto records = count_given(given, "records", kMostRecords);
  if (!records) return records.error();
  const auto size = positive_given(given, "batch-size");
  if (!size) return size.error();
  const auto epochs = positive_given(given, "epochs");
  if (!epochs) return epochs.error();
  const auto population = static_cast<double>(*records);
  if (*size > population) {
    return error(fmt::format("--batch-size is {}; it must be at most --records, {}.", *size, *records));
  }
  // A whole number of steps stays one.
  const double steps = std::max(1.0, std::ceil(*epochs * population / *size * (1 - 1e-12)));
  if (steps > static_cast<double>(accounting::kMaxMechanisms)) {
    return error(fmt::format("--epochs is {}: {:.3g} steps are more than the accountants price, {}.", *epochs,
                             steps, accounting::kMaxMechanisms));
  }
  return Sampling{*size / population, static_cast<std::int64_t>(steps), *records};
}

Result<std::vector<double>> deltas_given(const Given& given, const Sampling& sampling,
                                         const std::string& missing) {
  if (given.count("delta") > 0) {
    return each_given(given, "delta", [](const Given& one, const std::string&) { return delta_given(one); });
  }
  if (sampling.records < 2) return error(missing);
  return std::vector<double>{std::pow(static_cast<double>(sampling.records), -1.1)};
}

std::string sampling_line(const Sampling& sampling) {
  return fmt::format("sampled  q = {:.6g}, T = {} steps ({} records; without --delta, delta is N^-1.1)\n",
                     sampling.rate, sampling.steps, sampling.records);
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
