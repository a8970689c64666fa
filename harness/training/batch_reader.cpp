#include "harness/training/batch_reader.h"

#include <algorithm>
#include <numeric>

#include "datasets/labels.h"
#include "harness/models/facts/microbatch.h"

namespace hyfreedp::training {

using torch::Tensor;

namespace {

// Ids stay whole numbers, and bytes bytes.
torch::Tensor on_device(const torch::Tensor& features, const torch::TensorOptions& options) {
  return features.is_floating_point() ? features.to(options) : features.to(options.device());
}

// Room for `rows` rows like those of `table`.
torch::Tensor buffer_like(const torch::Tensor& table, std::int64_t rows) {
  auto shape = table.sizes().vec();
  shape[0] = rows;
  return torch::empty(shape, table.options());
}

// The columns of each row up to its last that counts, at least one: that is not padding, or whose
// token is to be predicted. Empty if every row needs all columns.
std::vector<std::int64_t> lengths_of(const datasets::SplitData& split) {
  const bool are_predicted = split.labels.dim() == 2;
  if ((!split.padding && !are_predicted) || split.features.size(0) == 0) return {};
  const auto& ids = split.features;
  const auto counts = are_predicted ? split.labels != datasets::kNotScored : ids != *split.padding;
  const auto places = torch::arange(1, ids.size(1) + 1, ids.options());
  const auto lengths = (counts * places).amax(1).clamp_min(1).contiguous();
  if (lengths.min().item<std::int64_t>() == ids.size(1)) return {};
  const auto* first = lengths.const_data_ptr<std::int64_t>();
  return {first, first + lengths.numel()};
}

}  // namespace

BatchReader::BatchReader(const datasets::SplitData& split, const torch::TensorOptions& options,
                         std::int64_t microbatch_size)
    : options_(options),
      features_(on_device(split.features, options)),
      scale_(split.scale),
      labels_(split.labels.to(options.device())),
      microbatch_size_(microbatch_size),
      own_copies_(split.copies),
      lengths_(lengths_of(split)) {}

Tensor BatchReader::numbers(const Tensor& features) const {
  if (!scale_) return features;
  auto values = datasets::scaled(features, *scale_, options_.dtype().toScalarType());
  return byte_mean_.defined() ? values.sub_(byte_mean_) : values;
}

void BatchReader::centre(const torch::Tensor& mean) {
  if (scale_) {
    byte_mean_ = mean.to(options_);
    return;
  }
  if (!given_.defined()) given_ = features_;
  features_ = given_ - mean.to(given_.options());
}

Tensor BatchReader::indices_of(const mechanism::Rows& rows) const {
  if (rows.all || rows.count == 0) return {};
  auto* indices = const_cast<std::int64_t*>(rows.indices.data());
  return torch::from_blob(indices, {rows.count}, torch::kInt64).to(features_.device());
}

Microbatch BatchReader::gather(const Tensor& indices, std::int64_t first, std::int64_t count) {
  if (!indices.defined()) {
    return {numbers(features_.narrow(0, first, count)), labels_.narrow(0, first, count)};
  }
  if (!feature_buffer_.defined()) {
    const auto rows = models::samples_at_once(microbatch_size_, own_copies_);
    feature_buffer_ = buffer_like(features_, rows);
    label_buffer_ = buffer_like(labels_, rows);
  }
  const auto index = indices.narrow(0, first, count);
  Microbatch batch{feature_buffer_.narrow(0, 0, count), label_buffer_.narrow(0, 0, count)};
  at::index_select_out(batch.features, features_, 0, index);
  at::index_select_out(batch.labels, labels_, 0, index);
  batch.features = numbers(batch.features);
  return batch;
}

std::int64_t BatchReader::copies() const {
  return augmentation_ == nullptr ? own_copies_ : augmentation_->copies();
}

std::int64_t BatchReader::samples_at_once() const {
  return models::samples_at_once(microbatch_size_, copies());
}

Microbatch BatchReader::copied(const Microbatch& batch, const mechanism::Rows& rows, std::int64_t first,
                               std::int64_t count) const {
  std::vector<std::int64_t> repeats(static_cast<std::size_t>(batch.labels.dim()), 1);
  repeats[0] = copies();
  const auto labels = batch.labels.repeat(repeats);
  if (augmentation_ == nullptr) {
    const auto vectors = batch.features.view({count, own_copies_, -1}).transpose(0, 1);
    return {vectors.reshape({own_copies_ * count, -1}), labels, own_copies_};
  }
  std::vector<std::int64_t> ids(static_cast<std::size_t>(count));
  if (rows.all) {
    std::iota(ids.begin(), ids.end(), first);
  } else {
    std::copy_n(rows.indices.begin() + first, count, ids.begin());
  }
  return {(*augmentation_)(batch.features, ids), labels, augmentation_->copies()};
}

// Sorts the rows by length. Those of equal length stay in their order, so that equal batches give
// equal bits.
mechanism::Rows BatchReader::by_length(mechanism::Rows rows) const {
  if (rows.all) {
    rows.all = false;
    rows.indices.resize(static_cast<std::size_t>(rows.count));
    std::iota(rows.indices.begin(), rows.indices.end(), 0);
  }
  std::stable_sort(rows.indices.begin(), rows.indices.end(), [this](std::int64_t a, std::int64_t b) {
    return lengths_[static_cast<std::size_t>(a)] < lengths_[static_cast<std::size_t>(b)];
  });
  return rows;
}

// Removes the columns that count in no row, but for up to seven: the allocator can use
// memory again if there are few different sizes. The last row is the longest.
void BatchReader::cut(const mechanism::Rows& rows, std::int64_t first, Microbatch& batch) const {
  constexpr std::int64_t kColumns = 8;
  const auto last = rows.indices[static_cast<std::size_t>(first + batch.features.size(0) - 1)];
  const auto length = lengths_[static_cast<std::size_t>(last)];
  const auto columns = std::min(batch.features.size(1), (length + kColumns - 1) / kColumns * kColumns);
  batch.features = batch.features.narrow(1, 0, columns).contiguous();
  if (batch.labels.dim() == 2) batch.labels = batch.labels.narrow(1, 0, columns).contiguous();
}

void BatchReader::for_each(const mechanism::Rows& given,
                           const std::function<void(const Microbatch&)>& consume) {
  was_stopped_ = false;
  const auto sorted = lengths_.empty() ? mechanism::Rows{} : by_length(given);
  const auto& rows = lengths_.empty() ? given : sorted;
  const auto size = samples_at_once();
  const auto indices = indices_of(rows);  // once, since a copy to a GPU waits for it
  for (std::int64_t first = 0; first < rows.count; first += size) {
    if (first > 0 && stop_asked_ && stop_asked_()) {
      was_stopped_ = true;
      return;
    }
    const auto count = std::min(size, rows.count - first);
    auto batch = gather(indices, first, count);
    if (!lengths_.empty()) cut(rows, first, batch);
    const bool has_copies = augmentation_ != nullptr || own_copies_ > 1;
    consume(has_copies ? copied(batch, rows, first, count) : batch);
  }
}

void BatchReader::for_all(const std::function<void(const Microbatch&)>& consume) {
  for_each({.count = size(), .all = true, .indices = {}}, consume);
}

}  // namespace hyfreedp::training
