#include "harness/training/trainer.h"

#include <ATen/Parallel.h>
#include <algorithm>
#include <array>
#include <c10/util/Exception.h>
#include <cmath>
#include <fmt/format.h>
#include <new>
#include <optional>

#include "harness/training/adaptive_clipping.h"
#include "harness/training/averaging.h"
#include "harness/training/displaced_weights.h"
#include "harness/training/kept_weights.h"
#include "harness/training/meter.h"
#include "harness/training/norm_summary.h"
#include "harness/training/precision.h"
#include "harness/training/private_loss.h"
#include "harness/training/run_evaluation.h"
#include "harness/training/run_state.h"
#include "harness/training/setup.h"
#include "harness/training/step_lengths.h"
#include "harness/training/step_norms.h"
#include "harness/training/whole_split.h"
#include "harness/training/zeroth_order.h"
#include "harness/trial/checkpoint_size.h"

namespace hyfreedp::training {
namespace {

using random::Purpose;
using torch::Tensor;

enum class Next { go_on, diverged, replay_differs, stopped };

TrainingEnd failure(std::string kind, std::string message) {
  TrainingEnd end;
  end.finish.state = trial::TrialState::failed;
  end.finish.kind = std::move(kind);
  end.finish.message = std::move(message);
  return end;
}

class Run {
 public:
  Run(const TrainingJob& job, Setup setup, const Meter& meter)
      : job_(job),
        plan_(job.config.privacy),
        mechanism_(job.parts.mechanism(job.config, job.key, job.journal, job.observer)),
        setup_(std::move(setup)),
        lengths_(*setup_.controller, setup_.network, job.parts.weight_step),
        weights_(setup_.network.parameters()),
        mean_(torch::zeros_like(weights_)),
        sum_(has_wide_sum() ? torch::zeros_like(weights_, weights_.options().dtype(setup_.sum_type)) : mean_),
        kept_weights_(mean_),
        average_(job.config.training),
        evaluation_(job, setup_, average_, kept_weights_),
        norms_(job.config, setup_.network.layout()),
        meter_(meter) {
    if (setup_.augmentation) setup_.train.augment(&*setup_.augmentation);
    for (auto* reader : {&setup_.validation, &setup_.test}) reader->stop_when(job_.stop_requested);
    for (auto& reader : setup_.ood_test) reader.stop_when(job_.stop_requested);
    if (job_.config.evaluation.recorded.distance && norms_are_released(job_.config))
      initial_ = weights_.clone();
  }

  Result<TrainingEnd> run() {
    auto checkpoints = job_.checkpoints != nullptr ? job_.checkpoints->read() : std::vector<Checkpoint>();
    for (auto key = Result<random::Key>(job_.key);;) {
      if (auto begun = begin(); !begun) return failure(begun.error().kind, begun.error().message);
      if (go_on_from(checkpoints)) {
        mechanism_->begin_attempt(*key, step_);
        checkpoints.clear();
        auto end = run_attempt();
        if (!end) return end.error();
        if (*end) return with_costs(std::move(**end));
        if (job_.checkpoints != nullptr) checkpoints = job_.checkpoints->read();
      } else {
        checkpoints.clear();
      }
      if (auto next = job_.journal.begin_next_attempt(points_of(checkpoints)); !next) return next.error();
      key = job_.next_key ? job_.next_key() : job_.key;
      if (!key) return key.error();
      restore_initial_weights();
    }
  }

 private:
  // Adds the costs of this run and of those that it goes on from.
  TrainingEnd with_costs(TrainingEnd end) const {
    (earlier_ + meter_.spent()).put_into(end.finish);
    return end;
  }

  // Begins at the state before step 0, except for the weights, which are as they were set up.
  boost::system::result<void, SetupFailure> begin() {
    setup_.clipping.constant = plan_.clipping.constant;
    average_.reset();
    norms_.reset();
    earlier_ = {};
    step_ = 0;
    return begin_run(job_.config, setup_);
  }

  // Goes on to the state that the journal's attempt begins with, which is one of `checkpoints`.
  // False if that one does not fit this version of the program.
  bool go_on_from(const std::vector<Checkpoint>& checkpoints) {
    const auto& point = job_.journal.resumed_from();
    if (job_.checkpoints != nullptr) job_.checkpoints->go_on_from(point.step);
    if (point.step == 0) return true;
    const auto found =
        std::ranges::find(checkpoints, point.place, [](const auto& one) { return one.point.place; });
    if (found == checkpoints.end() || !restore(found->state, state())) return false;
    earlier_ = {found->seconds, found->peak_bytes, found->device_peak_bytes};
    step_ = point.step;
    if (feature_mean_.defined()) centre_features(feature_mean_);
    return true;
  }

  RunState state() {
    return {.weights = weights_,
            .optimizer = *setup_.optimizer,
            .controller = *setup_.controller,
            .average = average_,
            .norms = norms_,
            .clipping_constant = setup_.clipping.constant,
            .feature_mean = feature_mean_,
            .direction = lengths_.slopes() != nullptr ? &direction_ : nullptr,
            .scalars = scalars_};
  }

  // Makes a checkpoint of the state before step step_.
  Result<Checkpoint> checkpoint() {
    auto point = job_.journal.point(step_);
    if (!point) return point.error();
    const auto spent = earlier_ + meter_.spent();
    return Checkpoint{.trial = job_.config.id(),
                      .point = std::move(*point),
                      .seconds = spent.seconds,
                      .peak_bytes = spent.peak_bytes,
                      .device_peak_bytes = spent.device_peak_bytes,
                      .state = saved(state())};
  }

  Result<void> write_checkpoint_if_due() {
    if (job_.checkpoints == nullptr || step_ == job_.checkpoints->last_step() ||
        !job_.checkpoints->is_due()) {
      return {};
    }
    auto now = checkpoint();
    if (!now) return now.error();
    if (now->state.bytes() > trial::kMostCopiedState) {
      job_.checkpoints->write(*now);
      return {};
    }
    now->state = now->state.copy();
    job_.checkpoints->write_beside(std::move(*now));
    return {};
  }

  static std::optional<TrainingEnd> stopped() { return TrainingEnd{.stopped = true, .finish = {}}; }

  std::optional<TrainingEnd> diverged() const {
    return failure("diverged", "The weights or the released losses are no longer finite after step " +
                                   std::to_string(step_) + ".");
  }

  // The state is the one before step step_.
  Result<std::optional<TrainingEnd>> stop() {
    if (job_.checkpoints == nullptr) return stopped();
    if (step_ != job_.checkpoints->last_step()) {
      const auto now = checkpoint();
      if (!now) return now.error();
      job_.checkpoints->write(*now);
    }
    // The hash that whoever goes on from there must reproduce (mechanism/journal.h).
    const bool has_hash = step_ == 0 || step_ == job_.config.steps || job_.journal.expected_hash(step_);
    if (has_hash || !plan_.is_private) return stopped();
    is_stopping_ = true;
    do_to_the_end();
    const auto next = step();
    if (!next) return next.error();
    return *next == Next::diverged ? diverged() : stopped();
  }

  // Made anew: a copy from before step 0 would cost a vector in every run for the sake of a rare
  // one.
  void restore_initial_weights() {
    auto again = set_up(job_.config, job_.dataset, job_.ood_test);
    HYFREEDP_CHECK(again, "what could be set up once can be set up again");
    weights_.copy_(again->network.parameters());
  }

  // Empty: a replayed step was not reproduced.
  Result<std::optional<TrainingEnd>> run_attempt() {
    const Tf32 tf32(job_.config.training.tf32);
    const auto& evaluation = job_.config.evaluation;
    if (step_ == 0) {
      if (auto released = release_before(); !released) return released.error();
    }
    for (;; ++step_) {
      if (auto written = write_checkpoint_if_due(); !written) return written.error();
      if (job_.stop_requested()) return stop();
      if (step_ == job_.config.steps) break;
      if (evaluation.every > 0 && step_ > 0 && step_ % evaluation.every == 0) {
        if (auto tested = evaluation_.record_test(step_); !tested) return tested.error();
        if (evaluation_.was_stopped()) return stop();
      }
      const auto next = step();
      if (!next) return next.error();
      if (*next == Next::stopped) return stop();
      if (*next == Next::replay_differs) return std::optional<TrainingEnd>();
      if (*next == Next::diverged) return diverged();
    }
    if (!take_free_step()) {
      return std::optional(failure("diverged", "The weights are no longer finite after the free step."));
    }
    if (job_.observer != nullptr) job_.observer->run_ended(weights_);
    if (auto concluded = evaluation_.conclude(*mechanism_); !concluded) return concluded.error();
    // After a free step the state before it is gone.
    if (evaluation_.was_stopped()) return has_free_step() ? stopped() : stop();
    auto end = finished();
    end.weights_problem = keep_final_weights();
    return std::optional(std::move(end));
  }

  // One more step along what the optimizer has kept, which releases nothing. A resumed run has its
  // steps done again, and this one after them. False where a weight is not finite.
  bool take_free_step() {
    const auto direction = setup_.optimizer->free_direction();
    return !direction.defined() || lengths_.step(weights_, direction, scalars_.at("eta"));
  }

  bool has_free_step() const { return setup_.optimizer->free_direction().defined(); }

  // Makes the releases of the whole split before step 0.
  Result<void> release_before() {
    for (const auto& release : mechanism::releases(plan_)) {
      if (release.schedule.when != mechanism::Schedule::When::before) continue;
      HYFREEDP_CHECK(job_.observer == nullptr, "an audit has no reference for releases before step 0");
      auto sum = whole_split_sum(release.purpose, plan_, setup_.sizes, job_.dataset.private_train);
      const mechanism::BoundedVector vector{sum, *release.sensitivity, sum};
      if (auto released = mechanism_->release(release.purpose, 0, vector, {}); !released) {
        return released.error();
      }
      if (release.purpose == trial::FeatureMean::kPurpose) centre_features(sum);
    }
    return {};
  }

  void centre_features(const Tensor& mean) {
    feature_mean_ = mean;
    for (auto* reader : {&setup_.train, &setup_.validation, &setup_.test}) reader->centre(mean);
    for (auto& reader : setup_.ood_test) reader.centre(mean);
  }

  // A step that has begun to release is done to its end; the stop is asked for all the same, as a
  // sign of life.
  void do_to_the_end() {
    setup_.train.stop_when([this] {
      static_cast<void>(job_.stop_requested());
      return false;
    });
  }

  Result<Next> step() {
    rows_ = mechanism_->rows(mechanism::followed(plan_), step_);
    if (setup_.augmentation) {
      mechanism_->draw(Purpose::augmentation, step_, [this](const auto& key, const auto& address) {
        setup_.augmentation->draw_from(key, address);
      });
    }
    if (!is_stopping_) setup_.train.stop_when(job_.stop_requested);
    see_batch();
    if (setup_.train.was_stopped()) return Next::stopped;
    do_to_the_end();
    const double rate = setup_.controller->learning_rate(step_);
    norms_.see_weights(weights_);
    auto released = setup_.zeroth_order ? release_change_and_advance(rate) : release_and_advance(rate);
    if (!released) return released.error();
    scalars_ = setup_.optimizer->scalars();
    if (has_slopes()) lengths_.follow_slopes(plan_, setup_.clipping.sensitivity(), scalars_);
    norms_.add_to(scalars_, step_ + 1 == job_.config.steps);
    if (initial_.defined()) {
      scalars_["distance"] = (weights_.to(torch::kFloat64) - initial_).norm().item<double>();
    }
    bool finite = true;
    if (setup_.controller->wants_probe(step_)) {
      const auto probed = probe();
      if (!probed) return probed.error();
      finite = *probed;
    }
    if (setup_.zeroth_order) scalars_["loss_slope"] = slope_;
    if (auto clipped = release_clipping(); !clipped) return clipped.error();

    const bool owns = setup_.optimizer->owns_step_size();
    const double eta = owns ? 1.0 : setup_.controller->learning_rate(step_);
    scalars_["eta"] = owns ? reported_eta(scalars_, rate) : eta;
    const bool diverged = !finite || !lengths_.fit(eta, weights_);
    const auto reproduced = mechanism_->end_step(step_, scalars_, diverged);
    if (!reproduced) return reproduced.error();
    if (!*reproduced) return Next::replay_differs;
    job_.progress(step_, scalars_);
    if (diverged || !lengths_.step(weights_, direction_, eta)) return Next::diverged;
    average_.observe(weights_, step_);
    return Next::go_on;
  }

  // Whether slopes are measured: there are none of the first step.
  bool has_slopes() const { return lengths_.slopes() != nullptr && step_ > 0; }

  // Computes what is needed of the batch before anything is released.
  void see_batch() {
    const bool wants_norms = plan_.clipping.adaptive || job_.config.evaluation.recorded.gradient_norms;
    if (!setup_.zeroth_order) {
      losses_ = job_.parts.clipped_sum(setup_.network, setup_.labels.loss, setup_.clipping, setup_.train,
                                       rows_, sum_, wants_norms ? &clipped_ : nullptr);
      return;
    }
    const auto& options = *setup_.zeroth_order;
    direction_of_step_.emplace(options.direction, direction_key(job_.config), step_, mean_);
    beside_ = losses_beside(setup_.network, setup_.labels.loss, *direction_of_step_, options.scale,
                            setup_.train, rows_, kept_weights_);
    if (!wants_norms || setup_.train.was_stopped()) return;
    clipped_.norms = (beside_.ahead - beside_.behind).abs();
    clipped_.clipped = clipped_.norms > plan_.clipping.sensitivity();
  }

  // Computes the optimizer's direction from the losses beside the weights: what they change by is
  // released, and the random direction, as long as that says, takes the gradient's place.
  Result<void> release_change_and_advance(double rate) {
    const double scale = setup_.zeroth_order->scale;
    const auto sum = job_.parts.change_sum(beside_.ahead, beside_.behind, plan_.clipping.sensitivity());
    const std::array<double, 2> sides{-scale, scale};
    mechanism::Origin origin{.rows = &rows_, .weights = &weights_};
    Tensor shown;
    if (job_.observer != nullptr) {
      shown = torch::zeros_like(weights_);
      direction_of_step_->add_to(shown, 1);
      origin.direction = &shown;
      origin.abscissas = sides;
    }
    const auto released = mechanism_->release(mechanism::kLossChange, step_, {&sum, 1}, origin);
    if (!released) return released.error();
    norms_.see_sum(torch::tensor({sum.sum}, torch::kFloat64));
    norms_.see_release(torch::tensor(*released, torch::kFloat64), plan_, sum.sensitivity);
    slope_ = released->front() / (2 * scale);
    if (std::isfinite(slope_)) {
      mean_.zero_();
      direction_of_step_->add_to(mean_, slope_);
    } else {
      mean_.fill_(slope_);
    }
    if (!direction_.defined()) direction_ = mean_;
    if (const auto advance = setup_.optimizer->advance_by_pieces(mean_, weights_, rate, direction_)) {
      at::parallel_for(0, mean_.numel(), mechanism::kReleaseBlock, advance);
      return {};
    }
    if (direction_.is_same(mean_)) direction_ = torch::empty_like(mean_);
    setup_.optimizer->advance(mean_, weights_, rate, direction_);
    return {};
  }

  // Computes the direction from the clipped sum, in one pass if the optimizer goes by pieces; an
  // observer is shown the whole release before anything uses it.
  Result<void> release_and_advance(double rate) {
    if (job_.observer == nullptr && !norms_.wanted()) {
      // If there are no probes, nothing looks at the mean after the direction is known, so it takes
      // the mean's place.
      if (!direction_.defined())
        direction_ = plan_.probe || lengths_.slopes() ? torch::empty_like(mean_) : mean_;
      if (const auto advance = setup_.optimizer->advance_by_pieces(mean_, weights_, rate, direction_)) {
        return release_mean(has_slopes() ? lengths_.slopes()->measuring(mean_, direction_, advance)
                                         : advance);
      }
    }
    if (!direction_.defined() || direction_.is_same(mean_)) direction_ = torch::empty_like(mean_);
    norms_.see_sum(sum_);
    if (auto released = release_mean(); !released) return released.error();
    norms_.see_release(mean_, plan_, setup_.clipping.sensitivity());
    if (has_slopes()) lengths_.slopes()->measure(mean_, direction_);
    setup_.optimizer->advance(mean_, weights_, rate, direction_);
    return {};
  }

  bool has_wide_sum() const { return setup_.sum_type != weights_.scalar_type(); }

  // mean_ from sum_.
  Result<void> release_mean(const mechanism::PieceWork& then = {}) {
    const auto released =
        mechanism_->release(mechanism::kGradient, step_, {sum_, setup_.clipping.sensitivity(), mean_},
                            {.rows = &rows_, .weights = &weights_}, then);
    return released ? Result<void>() : released.error();
  }

  // Adaptive clipping's second release of the batch, which gives the next step's threshold.
  Result<void> release_clipping() {
    if (job_.config.evaluation.recorded.gradient_norms) add_norm_summary(clipped_, scalars_);
    if (!plan_.clipping.adaptive) return {};
    double& threshold = setup_.clipping.constant;
    const mechanism::BoundedSum count{centred_clip_count(clipped_.norms, threshold),
                                      trial::kCountSensitivity};
    const auto fraction = mechanism_->release(mechanism::kClipCount, step_, {&count, 1},
                                              {.rows = &rows_, .weights = &weights_});
    if (!fraction) return fraction.error();
    scalars_["clip_threshold"] = threshold;
    scalars_["unclipped_fraction"] = fraction->front();
    threshold = next_threshold(*plan_.clipping.adaptive, threshold, fraction->front());
    return {};
  }

  // False where a private loss is not finite.
  Result<bool> probe() {
    const auto request = setup_.controller->request(step_);
    const auto& abscissas = request.abscissas;
    const auto fits_weights = [this](double x) { return fits(x, weights_); };
    if (plan_.is_private && !(std::isfinite(request.loss_bound) && std::isfinite(request.difference_bound)))
      return false;
    if (!std::all_of(abscissas.begin(), abscissas.end(), fits_weights)) return false;
    const auto losses = probe_losses(request);
    if (!losses) return losses.error();
    const bool paired = request.difference_bound > 0;
    const auto& release = mechanism_->release_of(mechanism::kProbe);
    // Laplace noise of scale 1 has the standard deviation sqrt(2).
    const double unit = release.noise == accounting::Noise::laplace ? std::sqrt(2.0) : 1.0;
    const double noised_bound = paired ? request.difference_bound : request.loss_bound;
    setup_.controller->observe(
        step_, {abscissas, *losses,
                plan_.is_private ? release.noise_multiplier * noised_bound * unit / release.divisor : 0.0});
    for (const auto& [name, value] : setup_.controller->scalars()) scalars_[name] = value;
    for (std::size_t k = 0; k < abscissas.size(); ++k) {
      if (abscissas[k] == 0) scalars_["private_loss"] = (*losses)[k];
      scalars_[fmt::format("probe_x.{}", k)] = abscissas[k];
      scalars_[fmt::format("probe_loss.{}", k)] = (*losses)[k];
    }
    return !plan_.is_private ||
           std::all_of(losses->begin(), losses->end(), [](double x) { return std::isfinite(x); });
  }

  Result<std::vector<double>> probe_losses(const optimizers::ProbeRequest& request) {
    const auto& abscissas = request.abscissas;
    const bool paired = plan_.is_private && request.difference_bound > 0;
    HYFREEDP_CHECK(!paired || job_.observer == nullptr, "the audit knows no paired release of losses");
    HYFREEDP_CHECK(request.difference_bound == 0 || abscissas.front() == 0,
                   "a paired release needs the loss at the weights first");
    const bool separate = mechanism_->release_of(mechanism::kProbe).batch != mechanism::kGradientBatch;
    const auto rows = separate ? mechanism_->rows(mechanism::kProbe, step_) : rows_;
    std::vector<mechanism::BoundedSum> sums;
    Tensor at_zero;  // paired
    const bool raw = job_.config.evaluation.recorded.raw_losses && rows.count > 0;
    for (const double x : abscissas) {
      const bool known = x == 0 && !separate && !other_precision();
      const auto losses = known ? losses_ : losses_along(rows, x);
      if (raw) add_raw_losses(losses, sums.size(), request.loss_bound);
      if (!plan_.is_private) {
        sums.push_back(exact_loss_sum(losses));
      } else if (paired && !sums.empty()) {
        sums.push_back(bounded_difference_sum(losses, at_zero, request.difference_bound));
      } else {
        sums.push_back(job_.parts.loss_sum(losses, request.loss_bound));
        if (paired) at_zero = losses;
      }
    }
    return mechanism_->release(
        mechanism::kProbe, step_, sums,
        {.rows = &rows, .weights = &weights_, .direction = &direction_, .abscissas = abscissas});
  }

  // The means of the batch whose sum is released, each loss clipped at the bound and as it is.
  void add_raw_losses(const Tensor& losses, std::size_t place, double bound) {
    const auto count = static_cast<double>(losses.numel());
    scalars_[fmt::format("raw_loss.{}", place)] = exact_loss_sum(losses).sum / count;
    if (!plan_.is_private) return;
    scalars_[fmt::format("clipped_loss.{}", place)] = bounded_loss_sum(losses, bound).sum / count;
  }

  // A probe compares losses, so all of one are computed alike: where its precision is another one
  // than the step's, the step's own losses are of no use to it.
  bool other_precision() const {
    return job_.config.training.probe_precision != job_.config.training.precision;
  }

  Tensor losses_along(const mechanism::Rows& rows, double abscissa) {
    DisplacedWeights displaced(weights_, kept_weights_);
    displaced.step_along(direction_, abscissa);
    const ComputeType type(setup_.network, job_.config.training.probe_precision);
    return losses_at_weights(setup_.network, setup_.labels.loss, setup_.train, rows);
  }

  // Keeps the weights. Says why not, if that failed: the run itself is over, and its results stand.
  std::string keep_final_weights() {
    if (job_.weights_folder.empty()) return "";
    FinalWeights final{.config = job_.config,
                       .input = setup_.input,
                       .network = setup_.network,
                       .values = has_free_step() ? "of the free step after the last" : "of the last step",
                       .attempt = job_.journal.attempt(),
                       .feature_mean = feature_mean_};
    try {
      const auto average = evaluation_.average();
      DisplacedWeights displaced(weights_, kept_weights_);
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

  TrainingEnd finished() const {
    TrainingEnd end;
    for (const auto& note : {setup_.optimizer->outcome(), setup_.controller->outcome()}) {
      if (!note.empty()) end.finish.notes.push_back(note);
    }
    // Finite weights may give numbers that are not; the row says so, for its accuracy is that of no
    // classifier.
    if (!evaluation_.is_last_finite()) end.finish.notes.emplace_back("test loss not finite");
    end.finish.counts = setup_.controller->decisions();
    return end;
  }

  const TrainingJob& job_;
  const trial::PrivacyPlan& plan_;
  std::unique_ptr<mechanism::Mechanism> mechanism_;
  Setup setup_;  // its clipping constant is the present step's
  StepLengths lengths_;
  Tensor& weights_;  // [d]; the network's own storage
  Tensor mean_;      // [d]: what the step released
  // [d]: the clipped sum. It is mean_ itself, or a float64 vector of its own
  // (harness/trial/sum_rounding.h).
  Tensor sum_;
  // [d]: the weights, while others are in their place. It is mean_ itself, which nobody reads any
  // more when weights are displaced.
  Tensor kept_weights_;
  Tensor direction_;   // [d]; may be mean_ where it is used once
  Tensor losses_;      // [realised batch]: at the weights; undefined where there are no gradients
  SideLosses beside_;  // in their place, where there are none
  std::optional<RandomDirection> direction_of_step_;  // likewise
  double slope_ = 0;                                  // likewise: released
  SampleClipping clipped_;
  WeightAverage average_;
  RunEvaluation evaluation_;
  StepNorms norms_;
  mechanism::Rows rows_;
  Tensor initial_;       // [d]: the weights before step 0, where their distance is asked for
  Tensor feature_mean_;  // undefined where none is released
  Scalars scalars_;
  std::int64_t step_ = 0;
  bool is_stopping_ = false;  // the present step is the last one of a run that stops
  const Meter& meter_;
  Spent earlier_;
};

Result<TrainingEnd> run_without_exceptions(const TrainingJob& job, const Meter& meter) {
  try {
    const torch::NoGradGuard no_gradients;
    auto setup = set_up(job.config, job.dataset, job.ood_test);
    if (!setup) return failure(setup.error().kind, setup.error().message);
    return Run(job, std::move(*setup), meter).run();
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
  const Meter meter(job.config.device);
  auto end = run_without_exceptions(job, meter);
  if (!end || end->stopped) return end;
  if (end->finish.seconds == 0) meter.spent().put_into(end->finish);  // it failed on the way
  if (auto written = job.journal.finish(end->finish); !written) return written.error();
  return end;
}

}  // namespace hyfreedp::training
