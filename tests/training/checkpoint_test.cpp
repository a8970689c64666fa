// A run that is stopped and goes on from its checkpoint is the undisturbed run, bit for bit, and
// charged the same; elsewhere it is a new attempt from there.
#include "harness/training/checkpoint.h"

#include <filesystem>
#include <fstream>
#include <sys/stat.h>

#include "harness/base/files.h"
#include "harness/mechanism/releases.h"
#include "tests/training/resumable.h"

namespace hyfreedp::training {
namespace checkpoint_test {

namespace fs = std::filesystem;
using torch::Tensor;

// Stopped where an evaluation is due, where a probe is, after the first step, and before the end.
TEST(Checkpoint, EveryStateGoesOnToTheSameBitsAndTheSamePrice) {
  for (const auto& config : every_state()) {
    SCOPED_TRACE(canonical_json(config.to_json()));
    const auto whole = undisturbed(config);
    Resumable run(config);
    std::int64_t done = 0;
    for (const std::int64_t steps : {1, 3, 1, 5}) {
      ASSERT_TRUE(run.run(steps).stopped);
      EXPECT_EQ(run.problem_, "");
      EXPECT_EQ(run.from_, done);
      EXPECT_EQ(run.done_, steps + (config.privacy.is_private ? 1 : 0)) << "of the state's next step";
      done += steps;
    }
    ASSERT_FALSE(run.run().stopped);
    EXPECT_EQ(run.from_, 10);
    EXPECT_EQ(run.done_, config.steps - 10);
    EXPECT_EQ(run.journal().attempt, 0);
    expect_same_outcome(run.journal(), whole);
    EXPECT_EQ(events_of(run.journal()), events_of(whole));
  }
}

// The finish line says what all steps released, and not those of the last run alone.
TEST(Checkpoint, TheFinishLineHasWhatEarlierRunsReleased) {
  const auto last_line = [](const std::string& path) {
    const auto text = read_file(path).value();
    return text.substr(text.rfind("\"released\""), text.rfind(",\"seconds\"") - text.rfind("\"released\""));
  };
  Resumable whole(probing_config(true)), run(probing_config(true));
  whole.run();
  run.run(7);
  run.run();
  EXPECT_EQ(last_line(run.journal_path()), last_line(whole.journal_path()));
}

// A crash: what came after the latest one is repeated, as the same releases.
TEST(Checkpoint, LosesAtMostTheIntervalAndKeepsTwo) {
  const auto config = small_config(400);
  Resumable run(config);
  run.run(300, 1e-9);
  // The last one was written by the stop; a crash would have left the two before it.
  const auto files = run.files();
  EXPECT_EQ(files.size(), 2U);
  EXPECT_TRUE(std::ranges::find(files, "300.checkpoint") != files.end());
  fs::remove(run.checkpoints() + "/300.checkpoint");
  run.run(-1, 1e-9);
  EXPECT_GT(run.from_, 0);
  EXPECT_LT(run.from_, 300);
  EXPECT_EQ(run.journal().attempt, 0);
  expect_same_outcome(run.journal(), undisturbed(config));
  EXPECT_EQ(events_of(run.journal()), events_of(undisturbed(config)));
}

// Without its last step line, as after a crash between the checkpoint and that line.
std::string without_last_line(const std::string& text) {
  return text.substr(0, text.rfind('\n', text.size() - 2) + 1);
}

// Two copies of one state whose sums are computed differently would release both under the same
// noise. So the first step from a state must have a hash to reproduce.
TEST(Checkpoint, WithoutAHashToReproduceTheOneBeforeIsUsed) {
  const auto config = small_config(60);
  Resumable run(config);
  run.run(20);
  run.run(20);
  const auto text = read_file(run.journal_path()).value();
  std::ofstream(run.journal_path(), std::ios::trunc) << without_last_line(text);
  run.run();
  EXPECT_EQ(run.from_, 20);
  EXPECT_EQ(run.journal().attempt, 0);
  expect_same_outcome(run.journal(), undisturbed(config));
}

TEST(Checkpoint, UnderNewNoiseNoHashIsNeeded) {
  const auto config = small_config(60);
  Resumable run(config);
  run.run(20);
  const auto text = read_file(run.journal_path()).value();
  std::ofstream(run.journal_path(), std::ios::trunc) << without_last_line(text);
  run.fingerprint_["arithmetic"] = "other sums";
  run.run();
  EXPECT_EQ(run.from_, 20);
  EXPECT_EQ(run.journal().attempt, 1);
}

// A state after the last step goes on to an evaluation. Where that releases a noised score there is
// no hash of it, and the last step is done again.
TEST(Checkpoint, AfterTheLastStepIsUsedUnlessAScoreFollows) {
  for (const bool scores : {false, true}) {
    auto config = small_config(30);
    if (scores) config.evaluation.score = trial::ScoreRelease{.noise_counts = 5};
    const auto whole = undisturbed(config);
    Resumable run(config);
    run.run(20);
    run.run(10);
    ASSERT_TRUE(fs::exists(run.checkpoints() + "/30.checkpoint"));
    run.run();
    EXPECT_EQ(run.from_, scores ? 20 : 30);
    expect_same_outcome(run.journal(), whole);
  }
}

TEST(Checkpoint, AfterADamagedOneTheRunGoesOnFromTheOneBefore) {
  const auto config = small_config(60);
  for (const char* how : {"cut", "changed", "empty", "of another trial"}) {
    SCOPED_TRACE(how);
    Resumable run(config);
    run.run(20);
    run.run(20);
    ASSERT_EQ(run.files(), (std::vector<std::string>{"20.checkpoint", "40.checkpoint"}));
    const auto path = run.checkpoints() + "/40.checkpoint";
    auto text = read_file(path).value();
    if (std::string(how) == "cut") text.pop_back();
    if (std::string(how) == "changed") text[text.size() / 2] ^= 1;
    if (std::string(how) == "empty") text.clear();
    if (std::string(how) == "of another trial") {
      auto other = read_checkpoint(path).value();
      other.trial = "another";
      ASSERT_TRUE(write_checkpoint(path, other));
    } else {
      std::ofstream(path, std::ios::trunc | std::ios::binary) << text;
    }
    run.run();
    EXPECT_EQ(run.from_, 20);
    expect_same_outcome(run.journal(), undisturbed(config));
  }
}

// The journal alone books what a state depends on.
TEST(Checkpoint, IsOfNoUseWithoutItsPlaceInTheJournal) {
  const auto config = small_config(60);
  Resumable run(config);
  run.run(20);
  const auto early = read_file(run.journal_path()).value();
  run.run(20);
  std::ofstream(run.journal_path(), std::ios::trunc) << early;  // an older copy was put back
  run.run(10);
  EXPECT_EQ(run.from_, 20);
  Resumable other(config);
  other.run(10);
  fs::remove(other.journal_path());
  other.run();
  EXPECT_EQ(other.from_, 0);
  expect_same_outcome(other.journal(), undisturbed(config));
}

// After a run that began anew, a state of the run before is not the run's any more.
TEST(Checkpoint, OfACourseThatWasLeftIsNotUsed) {
  const auto config = small_config(60);
  Resumable run(config);
  run.run(30);
  const auto kept = read_file(run.checkpoints() + "/30.checkpoint").value();
  ASSERT_TRUE(remove_folder(run.checkpoints()));
  run.fingerprint_["cpu"] = "another machine";
  run.run(10);
  EXPECT_EQ(run.journal().attempt, 1);
  std::ofstream(run.checkpoints() + "/30.checkpoint", std::ios::binary) << kept;
  run.run(1);
  EXPECT_EQ(run.from_, 10);
}

// On another machine: a new attempt from the checkpoint, under new noise. All that the first
// attempt booked is charged, and of the second the steps from there.
TEST(Checkpoint, ElsewhereItIsTheNextAttemptFromThere) {
  auto config = probing_config(true, 300);
  Resumable run(config);
  run.run(100);
  run.fingerprint_["cpu"] = "another machine";
  run.run(50);
  EXPECT_EQ(run.from_, 100);
  const auto middle = run.journal();
  EXPECT_EQ(middle.attempt, 1);
  EXPECT_EQ(middle.steps.size(), 151U);
  run.run();
  EXPECT_EQ(run.from_, 150);
  const auto journal = run.journal();
  EXPECT_EQ(journal.attempt, 1);
  ASSERT_EQ(journal.steps.size(), 300U);
  const auto whole = undisturbed(config);
  for (std::size_t step = 0; step < 300; ++step) {
    EXPECT_EQ(journal.steps[step].hash == whole.steps[step].hash, step < 100) << step;
  }
  ASSERT_EQ(journal.charged.size(), 2U);
  // The first attempt had booked ahead: 128 steps, and from step 64 on another 128.
  EXPECT_TRUE(are_same(journal.charged[0].events, mechanism::events(config.privacy, 0, 256)));
  EXPECT_TRUE(are_same(journal.charged[1].events, mechanism::events(config.privacy, 100, 200)));
}

// The same attempt cannot go on before its first step: its noise there was never booked.
TEST(Checkpoint, WithoutTheOneThatAnAttemptBeganFromTheNextBeginsAnew) {
  const auto config = small_config(60);
  Resumable run(config);
  run.run(30);
  run.fingerprint_["cpu"] = "another machine";
  run.run(10);
  ASSERT_TRUE(remove_folder(run.checkpoints()));
  run.run();
  EXPECT_EQ(run.from_, 0);
  const auto journal = run.journal();
  EXPECT_EQ(journal.attempt, 2);
  EXPECT_EQ(journal.starts, 3) << "the attempt was begun anew at its step 0 first";
  ASSERT_EQ(journal.charged.size(), 3U);
  EXPECT_TRUE(are_same(journal.charged[2].events, mechanism::events(config)));
}

// A replay that differs becomes the next attempt from the checkpoint that the run had gone on from.
TEST(Checkpoint, AReplayThatDiffersGoesOnFromItUnderNewNoise) {
  const auto config = small_config(60);
  Resumable run(config);
  run.run(20);
  {
    Checkpoints checkpoints(run.checkpoints(), config.id(), {});
    auto writer = mechanism::JournalWriter::open(run.journal_path(), config, run.fingerprint_, {},
                                                 points_of(checkpoints.read()))
                      .value();
    ASSERT_EQ(writer->resumed_from().step, 20);
    ASSERT_TRUE(writer->ensure_booked(20));
    ASSERT_TRUE(writer->step({20, "not what this machine makes", {}}, {"gradient"}));
  }
  run.run();
  const auto journal = run.journal();
  EXPECT_EQ(journal.attempt, 1);
  EXPECT_EQ(journal.finish->state, trial::TrialState::finished);
  ASSERT_EQ(journal.charged.size(), 2U);
  EXPECT_TRUE(are_same(journal.charged[1].events, mechanism::events(config.privacy, 20, 40)));
  const auto whole = undisturbed(config);
  EXPECT_EQ(journal.steps[19].hash, whole.steps[19].hash);
  EXPECT_NE(journal.steps[20].hash, whole.steps[20].hash);
}

// Values of other rules, as after a change of the program: the run begins anew.
TEST(Checkpoint, OfOtherRulesIsNotUsed) {
  const auto config = small_config(30);
  Resumable run(config);
  run.run(10);
  const auto path = run.checkpoints() + "/10.checkpoint";
  auto changed = read_checkpoint(path).value();
  ASSERT_GT(std::erase_if(changed.state.scalars,
                          [](const auto& one) { return one.first.starts_with("optimizer/"); }),
            0U);
  ASSERT_TRUE(write_checkpoint(path, changed));
  run.run();
  const auto journal = run.journal();
  EXPECT_EQ(journal.attempt, 1);
  EXPECT_EQ(journal.finish->state, trial::TrialState::finished);
  EXPECT_EQ(journal.steps.size(), 30U);
}

// A stop within a step whose gradients are being summed writes the state before it, of which
// nothing was released, and does the step from there.
TEST(Checkpoint, AStopWithinAStepBeginsItAgain) {
  auto config = small_config(12);
  config.training.microbatch = 7;
  const auto whole = undisturbed(config);
  Resumable run(config);
  Checkpoints checkpoints(run.checkpoints(), config.id(), {});
  auto journal = mechanism::JournalWriter::open(run.journal_path(), config, run.fingerprint_).value();
  const auto dataset = data_of(config);
  int asked = 0;
  const auto end = train({.config = config,
                          .dataset = dataset,
                          .key = seeded_key(config),
                          .journal = *journal,
                          .stop_requested = [&] { return ++asked > 33; },
                          .checkpoints = &checkpoints});
  ASSERT_TRUE(end->stopped);
  journal.reset();
  const auto stopped = run.journal();
  ASSERT_GT(stopped.steps.size(), 1U);
  ASSERT_LT(stopped.steps.size(), 12U);
  // The step that was given up is the one more that a stop does.
  EXPECT_EQ(checkpoints.last_step(), static_cast<std::int64_t>(stopped.steps.size()) - 1);
  run.run();
  EXPECT_EQ(run.from_, static_cast<std::int64_t>(stopped.steps.size()) - 1);
  expect_same_outcome(run.journal(), whole);
}

TEST(Checkpoint, CountsTheTimeOfAllRuns) {
  Resumable run(small_config(30));
  run.run(10);
  const auto path = run.checkpoints() + "/10.checkpoint";
  auto later = read_checkpoint(path).value();
  EXPECT_GT(later.seconds, 0);
  EXPECT_GT(later.peak_bytes, 0);
  later.seconds = 3600;
  later.peak_bytes = std::int64_t{1} << 50;
  ASSERT_TRUE(write_checkpoint(path, later));
  const auto end = run.run();
  EXPECT_GT(end.finish.seconds, 3600);
  EXPECT_LT(end.finish.seconds, 3700);
  EXPECT_EQ(end.finish.peak_bytes, std::int64_t{1} << 50);
}

TEST(Checkpoint, OnlyItsOwnerMayReadIt) {
  Resumable run(small_config(30));
  run.run(10);
  struct stat found = {};
  ASSERT_EQ(::stat(run.checkpoints().c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777U, 0700U);
  ASSERT_EQ(::stat((run.checkpoints() + "/10.checkpoint").c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777U, 0600U);
}

TEST(Checkpoint, ThatCannotBeWrittenDoesNotFailTheRun) {
  Resumable run(small_config(30));
  std::ofstream(run.checkpoints()) << "a file in the folder's place";
  EXPECT_EQ(run.run(-1, 1e-9).finish.state, trial::TrialState::finished);
  EXPECT_NE(run.problem_.find("checkpoints"), std::string::npos) << run.problem_;
}

}  // namespace checkpoint_test
}  // namespace hyfreedp::training
