// The options that `epsilon`, `calibrate` and `audit` share, with their range checks. Each error
// names the option, its value and what is allowed.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "harness/accounting/accountant.h"
#include "harness/cli/common/command.h"

namespace hyfreedp::cli {

// --sample-rate, --probe-sample-rate: in (0, 1].
Result<double> rate_of(const Given& given);
// A finite number above 0; one or several with commas.
Result<double> positive_of(const Given& given);
Result<std::vector<double>> positives_of(const Given& given);
// --delta: in (0, 1).
Result<double> delta_of(const Given& given);

// The way in which batches are drawn.
struct Sampling {
  double rate = 0;
  std::int64_t steps = 0;
  std::int64_t records = 0;  // 0 with --sample-rate

  // One line: what --records, --batch-size and --epochs come to.
  std::string text() const;
};

// --sample-rate q and --steps T, or --records N, --batch-size B and --epochs E, which mean q =
// B / N and T = E N / B steps, rounded up; and what accountants are asked.
struct AccountingRequest {
  Given sample_rate, steps, records, batch_size, epochs;
  Given delta, neighbouring, accountant, orders;
  bool json = false;
  Given plot;

  void describe_sampling(Options& options);
  // Errors name the option that is missing, or one of each way; `others` ends the sentence about a
  // missing one.
  Result<Sampling> sampling(const std::string& others = {}) const;
  // --delta, one or several with commas; without it N^-1.1 if --records is given. An error with
  // `missing` if there is neither.
  Result<std::vector<double>> deltas(const Sampling& sampling, const std::string& missing) const;
  // Default: add-remove.
  Result<accounting::Neighbouring> neighbours() const;
  // Each in (1, 1e6]; default: default_orders().
  Result<std::vector<double>> renyi_orders() const;
  // Checks that the file of --plot, if it is given, is of a kind that can be drawn.
  Result<void> check_plot() const;
};

// An error if the option is given together with one of `others`.
Result<void> excluded(const Given& option, std::initializer_list<const Given*> others);
// An error that names the nearest match if the value is not in `allowed`.
Result<void> one_of(const Given& option, const std::vector<std::string>& allowed);

}  // namespace hyfreedp::cli
