// The flags that `epsilon` and `calibrate` share, with their range checks. Each error names the
// flag, its value and what is allowed.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "harness/accounting/accountant.h"
#include "harness/cli/common/command_line.h"

namespace hyfreedp::cli {

using Given = boost::program_options::variables_map;

// Declares --NAME with a text argument, which the functions below read.
void add_text(boost::program_options::options_description_easy_init& add, const char* name,
              const char* value_name, const char* help);

// --sample-rate, --probe-sample-rate: in (0, 1].
Result<double> rate_given(const Given& given, const std::string& name);
// How batches are drawn: --sample-rate q and --steps T, or --records N, --batch-size B and
// --epochs E, which mean q = B / N and T = E N / B steps, rounded up.
struct Sampling {
  double rate = 0;
  std::int64_t steps = 0;
  std::int64_t records = 0;  // 0 with --sample-rate
};
void add_sampling(boost::program_options::options_description_easy_init& add);
// Errors name the flag that is missing, or one of each way; `others` ends the sentence about a
// missing one.
Result<Sampling> sampling_given(const Given& given, const std::string& others = {});
// --delta, one or several with commas; without it N^-1.1 if --records is given. An error with
// `missing` if there is neither.
Result<std::vector<double>> deltas_given(const Given& given, const Sampling& sampling,
                                         const std::string& missing);
// One line: what --records, --batch-size and --epochs come to.
std::string sampling_line(const Sampling& sampling);

// A finite number above 0; one or several with commas.
Result<double> positive_given(const Given& given, const std::string& name);
Result<std::vector<double>> positives_given(const Given& given, const std::string& name);
// --delta: in (0, 1).
Result<double> delta_given(const Given& given);
// The value of --neighbouring; default: add-remove.
Result<accounting::Neighbouring> neighbouring_given(const Given& given);
// The values of --orders, each in (1, 1e6]; default: default_orders().
Result<std::vector<double>> orders_given(const Given& given);

// An error if --NAME is given together with one of `others`.
Result<void> excluded(const Given& given, const char* name, std::initializer_list<const char*> others);
// An error that names the nearest match if `value` of --NAME is not in `allowed`.
Result<void> one_of(const char* name, const std::string& value, const std::vector<std::string>& allowed);

}  // namespace hyfreedp::cli
