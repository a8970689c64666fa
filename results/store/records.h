// Stored records as JSON: for exports, for comparison, and for the structured columns of the
// database.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/spec/spec.h"
#include "results/store/store.h"

namespace hyfreedp::results {

// What the spec says. Errors name the spec.
Result<spec::Spec> spec_of(const SpecRecord& record);

json::object to_json(const TrialRecord& trial);
json::object to_json(const StudyRecord& study);
json::object to_json(const trial::MetricRecord& metric);
json::object to_json(const accounting::ReportedEpsilon& epsilon);

json::array to_json(const std::vector<std::string>& texts);
json::array to_json(const std::vector<trial::Build>& builds);
json::array to_json(const std::vector<trial::ChargedAttempt>& attempts);
json::object to_json(const std::map<std::string, std::int64_t>& counts);
json::object to_json(
    const std::map<std::string, double>& scalars);  // non-finite values as number() writes them

Result<accounting::ReportedEpsilon> reported_epsilon_from(const json::value& value, const std::string& where);
// What to_json(StudyRecord) wrote.
Result<StudyRecord> study_from(const json::value& value, const std::string& where);
Result<std::vector<std::string>> texts_from(const json::value& value, const std::string& where);
Result<std::vector<trial::ChargedAttempt>> charged_from(const json::value& value, const std::string& where);
Result<std::map<std::string, std::int64_t>> counts_from(const json::value& value, const std::string& where);
Result<std::map<std::string, double>> scalars_from(const json::value& value, const std::string& where);

}  // namespace hyfreedp::results
