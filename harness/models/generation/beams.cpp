#include "harness/models/generation/beams.h"

#include <algorithm>
#include <cmath>

#include "harness/models/generation/generation.h"

namespace hyfreedp::models {
namespace {

// A score below all others: added to a finished beam's, and that of places without a text.
constexpr float kNever = -1e9F;

// The first `count` by score, of equals the earlier one.
std::vector<BeamSearch::Beam> highest(std::vector<BeamSearch::Beam> beams, std::int64_t count) {
  std::ranges::stable_sort(beams, std::ranges::greater{}, &BeamSearch::Beam::score);
  beams.resize(static_cast<std::size_t>(count));
  return beams;
}

}  // namespace

BeamSearch::BeamSearch(const trial::GenerationOptions& options, std::optional<std::int64_t> end)
    : beams_(options.beams), tokens_(options.tokens), length_penalty_(options.length_penalty), end_(end) {
  running_.resize(1);
  best_.resize(static_cast<std::size_t>(beams_));
  for (auto& beam : best_) beam.score = kNever;
}

// The 2 * beams best continuations: so many that `beams` are left where all beams could end.
std::vector<BeamSearch::Beam> BeamSearch::candidates(const torch::Tensor& logarithms) const {
  const auto width = logarithms.size(1);
  std::vector<float> before;
  for (const auto& beam : running_) before.push_back(beam.score);
  const auto sums = (logarithms + torch::tensor(at::ArrayRef<float>(before)).unsqueeze(1)).flatten();
  const auto [scores, places] = sums.topk(2 * beams_);
  std::vector<Beam> found;
  for (std::int64_t i = 0; i < scores.numel(); ++i) {
    const auto place = places.const_data_ptr<std::int64_t>()[i];
    const auto parent = place / width;
    Beam beam{.ids = running_[static_cast<std::size_t>(parent)].ids,
              .score = scores.const_data_ptr<float>()[i],
              .parent = parent};
    beam.ids.push_back(place % width);
    beam.finished = length_ == tokens_ || beam.ids.back() == end_;
    found.push_back(std::move(beam));
  }
  return found;
}

float BeamSearch::over() const {
  return static_cast<float>(std::pow(static_cast<double>(length_), length_penalty_));
}

void BeamSearch::keep_finished(const std::vector<Beam>& candidates) {
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (!candidates[i].finished || static_cast<std::int64_t>(i) >= beams_) continue;
    best_.push_back(candidates[i]);
    best_.back().score /= over();
  }
  best_ = highest(std::move(best_), beams_);
}

void BeamSearch::go_on(const torch::Tensor& logarithms) {
  HYFREEDP_CHECK(logarithms.size(1) >= 2 * beams_, "the vocabulary is too small for so many beams");
  ++length_;
  auto found = candidates(logarithms);
  keep_finished(found);
  for (auto& beam : found) {
    if (beam.finished) beam.score += kNever;
  }
  running_ = highest(std::move(found), beams_);
  // Worst of the finished ones; while there are fewer than `beams`, nothing is.
  const bool is_full = std::ranges::all_of(best_, &Beam::finished);
  const bool may_improve = running_.front().score / over() > (is_full ? best_.back().score : kNever);
  finished_ = length_ == tokens_ || !may_improve;
}

Written BeamSearch::best() const {
  Written written{.ids = best_.front().ids, .ended = false};
  if (!written.ids.empty() && written.ids.back() == end_) {
    written.ids.pop_back();
    written.ended = true;
  }
  return written;
}

}  // namespace hyfreedp::models
