#include "harness/training/step_norms.h"

#include <cmath>
#include <utility>

#include "datasets/facts.h"
#include "harness/trial/released_norms.h"

namespace hyfreedp::training {
namespace {

double squared_norm(const torch::Tensor& vector) {
  return vector.to(torch::kFloat64).square().sum().item<double>();
}

}  // namespace

bool norms_are_released(const trial::TrialConfig& config) {
  return datasets::training_values_are_released(config.privacy.is_private, config.dataset.name,
                                                config.dataset.options);
}

StepNorms::StepNorms(const trial::TrialConfig& config, std::vector<models::Slice> layout)
    : norms_(config.evaluation.recorded.released_norms && norms_are_released(config)),
      residual_(config.evaluation.recorded.noise_residual),
      layout_(std::move(layout)) {}

void StepNorms::reset() {
  weights_ = torch::Tensor();
  changes_ = 0;
  tensor_squares_.assign(layout_.size(), 0);
  update_norm_.reset();
  noise_square_.reset();
}

// The sums are enough for the values since step 0; those of one step are made anew.
State StepNorms::state() const {
  State state;
  if (!weights_.defined()) return state;
  state.tensors = {{"weights", weights_}, {"squares", torch::tensor(tensor_squares_, torch::kFloat64)}};
  state.scalars = {{"changes", static_cast<double>(changes_)}};
  return state;
}

void StepNorms::restore(const State& state) {
  const auto weights = state.tensors.find("weights");
  if (weights == state.tensors.end()) return;
  weights_ = weights->second;
  const auto squares = state.tensors.at("squares").cpu().contiguous();
  tensor_squares_.assign(squares.const_data_ptr<double>(),
                         squares.const_data_ptr<double>() + squares.numel());
  changes_ = static_cast<std::int64_t>(state.scalars.at("changes"));
}

void StepNorms::see_weights(const torch::Tensor& weights) {
  if (!norms_) return;
  if (weights_.defined()) {
    see_change(weights.to(torch::kFloat64) - weights_);
    weights_.copy_(weights);
  } else {
    weights_ = weights.clone();
  }
}

void StepNorms::see_change(const torch::Tensor& change) {
  ++changes_;
  double all = 0;
  for (std::size_t i = 0; i < layout_.size(); ++i) {
    const double square = squared_norm(change.narrow(0, layout_[i].offset, layout_[i].size));
    tensor_squares_[i] += square;
    all += square;
  }
  update_norm_ = std::sqrt(all);
}

void StepNorms::see_sum(const torch::Tensor& sum) {
  if (residual_) sum_ = sum.clone();
}

void StepNorms::see_release(const torch::Tensor& released, const trial::PrivacyPlan& plan,
                            double sensitivity) {
  if (norms_) gradient_norm_ = std::sqrt(squared_norm(released));
  noise_square_.reset();
  if (!residual_ || !plan.is_private) return;
  const double scale = plan.gradient_noise * sensitivity;
  const auto noise = released.to(torch::kFloat64) * plan.batch_size - sum_;
  noise_square_ = squared_norm(noise) / (scale * scale);
  dimension_ = static_cast<double>(released.numel());
}

void StepNorms::add_to(std::map<std::string, double>& scalars, bool last_step) const {
  if (norms_) scalars[trial::kGradientNorm] = gradient_norm_;
  if (update_norm_) scalars[trial::kUpdateNorm] = *update_norm_;
  if (noise_square_) {
    scalars[trial::kNoiseResidual] = *noise_square_;
    scalars[trial::kNoiseDimension] = dimension_;
  }
  if (!norms_ || !last_step || changes_ == 0) return;
  for (std::size_t i = 0; i < layout_.size(); ++i) {
    scalars[trial::kTensorUpdate + layout_[i].name] =
        std::sqrt(tensor_squares_[i] / static_cast<double>(changes_));
  }
}

}  // namespace hyfreedp::training
