#include "harness/runner/odometer/test_sets.h"

#include <algorithm>
#include <fmt/format.h>

#include "harness/base/text.h"
#include "harness/runner/odometer/odometer.h"

namespace hyfreedp::runner {
namespace {

// Says why the test set may have records that were trained on; empty: it has none.
std::string conflict(Odometer& odometer, const TestSet& test, const std::string& whose,
                     const datasets::TrainedData& trained, const std::string& where) {
  for (const auto& identity : odometer.identities(test.dataset)) {
    const auto name = fmt::format("{} of {}", test.name, whose);
    if (test.may_share_records(identity, trained))
      return datasets::why_no_test_set(name, identity, trained, where);
    if (test.may_share_unmarked_records(identity, trained)) {
      return fmt::format(
          "{} is {}, and {} trains on {}: whether records are in both is not known, because the marks of "
          "their records are lost, are another user's, or were not compared. Accuracy on test records is "
          "printed without noise. A spec that names those data marks them again when it is read (`hyfreedp "
          "run SPEC --dry-run`), under a secret that lies in your HOME or XDG_STATE_HOME. Or use another "
          "output folder.",
          name, identity.name, where, join({trained.names.begin(), trained.names.end()}, " = "));
    }
  }
  return "";
}

std::vector<TestSet> test_sets_of(const spec::Panel& panel) {
  std::vector<TestSet> sets{own_test_set_of(panel.dataset)};
  for (const auto& test : panel.ood_test) sets.push_back(test_set_of(test));
  return sets;
}

// Of the spec by itself. Reading it has compared the records that are marked; of others it is not
// known, but for files that are not here, of which nothing can be trained.
Result<void> check_own_test_sets(Odometer& odometer, const std::string& out, const spec::Spec& spec) {
  for (const auto& panel : spec.panels) {
    if (datasets::training_split_is_public(panel.dataset.name, panel.dataset.options)) continue;
    if (odometer.identity(panel.dataset).marks.empty()) continue;
    const auto trained = odometer.trained_data(panel.dataset);
    for (const auto& other : spec.panels) {
      for (const auto& test : test_sets_of(other)) {
        if (odometer.identity(test.dataset).marks.empty()) continue;
        auto why = conflict(odometer, test, "this spec", trained, "this spec");
        if (!why.empty()) return error(out + ": " + why);
      }
    }
  }
  return {};
}

}  // namespace

Result<void> check_test_sets(const results::Store& store, const OutFolder& out, const spec::Spec& spec) {
  Odometer none;
  const auto is_of_files = [&](const TestSet& test) {
    return none.identity(test.dataset).kind != datasets::DataKind::generated;
  };
  const bool any_files = std::ranges::any_of(spec.panels, [&](const spec::Panel& panel) {
    return std::ranges::any_of(test_sets_of(panel), is_of_files);
  });
  if (!any_files) return {};
  auto odometer = odometer_of(store, out);
  if (!odometer) return odometer.error();
  if (auto own = check_own_test_sets(*odometer, out.root, spec); !own) return own;
  for (const auto& panel : spec.panels) {
    for (const auto& test : test_sets_of(panel)) {
      for (const auto& spending : odometer->data) {
        if (spending.is_public) continue;
        auto why = conflict(*odometer, test, "this spec", spending.data, "an earlier run of the folder");
        if (!why.empty()) return error(out.root + ": " + why);
      }
    }
    if (datasets::training_split_is_public(panel.dataset.name, panel.dataset.options)) continue;
    const auto trained = odometer->trained_data(panel.dataset);
    for (const auto& [text, test] : odometer->tested) {
      auto why = conflict(*odometer, test, "an earlier run of the folder", trained, "this spec");
      if (!why.empty()) return error(out.root + ": " + why);
    }
  }
  return {};
}

}  // namespace hyfreedp::runner
