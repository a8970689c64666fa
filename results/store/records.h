// Stored records as JSON: for exports, for comparison, and for the structured columns of the
// database. Those that are described here are written by as_json() and read by from_json().
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/spec/spec.h"
#include "results/store/store.h"

namespace hyfreedp::accounting {
BOOST_DESCRIBE_STRUCT(ReportedEpsilon, (),
                      (epsilon, epsilon_lower, delta, pld, rdp, rdp_order, accountant, note,
                       noise_accountant))
}  // namespace hyfreedp::accounting

namespace hyfreedp::results {

BOOST_DESCRIBE_ENUM(StudyState, open, concluded, failed)
BOOST_DESCRIBE_STRUCT(StudyRecord, (),
                      (id, spec, panel, row, method, epsilon_target, delta, seed, state, reported_trial,
                       composition, label, flags, footnotes, claimed_epsilon, total, training, failure_kind,
                       failure_message, trials, seconds, code))

// Reads the spec's content. Errors name the spec.
Result<spec::Spec> spec_of(const SpecRecord& record);

json::object to_json(const TrialRecord& trial);
json::array to_json(const std::vector<trial::ChargedAttempt>& attempts);

Result<accounting::ReportedEpsilon> reported_epsilon_from(const json::value& value, const std::string& where);
Result<std::vector<trial::ChargedAttempt>> charged_from(const json::value& value, const std::string& where);

}  // namespace hyfreedp::results
