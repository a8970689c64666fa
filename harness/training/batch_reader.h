// Delivers a split's rows in microbatches, on the training device and in the training type. Numbers
// go through one preallocated buffer, and a full batch of them is not copied: its microbatches are
// views of the split. Sequences of different lengths come in the order of these, each microbatch as
// long as its longest one: a text with a class ends where its padding begins, a language model's
// with the last token that is to be predicted. Images that the split has as bytes stay bytes on the
// device, and each microbatch of them becomes new numbers.
#pragma once

#include <functional>

#include "datasets/dataset.h"
#include "harness/mechanism/batches.h"
#include "harness/training/augmentation.h"

namespace hyfreedp::training {

// One microbatch of n rows.
struct Microbatch {
  torch::Tensor features;  // [n, p], or token ids [n, T], without the columns that no row needs;
                           // valid until the next microbatch
  torch::Tensor labels;    // [n], or [n, T] as the ids
  // M: rows m B .. (m + 1) B - 1 are copy m of the same B samples, n = M B.
  std::int64_t copies = 1;
};

class BatchReader {
 public:
  // `options`: device and type of the training; `microbatch_size`: samples in memory at once.
  BatchReader(const datasets::SplitData& split, const torch::TensorOptions& options,
              std::int64_t microbatch_size);

  std::int64_t size() const { return labels_.size(0); }
  // Calls `consume` with the microbatches of `rows`, in order, but for sequences of different
  // lengths. If stop_when() was given something that returns true between two of them, the rest are
  // left out, and was_stopped() is true until the next call.
  void for_each(const mechanism::Rows& rows, const std::function<void(const Microbatch&)>& consume);
  void stop_when(std::function<bool()> asked) { stop_asked_ = std::move(asked); }
  bool was_stopped() const { return was_stopped_; }
  // From here on each sample comes in copies; each copy counts as one of the `microbatch_size` in
  // memory, as do those of a split that has copies of its own. Null: no copies but those.
  void augment(const Augmentation* augmentation) { augmentation_ = augmentation; }
  // From here on `mean` [p] is subtracted from each vector of the original features; a second mean
  // replaces the first.
  void centre(const torch::Tensor& mean);
  // The same for all rows of the split.
  void for_all(const std::function<void(const Microbatch&)>& consume);

 private:
  std::int64_t samples_at_once() const;
  std::int64_t copies() const;
  Microbatch copied(const Microbatch& batch, const mechanism::Rows& rows, std::int64_t first,
                    std::int64_t count) const;
  // The rows' indices on the training device; undefined for all rows in order.
  torch::Tensor indices_of(const mechanism::Rows& rows) const;
  mechanism::Rows by_length(mechanism::Rows rows) const;
  void cut(const mechanism::Rows& rows, std::int64_t first, Microbatch& batch) const;
  Microbatch gather(const torch::Tensor& indices, std::int64_t first, std::int64_t count);

  // The microbatch's features in the training type, centred.
  torch::Tensor numbers(const torch::Tensor& features) const;

  torch::TensorOptions options_;
  torch::Tensor given_;  // before centring; undefined where nothing is centred
  torch::Tensor features_;
  std::optional<datasets::PixelScale> scale_;
  torch::Tensor byte_mean_;  // [p], subtracted from images that are kept as bytes
  torch::Tensor labels_;
  torch::Tensor feature_buffer_;
  torch::Tensor label_buffer_;
  std::int64_t microbatch_size_;
  std::int64_t own_copies_;            // SplitData::copies
  std::vector<std::int64_t> lengths_;  // of sequences; empty if each row has all columns
  const Augmentation* augmentation_ = nullptr;
  std::function<bool()> stop_asked_;  // may be empty
  bool was_stopped_ = false;
};

}  // namespace hyfreedp::training
