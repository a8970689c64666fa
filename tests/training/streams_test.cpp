// Which draws a run makes: every release has the noise and every batch the coins of its own
// address, in each attempt. With nobody in a batch a release is its noise, which the key alone
// determines, so that it can be written down here.
#include <gtest/gtest.h>

#include "harness/mechanism/batches.h"
#include "harness/mechanism/release/noised_vector.h"
#include "harness/training/adaptive_clipping.h"
#include "harness/training/whole_split.h"
#include "optimizers/learning_rate.h"
#include "tests/training/fixtures.h"

namespace hyfreedp::training {
namespace streams_test {

using random::Purpose;
using torch::Tensor;

class Recorder : public mechanism::Observer {
 public:
  void vector_released(const mechanism::VectorSeen& seen) override {
    rows.push_back(*seen.origin.rows);
    released.push_back(seen.released.clone());
  }
  void values_released(const mechanism::ValuesSeen& seen) override {
    probe_rows[seen.step] = *seen.origin.rows;
  }
  void run_ended(const Tensor& last) override { weights = last.clone(); }

  std::vector<Rows> rows;
  std::vector<Tensor> released;
  std::map<std::int64_t, Rows> probe_rows;
  Tensor weights;
};

// Attempt 1 is that of a run which another machine had begun.
mechanism::Journal journal_of(const trial::TrialConfig& config, std::int64_t attempt,
                              mechanism::Observer* observer = nullptr) {
  const TemporaryFolder folder;
  const auto path = folder.file("a.jsonl");
  if (attempt == 1) {
    EXPECT_TRUE(mechanism::JournalWriter::open(path, config, {{"device", "another machine"}}));
  }
  {
    const auto writer = mechanism::JournalWriter::open(path, config, fingerprint(config.device)).value();
    EXPECT_EQ(writer->attempt(), attempt);
    const auto dataset = data_of(config);
    const auto end = train({.config = config,
                            .dataset = dataset,
                            .key = seeded_key(config),
                            .journal = *writer,
                            .observer = observer})
                         .value();
    EXPECT_EQ(end.finish.state, trial::TrialState::finished) << end.finish.message;
  }
  return mechanism::read_journal(path).value();
}

Tensor gradient_noise(const trial::TrialConfig& config, std::int64_t step, std::int64_t attempt,
                      double scale) {
  auto noise = torch::zeros({27});
  random::add_normals(seeded_key(config), address_of(Purpose::gradient_noise, step, attempt), 0, scale,
                      std::span<float>(noise.data_ptr<float>(), 27));
  return noise.div_(config.privacy.batch_size);
}

std::vector<double> normals(const trial::TrialConfig& config, Purpose purpose, std::int64_t step,
                            std::int64_t attempt, std::size_t count) {
  std::vector<double> z(count);
  random::fill_normals(seeded_key(config), address_of(purpose, step, attempt), 0, z);
  return z;
}

// Gradient, losses and clip count; the threshold of a step and the bound of a probe are those that
// earlier releases gave.
void expect_noise_alone(const trial::TrialConfig& config, std::int64_t attempt) {
  const auto journal = journal_of(config, attempt);
  const auto& privacy = config.privacy;
  double threshold = privacy.clipping.constant;
  double bound = 1;
  for (const auto& record : journal.steps) {
    std::vector<double> released;
    if (record.step % privacy.probe->interval == 0) {
      for (const double z : normals(config, Purpose::probe_noise, record.step, attempt, 3)) {
        released.push_back(privacy.probe->noise * bound * z / privacy.probe->batch_size);
      }
      bound = record.scalars.at("R_l");
    }
    const double z = normals(config, Purpose::clip_count_noise, record.step, attempt, 1)[0];
    released.push_back(
        noised({0, trial::kCountSensitivity}, privacy.clipping.adaptive->count_noise, privacy.batch_size, z) +
        0.5);
    const auto gradient = gradient_noise(config, record.step, attempt, privacy.gradient_noise * threshold);
    EXPECT_EQ(record.hash, release_hash(gradient, released)) << record.step << " attempt " << attempt;
    threshold = next_threshold(*privacy.clipping.adaptive, threshold, released.back());
  }
}

TEST(Streams, EveryReleaseHasTheNoiseOfItsOwnAddress) {
  for (const bool in_one_pass : {true, false}) {
    auto config = probing_config(false);
    config.privacy.sample_rate = 1e-9;
    config.privacy.clipping.rule = trial::ClippingRule::adaptive;
    config.privacy.clipping.constant = 0.5;
    config.privacy.clipping.adaptive =
        trial::AdaptiveThreshold{.quantile = 0.5, .rate = 0.3, .count_noise = 6};
    config.privacy.probe->batch_size = 40;  // the divisor of losses is not the gradient's
    config.evaluation.recorded.released_norms = !in_one_pass;
    for (const std::int64_t attempt : {0, 1}) expect_noise_alone(config, attempt);
  }
}

// Loss k of a paired probe is the first one and a difference whose noise is draw k of the step, at
// the difference's bound.
TEST(Streams, EachDifferenceOfAPairedProbeHasADrawOfItsOwn) {
  for (const bool separate : {false, true}) {
    auto config = probing_config(separate);
    config.privacy.sample_rate = 1e-9;
    if (separate) config.privacy.probe->sample_rate = 1e-9;
    config.controller = controller_named(
        "hyfreedp", {{"eta0", 0.05}, {"R_l0", 10.0}, {"release", "paired"}, {"difference_share", 0.25}});
    const auto& probe = *config.privacy.probe;
    for (const std::int64_t attempt : {0, 1}) {
      const auto journal = journal_of(config, attempt);
      double bound = 10;
      int probes = 0;
      for (const auto& record : journal.steps) {
        if (record.step % probe.interval != 0) continue;
        ++probes;
        const auto z = normals(config, Purpose::probe_noise, record.step, attempt, 3);
        const double unit = probe.noise * bound / probe.batch_size;
        const auto loss = [&](int k) { return record.scalars.at("probe_loss." + std::to_string(k)); };
        EXPECT_NEAR(loss(0), unit * z[0], 1e-12) << record.step;
        for (const int k : {1, 2}) {
          EXPECT_NEAR(loss(k) - loss(0), 0.25 * unit * z[static_cast<std::size_t>(k)], 1e-12)
              << record.step << " loss " << k;
        }
        bound = record.scalars.at("R_l");
      }
      EXPECT_EQ(probes, 3);
    }
  }
}

TEST(Streams, TheFeatureMeanHasItsAttemptsNoise) {
  auto config = small_config(2);
  config.privacy.sample_rate = 1e-9;
  config.privacy.asked.feature_mean = trial::FeatureMean{.norm = 2.5, .noise = 8};
  const auto key = seeded_key(config);
  for (const std::int64_t attempt : {0, 1}) {
    auto nobody = torch::zeros({27});
    auto digest = release_gradient(config.privacy, key, 0, attempt, nobody);
    digest.bytes += release_hash(
        release_feature_mean(config.privacy, key, attempt, data_of(config).private_train.features), {});
    EXPECT_EQ(journal_of(config, attempt).steps.at(0).hash, release_hash(digest, {})) << attempt;
  }
}

// What is added to the number of correct predictions is the score's own noise at the booked scale.
TEST(Streams, AScoreHasTheNoiseOfItsAttempt) {
  auto config = small_config();
  config.evaluation = {.oracle_validation = true, .score = trial::ScoreRelease{20}};
  for (const std::int64_t attempt : {0, 1}) {
    const auto journal = journal_of(config, attempt);
    const double z = normals(config, Purpose::score_noise, config.steps, attempt, 1)[0];
    EXPECT_NEAR(metric_of(journal, "private_validation", "score"),
                metric_of(journal, "private_validation", "accuracy") + 20 * z / 200, 1e-12);
  }
}

// By losses too: sum and noise are divided by the number of records.
TEST(Streams, AScoreOfLossesHasTheNoiseOfItsAttempt) {
  auto config = small_config();
  config.evaluation = {.score = trial::ScoreRelease{1e-6, 0.7}};
  const double bare = metric_of(journal_of(config, 0), "private_validation", "score");
  EXPECT_GT(bare, 0);
  EXPECT_LT(bare, 1);
  // So much noise that the scores themselves, at most 200 in all, are nothing beside it.
  config.evaluation.score->noise_counts = 1e9;
  for (const std::int64_t attempt : {0, 1}) {
    const double z = normals(config, Purpose::score_noise, config.steps, attempt, 1)[0];
    const double score = metric_of(journal_of(config, attempt), "private_validation", "score");
    EXPECT_NEAR(score * 200 / 1e9, z, 200 / 1e9);
  }
}

TEST(Streams, BatchesAreThoseOfTheRunsKeyAndAttempt) {
  for (const bool separate : {false, true}) {
    auto config = probing_config(separate);
    const auto key = seeded_key(config);
    for (const std::int64_t attempt : {0, 1}) {
      Recorder seen;
      journal_of(config, attempt, &seen);
      ASSERT_EQ(seen.rows.size(), 12U);
      for (std::int64_t step = 0; step < 12; ++step) {
        const auto expected = gradient_rows(config.privacy, key, step, attempt);
        EXPECT_EQ(seen.rows[static_cast<std::size_t>(step)].indices, expected.indices);
        if (step % 5 != 0) continue;
        EXPECT_EQ(seen.probe_rows.at(step).indices,
                  separate ? probe_rows(config.privacy, key, step, attempt).indices : expected.indices);
      }
    }
  }
}

// Weights that hardly move: what differs from step to step is the augmentation alone.
TEST(Streams, AugmentationsAreDrawnAnewInEachStepAndAttempt) {
  auto config = exact_config(3);
  use_example(config, **models::find_model("resnet"));
  config.model.options["last_layer"] = "he";
  config.privacy.sampler = trial::Sampler::full_batch;
  config.privacy.sample_rate = 1;
  config.privacy.batch_size = 600;
  config.controller = controller_named("constant", {{"lr", 1e-20}});
  const auto releases = [&](std::int64_t attempt) {
    Recorder seen;
    journal_of(config, attempt, &seen);
    return seen.released;
  };
  const auto differ = [](const Tensor& one, const Tensor& other) {
    return (one - other).norm().item<double>() > 1e-3 * one.norm().item<double>();
  };
  const auto plain = releases(0);
  EXPECT_FALSE(differ(plain[0], plain[1])) << "the weights moved";
  EXPECT_FALSE(differ(plain[0], releases(1)[0]));
  config.training.augmentation = {.copies = 2, .flip = true, .shift = 2};
  const auto first = releases(0);
  EXPECT_TRUE(differ(first[0], first[1]));
  EXPECT_TRUE(differ(first[1], first[2]));
  EXPECT_TRUE(differ(first[0], releases(1)[0]));
}

// A batch of one: its clipped gradient is as long as the threshold of its step, so long as the
// threshold is below its norm.
TEST(Streams, EachStepIsClippedAtItsOwnThreshold) {
  auto config = exact_config(40);
  config.privacy.sample_rate = 1.0 / 600;
  config.privacy.batch_size = 1;
  config.privacy.clipping.rule = trial::ClippingRule::adaptive;
  config.privacy.clipping.constant = 1e-3;
  config.privacy.clipping.adaptive = trial::AdaptiveThreshold{.quantile = 0.5, .rate = 0.1, .count_noise = 0};
  config.controller = controller_named("constant", {{"lr", 1e-4}});
  Recorder seen;
  const auto journal = journal_of(config, 0, &seen);
  int singles = 0;
  double largest = 0;
  for (std::size_t step = 0; step < 40; ++step) {
    if (seen.rows[step].count != 1) continue;
    ++singles;
    const double threshold = journal.steps[step].scalars.at("clip_threshold");
    EXPECT_NEAR(seen.released[step].norm().item<double>() / threshold, 1, 1e-5) << step;
    largest = std::max(largest, threshold);
  }
  EXPECT_GT(singles, 5);
  EXPECT_GT(largest, 1.2e-3) << "the threshold never moved";
}

// A replay that went another way begins from nothing: its outcome is that of a run whose first
// attempt never was.
TEST(Streams, ARestartForgetsTheAttemptBefore) {
  auto adaptive = small_config();
  adaptive.privacy.clipping.rule = trial::ClippingRule::adaptive;
  adaptive.privacy.clipping.constant = 0.01;
  adaptive.privacy.clipping.adaptive =
      trial::AdaptiveThreshold{.quantile = 0.5, .rate = 0.3, .count_noise = 6};
  auto averaged = small_config();
  averaged.training.average = trial::Average::ema;  // a plain mean forgets by itself
  averaged.training.average_from = 4;
  auto centred = small_config();
  centred.privacy.asked.feature_mean = trial::FeatureMean{.norm = 2.5, .noise = 8};
  auto normed = small_config();
  normed.evaluation.recorded.released_norms = true;
  for (const auto& config : {adaptive, averaged, centred, normed, probing_config(false)}) {
    SCOPED_TRACE(canonical_json(config.to_json()));
    const auto hashes = hashes_of(journal_of(config, 0));
    const auto expected = journal_of(config, 1);
    const TemporaryFolder folder;
    const auto path = folder.file("a.jsonl");
    {
      auto writer = mechanism::JournalWriter::open(path, config, fingerprint("cpu")).value();
      for (std::int64_t step = 0; step < 7; ++step) {
        ASSERT_TRUE(writer->ensure_booked(step));
        const auto& hash = hashes.at(static_cast<std::size_t>(step));
        ASSERT_TRUE(writer->step({step, step < 6 ? hash : "another", {}}, {"gradient"}));
      }
    }
    run_once(config, path);
    const auto again = mechanism::read_journal(path).value();
    EXPECT_EQ(again.attempt, 1);
    EXPECT_EQ(hashes_of(again), hashes_of(expected));
    EXPECT_EQ(metric_of(again, "test", "loss"), metric_of(expected, "test", "loss"));
    EXPECT_EQ(again.steps.back().scalars, expected.steps.back().scalars);
  }
}

// The controller is handed the released losses and the scale of their noise: one that is handed the
// same does the same.
TEST(Streams, AControllerFollowsFromWhatWasReleased) {
  for (const char* name : {"hyfreedp", "hyfreedp-plus"}) {
    auto config = probing_config(true, 31);
    config.controller = controller_named(name);
    const auto journal = journal_of(config, 0);
    auto controller = optimizers::make_controller(name, config.controller.options).value();
    controller->begin({.steps = 31, .dimension = 27, .classes = 3});
    for (const auto& record : journal.steps) {
      if (record.step % 5 == 0) {
        const auto request = controller->request(record.step);
        std::vector<double> losses;
        for (std::size_t k = 0; k < 3; ++k) {
          const auto number = std::to_string(k);
          EXPECT_EQ(request.abscissas.at(k), record.scalars.at("probe_x." + number));
          losses.push_back(record.scalars.at("probe_loss." + number));
        }
        const auto& probe = *config.privacy.probe;
        controller->observe(record.step,
                            {request.abscissas, losses, probe.noise * request.loss_bound / probe.batch_size});
        for (const auto& [scalar, value] : controller->scalars()) {
          EXPECT_EQ(record.scalars.at(scalar), value) << name << ' ' << scalar;
        }
      }
      EXPECT_EQ(record.scalars.at("eta"), controller->learning_rate(record.step)) << record.step;
    }
    EXPECT_EQ(journal.finish->counts, controller->decisions()) << name;
  }
}

}  // namespace streams_test
}  // namespace hyfreedp::training
