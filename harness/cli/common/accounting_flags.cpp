#include "harness/cli/common/accounting_flags.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <sstream>

#include "harness/accounting/default_delta.h"
#include "harness/accounting/mechanism.h"
#include "harness/base/text.h"
#include "plots/figures.h"

namespace hyfreedp::cli {
namespace {

constexpr double kLargestOrder = 1e6;
constexpr std::int64_t kMostRecords = 1'000'000'000'000;

// The value, in the words of the command line, with what it must be.
Error out_of_range(const Given& given, const char* must) {
  return error(fmt::format("--{} is {}; {}.", given.name, *given.text, must));
}

// The numbers of a list with commas, each as `read` takes it alone.
Result<std::vector<double>> each_of(const Given& given, Result<double> (*read)(const Given&)) {
  std::vector<double> values;
  std::istringstream list(*given.text);
  for (std::string item; std::getline(list, item, ',');) {
    auto value = read({given.name, item});
    if (!value) return value.error();
    values.push_back(*value);
  }
  if (!values.empty()) return values;
  return error(fmt::format("--{} is empty; give a number, or a list with commas.", given.name));
}

}  // namespace

Result<double> rate_of(const Given& given) {
  auto rate = number_of(given);
  if (rate && !(*rate > 0 && *rate <= 1)) return out_of_range(given, "a sampling rate must lie in (0, 1]");
  return rate;
}

Result<double> positive_of(const Given& given) {
  auto value = number_of(given);
  if (value && !kPositive.holds(*value)) return out_of_range(given, "it must be a positive, finite number");
  return value;
}

Result<double> delta_of(const Given& given) {
  auto delta = number_of(given);
  if (delta && !(*delta > 0 && *delta < 1)) return out_of_range(given, "it must lie in (0, 1)");
  return delta;
}

Result<std::vector<double>> positives_of(const Given& given) { return each_of(given, positive_of); }

std::string Sampling::text() const {
  return fmt::format("sampled  q = {:.6g}, T = {} steps ({} records; without --delta, delta is N^-1.1)\n",
                     rate, steps, records);
}

void AccountingRequest::describe_sampling(Options& options) {
  options.value(sample_rate, "sample-rate", "q", "Poisson sampling rate, (0, 1]");
  options.value(steps, "steps", "T", "number of steps");
  options.value(records, "records", "N",
                "in place of q and T: number of records, with --batch-size and --epochs");
  options.value(batch_size, "batch-size", "B", "with --records: expected records of a batch; q = B / N");
  options.value(epochs, "epochs", "E", "with --records: passes over the data; T = E N / B, rounded up");
}

Result<Sampling> AccountingRequest::sampling(const std::string& others) const {
  const bool is_counted = records || batch_size || epochs;
  using Wanted = std::vector<const Given*>;
  for (const auto* one : is_counted ? Wanted{&records, &batch_size, &epochs} : Wanted{&sample_rate, &steps}) {
    if (*one) continue;
    return error(is_counted
                     ? fmt::format("--{} is missing; give --records, --batch-size and --epochs.", one->name)
                     : fmt::format("--{} is missing{}.", one->name, others));
  }
  if (!is_counted) {
    const auto rate = rate_of(sample_rate);
    if (!rate) return rate.error();
    const auto count = count_of(steps, accounting::kMaxMechanisms);
    if (!count) return count.error();
    return Sampling{*rate, *count};
  }
  if (auto ok = excluded(records, {&sample_rate, &steps}); !ok) return ok.error();
  const auto population = count_of(records, kMostRecords);
  if (!population) return population.error();
  const auto size = positive_of(batch_size);
  if (!size) return size.error();
  const auto passes = positive_of(epochs);
  if (!passes) return passes.error();
  const auto most = static_cast<double>(*population);
  if (*size > most) {
    return error(fmt::format("--batch-size is {}; it must be at most --records, {}.", *size, *population));
  }
  // A whole number of steps stays one.
  const double count = std::max(1.0, std::ceil(*passes * most / *size * (1 - 1e-12)));
  if (count > static_cast<double>(accounting::kMaxMechanisms)) {
    return error(fmt::format("--epochs is {}: {:.3g} steps are more than the accountants price, {}.", *passes,
                             count, accounting::kMaxMechanisms));
  }
  return Sampling{*size / most, static_cast<std::int64_t>(count), *population};
}

Result<std::vector<double>> AccountingRequest::deltas(const Sampling& sampling,
                                                      const std::string& missing) const {
  if (delta) return each_of(delta, delta_of);
  if (sampling.records < 2) return error(missing);
  return std::vector<double>{accounting::default_delta(sampling.records)};
}

Result<accounting::Neighbouring> AccountingRequest::neighbours() const {
  if (!neighbouring) return accounting::Neighbouring::add_remove;
  if (auto ok = one_of(neighbouring, {"add-remove", "replace-one"}); !ok) return ok.error();
  return *neighbouring.text == "add-remove" ? accounting::Neighbouring::add_remove
                                            : accounting::Neighbouring::replace_one;
}

Result<std::vector<double>> AccountingRequest::renyi_orders() const {
  if (!orders) return accounting::default_orders();
  std::vector<double> values;
  std::istringstream list(*orders.text);
  for (std::string item; std::getline(list, item, ',');) {
    const auto order = parsed_number(item);
    if (!order || !(*order > 1 && *order <= kLargestOrder)) {
      return error(fmt::format(
          "--orders holds '{}'; an order is a number above 1 and at most 1e6, in a list such as 1.5,2,4,8.",
          item));
    }
    values.push_back(*order);
  }
  if (values.empty()) return error("--orders is empty; give a list such as 1.5,2,4,8.");
  return values;
}

Result<void> AccountingRequest::check_plot() const {
  if (!plot) return {};
  if (auto can = plots::drawable(*plot.text); !can) return in_context("--plot", can.error());
  return {};
}

Result<void> excluded(const Given& option, std::initializer_list<const Given*> others) {
  if (!option) return {};
  for (const auto* other : others) {
    if (*other)
      return error(fmt::format("--{} cannot be given together with --{}.", other->name, option.name));
  }
  return {};
}

Result<void> one_of(const Given& option, const std::vector<std::string>& allowed) {
  if (std::ranges::find(allowed, *option.text) != allowed.end()) return {};
  return error(fmt::format("--{} is '{}'; valid values are {}.{}", option.name, *option.text,
                           join(allowed, ", "), did_you_mean(*option.text, allowed)));
}

}  // namespace hyfreedp::cli
