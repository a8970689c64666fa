#include "harness/training/batch_reader.h"

#include <algorithm>

namespace hyfreedp::training {

BatchReader::BatchReader(const datasets::SplitData& split, const torch::TensorOptions& options,
                         std::int64_t microbatch_size)
    : features_(split.features.to(options)),
      labels_(split.labels.to(options.device())),
      microbatch_size_(microbatch_size) {}

Microbatch BatchReader::gather(const Rows& rows, std::int64_t first, std::int64_t count) {
  if (rows.all) return {features_.narrow(0, first, count), labels_.narrow(0, first, count)};
  if (!feature_buffer_.defined()) {
    feature_buffer_ = torch::empty({microbatch_size_, features_.size(1)}, features_.options());
    label_buffer_ = torch::empty({microbatch_size_}, labels_.options());
  }
  auto* indices = const_cast<std::int64_t*>(rows.indices.data()) + first;
  const auto index = torch::from_blob(indices, {count}, torch::kInt64).to(features_.device());
  Microbatch batch{feature_buffer_.narrow(0, 0, count), label_buffer_.narrow(0, 0, count)};
  at::index_select_out(batch.features, features_, 0, index);
  at::index_select_out(batch.labels, labels_, 0, index);
  return batch;
}

void BatchReader::for_each(const Rows& rows, const std::function<void(const Microbatch&)>& consume) {
  for (std::int64_t first = 0; first < rows.count; first += microbatch_size_) {
    consume(gather(rows, first, std::min(microbatch_size_, rows.count - first)));
  }
}

void BatchReader::for_all(const std::function<void(const Microbatch&)>& consume) {
  for_each({.count = size(), .all = true, .indices = {}}, consume);
}

}  // namespace hyfreedp::training
