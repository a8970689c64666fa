#include "harness/runner/lineage/test_data.h"

#include "datasets/same_data.h"

namespace hyfreedp::runner {

namespace {

using Rule = bool(const datasets::DataIdentity& test, const datasets::TrainedData& trained);

Result<void> check(const std::string& name, const trial::Named& test, const trial::Named& trained,
                   const std::string& where, Rule* may_share) {
  if (datasets::training_split_is_public(trained.name, trained.options)) return {};
  const auto of_test = datasets::identity_of(test.name, test.options);
  datasets::TrainedData data;
  data.add(datasets::identity_of(trained.name, trained.options));
  if (!may_share(of_test, data)) return {};
  return error(datasets::why_no_test_set(name, of_test, data, where));
}

}  // namespace

Result<void> check_no_record_is_in_both(const trial::OodTest& test, const trial::Named& trained,
                                        const std::string& where) {
  return check("the ood_test '" + test.id + "'", test.dataset, trained, where, datasets::may_share_records);
}

Result<void> check_no_test_record_is_trained_on(const trial::Named& tested, const trial::Named& trained,
                                                const std::string& where) {
  return check("the test split", tested, trained, where, datasets::own_test_may_share_records);
}

}  // namespace hyfreedp::runner
