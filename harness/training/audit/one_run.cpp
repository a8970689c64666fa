#include "harness/training/audit/one_run.h"

#include <algorithm>
#include <numeric>

#include "harness/random/draws.h"
#include "harness/training/audit/reference.h"

namespace hyfreedp::training {
namespace {

Result<std::vector<bool>> fair_coins(const audit::Request& request) {
  const auto key = request.seed ? random::key_from_seed(*request.seed + "/coins of the one-run audit")
                                : random::key_from_entropy();
  if (!key) return key.error();
  random::Draws draws(*key, {.purpose = random::Purpose::selection});
  std::vector<bool> coins;
  for (std::int64_t j = 0; j < kOneRunCanaries; ++j) coins.push_back(draws.below(2) == 1);
  return coins;
}

class LastWeights : public mechanism::Observer {
 public:
  void vector_released(const mechanism::VectorSeen&) override {}
  void values_released(const mechanism::ValuesSeen&) override {}
  void run_ended(const torch::Tensor& weights) override { weights_ = weights.clone(); }
  const torch::Tensor& weights() const { return weights_; }

 private:
  torch::Tensor weights_;
};

}  // namespace

audit::OneRunGuesses guess(const std::vector<double>& losses, const std::vector<bool>& present) {
  std::vector<std::size_t> order(losses.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return losses[a] < losses[b]; });
  const std::size_t each = losses.size() / 5;
  audit::OneRunGuesses guesses;
  guesses.canaries = static_cast<std::int64_t>(losses.size());
  guesses.guesses = static_cast<std::int64_t>(2 * each);
  for (std::size_t k = 0; k < each; ++k) {
    guesses.correct += present[order[k]] ? 1 : 0;
    guesses.correct += present[order[order.size() - 1 - k]] ? 0 : 1;
  }
  return guesses;
}

Result<std::optional<audit::OneRunGuesses>> one_run_guesses(const audit::Request& request,
                                                            std::int64_t repetition,
                                                            const ScratchFolder& folder, const Parts& parts) {
  if (request.canaries == 0 || request.plan.population < 2 * kOneRunCanaries) {
    return std::optional<audit::OneRunGuesses>();
  }
  const auto present = fair_coins(request);
  if (!present) return present.error();
  const auto trained_on = one_run_experiment(request, *present);
  if (!trained_on) return trained_on.error();
  LastWeights last;
  if (auto run = run_under(last, *trained_on, repetition, folder, parts); !run) return run.error();

  // The data with every canary there, so that all of them have a loss.
  const auto complete = one_run_experiment(request, std::vector<bool>(present->size(), true));
  if (!complete) return complete.error();
  const Reference reference(complete->config, complete->dataset.private_train);
  const auto losses = reference.losses(last.weights(), complete->canaries);
  return std::optional(
      guess({losses.data_ptr<double>(), losses.data_ptr<double>() + losses.numel()}, *present));
}

}  // namespace hyfreedp::training
