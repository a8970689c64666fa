#include "harness/training/trainer.h"

#include <algorithm>
#include <c10/util/Exception.h>
#include <chrono>
#include <cmath>
#include <ctime>
#include <fmt/format.h>
#include <limits>
#include <new>
#include <optional>

#include "harness/training/adaptive_clipping.h"
#include "harness/training/averaging.h"
#include "harness/training/displaced_weights.h"
#include "harness/training/evaluation.h"
#include "harness/training/feature_mean.h"
#include "harness/training/kept_weights.h"
#include "harness/training/norm_summary.h"
#include "harness/training/precision.h"
#include "harness/training/private_loss.h"
#include "harness/training/release.h"
#include "harness/training/sampler.h"
#include "harness/training/setup.h"
#include "harness/training/step_norms.h"
#include "harness/training/weight_step.h"
#include "harness/trial/test_seam.h"

namespace hyfreedp::training {
namespace {

using random::Purpose;
using torch::Tensor;

// A step length that the weights' type cannot hold ends a run like weights that are not finite.
bool fits(double length, const Tensor& weights) {
  const double largest = weights.scalar_type() == torch::kFloat32 ? std::numeric_limits<float>::max()
                                                                  : std::numeric_limits<double>::max();
  return std::abs(length) <= largest;
}

enum class Next { go_on, diverged, replay_differs };

// An optimizer that owns its step size reports the length it used under its own name.
double reported_eta(const Scalars& scalars, double multiplier) {
  for (const char* name : {"dlr", "lr_used", "eta"}) {
    if (const auto found = scalars.find(name); found != scalars.end()) return found->second;
  }
  return multiplier;
}

class Run {
 public:
  Run(const TrainingJob& job, Setup setup)
      : job_(job),
        key_(job.key),
        plan_(job.config.privacy),
        setup_(std::move(setup)),
        weights_(setup_.network.parameters()),
        gradient_(torch::zeros_like(weights_)),
        sum_(has_wide_sum() ? torch::zeros_like(weights_, weights_.options().dtype(setup_.sum_type))
                            : gradient_),
        average_(job.config.training),
        norms_(job.config, setup_.network.layout()) {
    if (setup_.augmentation) setup_.train.augment(&*setup_.augmentation);
  }

  Result<TrainingEnd> run() {
    for (;;) {
      set_threshold(job_.config.privacy.clipping_constant);
      average_.reset();
      norms_.reset();
      if (auto begun = begin_run(job_.config, setup_); !begun) {
        return failed(begun.error().kind, begun.error().message);
      }
      auto end = run_attempt();
      if (!end) return end.error();
      if (*end) return std::move(**end);
      if (auto next = job_.journal.begin_next_attempt(); !next) return next.error();
      if (job_.next_key) {
        auto fresh = job_.next_key();
        if (!fresh) return fresh.error();
        key_ = *fresh;
      }
      restore_initial_weights();
    }
  }

 private:
  // Made anew: a copy from before step 0 would cost a vector in every run for the sake of a rare
  // one.
  void restore_initial_weights() {
    auto again = set_up(job_.config, job_.dataset);
    HYFREEDP_CHECK(again, "what could be set up once can be set up again");
    weights_.copy_(again->network.parameters());
  }

  // Empty: a replayed step was not reproduced.
  Result<std::optional<TrainingEnd>> run_attempt() {
    const Tf32 tf32(job_.config.training.tf32);
    const auto& evaluation = job_.config.evaluation;
    if (auto centred = centre_features(); !centred) return centred.error();
    for (step_ = 0; step_ < job_.config.steps; ++step_) {
      if (job_.stop_requested()) return std::optional(TrainingEnd{.stopped = true, .finish = {}});
      const auto begun = planted(Bug::step_fifth_slower) ? std::clock() : 0;
      const auto next = step();
      if (planted(Bug::step_fifth_slower)) {
        const auto end = begun + (std::clock() - begun) * 6 / 5;
        while (std::clock() < end) continue;
      }
      if (!next) return next.error();
      if (*next == Next::replay_differs) return std::optional<TrainingEnd>();
      if (*next == Next::diverged) {
        return std::optional(failed("diverged",
                                    "The weights or the released losses are no longer finite after "
                                    "step " +
                                        std::to_string(step_) + "."));
      }
      const auto done = step_ + 1;
      if (evaluation.every > 0 && done % evaluation.every == 0 && done < job_.config.steps) {
        if (auto tested = record_test(done); !tested) return tested.error();
      }
    }
    if (job_.observer != nullptr) job_.observer->run_ended(weights_);
    if (auto concluded = conclude(); !concluded) return concluded.error();
    auto end = finished();
    end.weights_problem = keep_final_weights();
    return std::optional(std::move(end));
  }

  Result<void> centre_features() {
    if (!plan_.feature_mean) return {};
    HYFREEDP_CHECK(job_.observer == nullptr, "an audit's reference knows the features as they are");
    if (auto booked = job_.journal.ensure_booked(0); !booked) return booked.error();
    feature_mean_ =
        release_feature_mean(plan_, key_, job_.journal.attempt(), job_.dataset.private_train.features);
    feature_mean_hash_ = release_hash(feature_mean_, {});
    for (auto* reader : {&setup_.train, &setup_.validation, &setup_.test}) reader->centre(feature_mean_);
    return {};
  }

  Result<Next> step() {
    auto& journal = job_.journal;
    rows_ = gradient_rows(plan_, key_, step_, journal.attempt());
    if (planted(Bug::empty_batches_skipped) && rows_.count == 0) return Next::go_on;
    if (setup_.augmentation) {
      setup_.augmentation->draw_from(key_, address_of(Purpose::augmentation, step_, journal.attempt()));
    }
    const bool wants_norms = plan_.adaptive || job_.config.evaluation.gradient_norms;
    losses_ = clipped_gradient_sum(setup_.network, setup_.loss, setup_.clipping, setup_.train, rows_, sum_,
                                   wants_norms ? &clipped_ : nullptr);
    if (auto booked = journal.ensure_booked(step_); !booked) return booked.error();
    const double rate = setup_.controller->learning_rate(step_);
    norms_.see_weights(weights_);
    auto digest = release_and_advance(rate);
    if (step_ == 0) digest.bytes += feature_mean_hash_;
    released_losses_.clear();
    scalars_ = setup_.optimizer->scalars();
    norms_.add_to(scalars_, step_ + 1 == job_.config.steps);
    const auto fraction = release_clipping();
    bool finite = true;
    if (setup_.controller->wants_probe(step_)) finite = probe();

    const bool owns = setup_.optimizer->owns_step_size();
    const double eta = owns ? 1.0 : setup_.controller->learning_rate(step_);
    scalars_["eta"] = owns ? reported_eta(scalars_, rate) : eta;
    auto released = released_losses_;
    if (fraction) released.push_back(*fraction);
    const auto hash = release_hash(digest, released);
    if (const auto expected = journal.expected_hash(step_); expected && *expected != hash) {
      return Next::replay_differs;
    }
    if (auto written = journal.step({step_, hash, scalars_}); !written) return written.error();
    job_.progress(step_, scalars_);
    if (!finite || !fits(eta, weights_)) return Next::diverged;
    if (planted(Bug::layer_frozen)) {
      const auto& first = setup_.network.layout().front();
      direction_.narrow(0, first.offset, first.size).zero_();
    }
    const double length = planted(Bug::eta_fifth_more) ? 1.2 * eta : eta;
    if (!subtract_scaled(weights_, direction_, length, weights_)) return Next::diverged;
    average_.observe(weights_, step_);
    return Next::go_on;
  }

  // From the clipped sum to the direction. In one pass where the optimizer goes by pieces; an
  // observer is shown the whole release before anything uses it.
  GradientDigest release_and_advance(double rate) {
    const auto attempt = job_.journal.attempt();
    if (job_.observer == nullptr && !norms_.wanted() && !planted(Bug::realised_divisor)) {
      // Without probes nothing looks at the gradient after the direction is known, so it takes the
      // gradient's place.
      if (!direction_.defined()) direction_ = plan_.probe ? torch::empty_like(gradient_) : gradient_;
      if (const auto advance = setup_.optimizer->advance_by_pieces(gradient_, weights_, rate, direction_)) {
        return release(attempt, advance);
      }
    }
    if (!direction_.defined() || direction_.is_same(gradient_)) direction_ = torch::empty_like(gradient_);
    norms_.see_sum(sum_);
    auto digest = release(attempt);
    norms_.see_release(gradient_, plan_);
    if (planted(Bug::realised_divisor)) {
      gradient_.mul_(plan_.batch_size / static_cast<double>(std::max<std::int64_t>(rows_.count, 1)));
    }
    if (job_.observer != nullptr) {
      job_.observer->gradient_released(
          {.step = step_, .rows = rows_, .weights = weights_, .released = gradient_});
    }
    setup_.optimizer->advance(gradient_, weights_, rate, direction_);
    return digest;
  }

  bool has_wide_sum() const { return setup_.sum_type != weights_.scalar_type(); }

  // gradient_ from sum_.
  GradientDigest release(std::int64_t attempt, const optimizers::PieceWork& then = {}) {
    return has_wide_sum() ? release_wide_sum(plan_, key_, step_, attempt, sum_, gradient_, then)
                          : release_gradient(plan_, key_, step_, attempt, gradient_, then);
  }

  // C_t: `plan_` and the clipping rule are those of the present step.
  void set_threshold(double threshold) {
    plan_.clipping_constant = threshold;
    setup_.clipping.constant = threshold;
  }

  // Adaptive clipping's second release of the batch, which gives the next step's threshold; absent
  // for other clippings.
  std::optional<double> release_clipping() {
    if (job_.config.evaluation.gradient_norms) add_norm_summary(clipped_, scalars_);
    if (!plan_.adaptive) return std::nullopt;
    const double fraction = release_clip_fraction(plan_, key_, step_, job_.journal.attempt(), clipped_.norms);
    scalars_["clip_threshold"] = plan_.clipping_constant;
    scalars_["unclipped_fraction"] = fraction;
    set_threshold(next_threshold(*plan_.adaptive, plan_.clipping_constant, fraction));
    return fraction;
  }

  // False where a private loss is not finite.
  bool probe() {
    HYFREEDP_CHECK(plan_.probes_at(step_), "a probe was asked for at a step that is not booked for one");
    const auto request = setup_.controller->request(step_);
    HYFREEDP_CHECK(static_cast<int>(request.abscissas.size()) == plan_.probe->points,
                   "a probe of other than the booked number of losses was asked for");
    const LossRelease release{.bound = request.loss_bound,
                              .noise_multiplier = plan_.probe->noise,
                              .divisor = plan_.probe->batch_size};
    HYFREEDP_CHECK(!plan_.is_private || release.noise_multiplier > 0,
                   "a private loss is released with noise");
    if (plan_.is_private && !std::isfinite(release.bound)) return false;
    HYFREEDP_CHECK(request.difference_bound == 0 || request.abscissas.front() == 0,
                   "a paired release needs the loss at the weights first");
    for (const double x : request.abscissas) {
      if (!fits(x, weights_)) return false;
    }
    released_losses_ = probe_losses(request, release);
    const auto& noised = request.difference_bound > 0 ? of_differences(request, release) : release;
    const optimizers::ProbeResult result{request.abscissas, released_losses_,
                                         plan_.is_private ? noise_sd(noised) : 0.0};
    setup_.controller->observe(step_, result);
    for (const auto& [name, value] : setup_.controller->scalars()) scalars_[name] = value;
    for (std::size_t k = 0; k < request.abscissas.size(); ++k) {
      if (request.abscissas[k] == 0) scalars_["private_loss"] = released_losses_[k];
      scalars_[fmt::format("probe_x.{}", k)] = request.abscissas[k];
      scalars_[fmt::format("probe_loss.{}", k)] = released_losses_[k];
    }
    if (!plan_.is_private) return true;
    return std::all_of(released_losses_.begin(), released_losses_.end(),
                       [](double x) { return std::isfinite(x); });
  }

  static LossRelease of_differences(const optimizers::ProbeRequest& request, LossRelease release) {
    release.bound = request.difference_bound;
    return release;
  }

  std::vector<double> probe_losses(const optimizers::ProbeRequest& request, const LossRelease& release) {
    const auto& abscissas = request.abscissas;
    const bool paired = plan_.is_private && request.difference_bound > 0;
    HYFREEDP_CHECK(!paired || job_.observer == nullptr, "the audit knows no paired release of losses");
    const auto attempt = job_.journal.attempt();
    const bool separate = plan_.probe->separate_batch;
    const Rows rows = separate ? probe_rows(plan_, key_, step_, attempt) : rows_;
    std::vector<double> z(abscissas.size());
    random::fill_normals(key_, address_of(Purpose::probe_noise, step_, attempt), 0, z);
    std::vector<double> released;
    Tensor at_zero;  // paired
    for (std::size_t k = 0; k < abscissas.size(); ++k) {
      const bool known = abscissas[k] == 0 && !separate && !other_precision();
      const auto losses = known ? losses_ : losses_along(rows, abscissas[k]);
      if (paired && k > 0) {
        const auto difference =
            private_mean_difference(losses, at_zero, of_differences(request, release), z[k]);
        released.push_back(released.front() + difference);
        continue;
      }
      if (paired) at_zero = losses;
      released.push_back(plan_.is_private ? private_mean_loss(losses, release, z[k])
                                          : exact_mean_loss(losses, release.divisor));
    }
    if (job_.observer != nullptr) {
      job_.observer->probe_released({.step = step_,
                                     .rows = rows,
                                     .separate_batch = separate,
                                     .weights = weights_,
                                     .direction = direction_,
                                     .abscissas = abscissas,
                                     .loss_bound = release.bound,
                                     .released = released});
    }
    return released;
  }

  // A probe compares losses, so all of one are computed alike: where its precision is another one
  // than the step's, the step's own losses are of no use to it.
  bool other_precision() const {
    return job_.config.training.probe_precision != job_.config.training.precision;
  }

  Tensor losses_along(const Rows& rows, double abscissa) {
    DisplacedWeights displaced(weights_, gradient_);  // whose digest has been taken
    displaced.step_along(direction_, abscissa);
    const ComputeType type(setup_.network, job_.config.training.probe_precision);
    return losses_at_weights(setup_.network, setup_.loss, setup_.train, rows);
  }

  // Undefined: at the weights themselves.
  Tensor average_to_evaluate() const {
    const auto own = setup_.optimizer->evaluation_parameters();
    return own.defined() ? own : average_.parameters();
  }

  Evaluated evaluate_on(BatchReader& reader) {
    const auto average = average_to_evaluate();
    if (!average.defined()) return evaluate(setup_.network, setup_.loss, reader);
    DisplacedWeights displaced(weights_, gradient_);  // which the next step fills anew
    displaced.assign(average);
    return evaluate(setup_.network, setup_.loss, reader);
  }

  Result<void> record_test(std::int64_t done) {
    const auto result = evaluate_on(setup_.test);
    const auto visibility = trial::Visibility::test;
    if (auto written = job_.journal.metric({done, "test", "loss", result.mean_loss, visibility}); !written) {
      return written.error();
    }
    if (result.of_tokens) {
      auto written = job_.journal.metric({done, "test", "perplexity", result.perplexity(), visibility});
      if (!written) return written.error();
    }
    if (!result.has_accuracy) return {};
    return job_.journal.metric({done, "test", "accuracy", result.accuracy(), visibility});
  }

  Result<void> conclude() {
    const auto steps = job_.config.steps;
    if (auto tested = record_test(steps); !tested) return tested.error();
    const auto& evaluation = job_.config.evaluation;
    if (evaluation.oracle_train) {
      setup_.train.augment(nullptr);  // each sample as it is
      const double accuracy = evaluate_on(setup_.train).accuracy();
      auto written = job_.journal.metric(
          {steps, trial::kTrainSplit, "accuracy", accuracy, trial::Visibility::confidential});
      if (!written) return written.error();
    }
    if (!evaluation.oracle_validation && !evaluation.score) return {};
    const auto validated = evaluate_on(setup_.validation);
    if (evaluation.oracle_validation) {
      auto written = job_.journal.metric(
          {steps, "private_validation", "accuracy", validated.accuracy(), trial::Visibility::confidential});
      if (!written) return written.error();
    }
    if (!evaluation.score) return {};
    return release_score(validated, evaluation.score->noise_counts);
  }

  Result<void> release_score(const Evaluated& validated, double noise_counts) {
    HYFREEDP_CHECK(noise_counts > 0, "a score is released with noise");
    if (auto booked = job_.journal.book_score(noise_counts, "private_validation"); !booked)
      return booked.error();
    double z[1];
    random::fill_normals(key_, address_of(Purpose::score_noise, job_.config.steps, job_.journal.attempt()), 0,
                         z);
    const double score =
        (static_cast<double>(validated.correct) + noise_counts * z[0]) / static_cast<double>(validated.count);
    return job_.journal.metric(
        {job_.config.steps, "private_validation", "score", score, trial::Visibility::released});
  }

  // Why not, where that failed: the run itself is over, and its results stand.
  std::string keep_final_weights() {
    if (job_.weights_folder.empty()) return "";
    FinalWeights final{.config = job_.config,
                       .input = setup_.input,
                       .network = setup_.network,
                       .values = "of the last step",
                       .attempt = job_.journal.attempt(),
                       .feature_mean = feature_mean_};
    try {
      const auto average = average_to_evaluate();
      DisplacedWeights displaced(weights_, gradient_);
      if (average.defined()) {
        displaced.assign(average);
        final.values = "the average of the steps' weights, at which the run was evaluated";
      }
      const auto kept = keep_weights(final, job_.weights_folder);
      return kept ? "" : kept.error().message;
    } catch (const c10::Error& caught) {
      return caught.what_without_backtrace();
    } catch (const std::exception& caught) {
      return caught.what();
    }
  }

  static TrainingEnd failed(const std::string& kind, const std::string& message) {
    TrainingEnd end;
    end.finish.state = trial::TrialState::failed;
    end.finish.kind = kind;
    end.finish.message = message;
    return end;
  }

  TrainingEnd finished() const {
    TrainingEnd end;
    for (const auto& note : {setup_.optimizer->outcome(), setup_.controller->outcome()}) {
      if (!note.empty()) end.finish.notes.push_back(note);
    }
    end.finish.counts = setup_.controller->decisions();
    return end;
  }

  const TrainingJob& job_;
  random::Key key_;          // of the journal's present attempt
  trial::PrivacyPlan plan_;  // the config's, at the present step's clipping threshold
  Setup setup_;
  Tensor& weights_;  // [d]; the network's own storage
  // [d]: the clipped sum, then the released mean; then a store of weights while others are looked
  // at.
  Tensor gradient_;
  // [d]: the clipped sum: gradient_, or a float64 vector of its own (harness/trial/sum_rounding.h).
  Tensor sum_;
  Tensor direction_;  // [d]; without probes it may be gradient_
  Tensor losses_;     // [realised batch]: at the weights
  SampleClipping clipped_;
  WeightAverage average_;
  StepNorms norms_;
  Rows rows_;
  std::vector<double> released_losses_;
  Tensor feature_mean_;            // undefined where none is released
  std::string feature_mean_hash_;  // empty where none is released
  Scalars scalars_;
  std::int64_t step_ = 0;
};

TrainingEnd failure(std::string kind, std::string message) {
  TrainingEnd end;
  end.finish.state = trial::TrialState::failed;
  end.finish.kind = std::move(kind);
  end.finish.message = std::move(message);
  return end;
}

bool tells_of_memory(const std::string& message) {
  return message.find("not enough memory") != std::string::npos ||
         message.find("can't allocate memory") != std::string::npos ||
         message.find("out of memory") != std::string::npos;
}

Result<TrainingEnd> run_without_exceptions(const TrainingJob& job) {
  try {
    const torch::NoGradGuard no_gradients;
    auto setup = set_up(job.config, job.dataset);
    if (!setup) return failure(setup.error().kind, setup.error().message);
    return Run(job, std::move(*setup)).run();
  } catch (const c10::Error& caught) {
    const std::string message = caught.what_without_backtrace();
    return failure(tells_of_memory(message) ? "out-of-memory" : "internal", message);
  } catch (const std::bad_alloc&) {
    return failure("out-of-memory", "The run needs more memory than the machine could give.");
  } catch (const std::exception& caught) {
    return failure("internal", caught.what());
  }
}

}  // namespace

Result<TrainingEnd> train(const TrainingJob& job) {
  const auto begin = std::chrono::steady_clock::now();
  auto end = run_without_exceptions(job);
  if (!end || end->stopped) return end;
  end->finish.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (auto written = job.journal.finish(end->finish); !written) return written.error();
  return end;
}

}  // namespace hyfreedp::training
