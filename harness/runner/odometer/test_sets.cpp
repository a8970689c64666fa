#include "harness/runner/odometer/test_sets.h"

#include <algorithm>
#include <fmt/format.h>

#include "harness/runner/odometer/odometer.h"

namespace hyfreedp::runner {
namespace {

// Why the test set may have records that were trained on; empty: it has none.
std::string conflict(Odometer& odometer, const trial::OodTest& test, const std::string& whose,
                     const datasets::TrainedData& trained, const std::string& where) {
  for (const auto& identity : odometer.identities(test.dataset)) {
    if (!datasets::may_share_records(identity, trained)) continue;
    return datasets::why_no_test_set(fmt::format("the ood_test '{}' of {}", test.id, whose), identity,
                                     trained, where);
  }
  return "";
}

}  // namespace

Result<void> check_test_sets(const results::Store& store, const OutFolder& out, const spec::Spec& spec) {
  Odometer none;
  const bool any_files = std::ranges::any_of(spec.panels, [&](const spec::Panel& panel) {
    return none.identity(panel.dataset).kind != datasets::DataKind::generated;
  });
  if (!any_files) return {};
  auto odometer = odometer_of(store, out);
  if (!odometer) return odometer.error();
  for (const auto& panel : spec.panels) {
    for (const auto& test : panel.ood_test) {
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
