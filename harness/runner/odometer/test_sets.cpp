#include "harness/runner/odometer/test_sets.h"

#include <algorithm>

#include "harness/runner/odometer/odometer.h"

namespace hyfreedp::runner {
namespace {

bool is_generated(Odometer& odometer, const trial::Named& dataset) {
  return odometer.identity(dataset).kind == datasets::DataKind::generated;
}

}  // namespace

Result<void> check_test_sets(const results::Store& store, const OutFolder& out, const spec::Spec& spec) {
  Odometer none;
  const bool any_files = std::ranges::any_of(
      spec.panels, [&](const spec::Panel& panel) { return !is_generated(none, panel.dataset); });
  if (!any_files) return {};
  auto odometer = odometer_of(store, out);
  if (!odometer) return odometer.error();
  for (const auto& panel : spec.panels) {
    odometer->of(panel.dataset);
    for (const auto& test : panel.ood_test) odometer->tested.emplace(canonical_json(as_json(test)), test);
  }
  for (const auto& [text, test] : odometer->tested) {
    const auto identity = odometer->identity(test.dataset);
    for (const auto& spending : odometer->data) {
      if (spending.is_public || !datasets::may_share_records(identity, spending.data)) continue;
      return error(out.root + ": " +
                   datasets::why_no_test_set(test.id, identity, spending.data,
                                             "this spec, or an earlier run of the folder,"));
    }
  }
  return {};
}

}  // namespace hyfreedp::runner
