#include "harness/runner/spec/test_data.h"

#include "datasets/same_data.h"

namespace hyfreedp::runner {

Result<void> check_no_record_is_in_both(const trial::OodTest& test, const trial::Named& trained,
                                        const std::string& where) {
  if (datasets::training_split_is_public(trained.name, trained.options)) return {};
  const auto of_training = datasets::identity_of(trained.name, trained.options);
  const auto of_test = datasets::identity_of(test.dataset.name, test.dataset.options);
  datasets::TrainedData data;
  data.add(of_training);
  if (!datasets::may_share_records(of_test, data)) return {};
  return error(datasets::why_no_test_set("the ood_test '" + test.id + "'", of_test, data, where));
}

}  // namespace hyfreedp::runner
