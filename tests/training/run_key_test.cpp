// Which key an attempt of a run draws under, and that no two attempts of an unseeded run share one.
#include "harness/mechanism/run_key.h"

#include <gtest/gtest.h>

#include "harness/random/key_file.h"
#include "harness/trial/event_tally.h"
#include "tests/training/fixtures.h"

namespace hyfreedp::training {
namespace run_key_test {

std::unique_ptr<mechanism::JournalWriter> journal_in(const TemporaryFolder& folder,
                                                     const trial::TrialConfig& config,
                                                     const std::string& key_file) {
  return mechanism::JournalWriter::open(folder.file(config.id() + ".jsonl"), config,
                                        fingerprint(config.device),
                                        mechanism::earlier_attempts(config, key_file).value())
      .value();
}

TEST(RunKey, OfASeededRunIsItsSeeds) {
  const TemporaryFolder folder;
  const auto config = small_config();
  const auto file = folder.file("a.key");
  const auto journal = journal_in(folder, config, file);
  EXPECT_EQ(run_key(config, file, *journal).value(), seeded_key(config));
  EXPECT_EQ(random::read_key(file).value()->label->nonce, mechanism::kSeededNonce);
  ASSERT_TRUE(journal->begin_next_attempt());
  EXPECT_EQ(run_key(config, file, *journal).value(), seeded_key(config));
  EXPECT_EQ(random::read_key(file).value()->label->nonce, journal->nonce());
  EXPECT_EQ(random::read_key(file).value()->label->attempt, 1);
  auto other = config;
  other.repetition = 1;
  const auto others = folder.file("b.key");
  EXPECT_NE(run_key(other, others, *journal_in(folder, other, others)).value(), seeded_key(config));
}

TEST(RunKey, OfASeededRunIsThatOfEachDevice) {
  auto config = small_config();
  const auto key = seeded_key(config);
  config.device = "cuda";
  EXPECT_EQ(seeded_key(config), key);
}

TEST(RunKey, OfAnUnseededRunIsInItsFileAndGoesWithTheJournal) {
  const TemporaryFolder folder;
  auto config = small_config();
  config.noise_seed.reset();
  EXPECT_FALSE(mechanism::earlier_attempts(config, ""));
  const auto file = folder.file("a.key");
  random::Key first;
  {
    const auto journal = journal_in(folder, config, file);
    EXPECT_FALSE(run_key(config, "", *journal));
    first = run_key(config, file, *journal).value();
    EXPECT_EQ(run_key(config, file, *journal).value(), first);
    EXPECT_NE(run_key(config, folder.file("b.key"), *journal).value(), first);
    const auto label = *mechanism::earlier_attempts(config, file)->key;
    EXPECT_EQ(label.nonce, journal->nonce());
    EXPECT_EQ(label.trial, config.id());
    EXPECT_EQ(trial::TrialConfig::from_json(label.config, "label")->id(), config.id());
    ASSERT_TRUE(journal->ensure_booked(0));
  }
  EXPECT_EQ(run_key(config, file, *journal_in(folder, config, file)).value(), first);
  const auto journal = journal_in(folder, config, file);
  ASSERT_TRUE(journal->begin_next_attempt());
  EXPECT_NE(run_key(config, file, *journal).value(), first);
  EXPECT_EQ(mechanism::earlier_attempts(config, file)->key->attempt, 1);
}

// The journal of an unseeded run, begun or gone on with; `stops`: after four steps.
mechanism::Journal run_unseeded(const trial::TrialConfig& config, const TemporaryFolder& folder, bool stops) {
  const auto key_file = folder.file("a.key");
  const auto path = folder.file(config.id() + ".jsonl");
  {
    const auto journal = journal_in(folder, config, key_file);
    const auto present_key = [&] { return run_key(config, key_file, *journal); };
    const auto dataset = data_of(config);
    int asked = 0;
    const auto end = train({.config = config,
                            .dataset = dataset,
                            .key = present_key().value(),
                            .journal = *journal,
                            .next_key = present_key,
                            .stop_requested = [&] { return stops && ++asked > 4; }});
    EXPECT_TRUE(end) << end.error().message;
  }
  return mechanism::read_journal(path).value();
}

TEST(RunKey, AReplayThatGoesAnotherWayDrawsUnderANewKey) {
  const TemporaryFolder folder;
  auto config = small_config();
  config.noise_seed.reset();
  const auto before = run_unseeded(config, folder, true);
  ASSERT_EQ(before.steps.size(), 4U);
  const auto first = random::read_key(folder.file("a.key")).value()->key;
  {
    const auto journal = journal_in(folder, config, folder.file("a.key"));
    ASSERT_TRUE(journal->step({2, "another", {}}, {"gradient"}));
  }
  const auto after = run_unseeded(config, folder, false);
  EXPECT_EQ(after.attempt, 1);
  EXPECT_EQ(after.nonces.size(), 2U);
  EXPECT_NE(random::read_key(folder.file("a.key")).value()->key, first);
  EXPECT_EQ(after.steps.size(), 12U);
  // Under the first key the second attempt's noise would be another one's too, but it must not be
  // that key at all.
  for (std::size_t step = 0; step < 4; ++step) EXPECT_NE(after.steps[step].hash, before.steps[step].hash);
  EXPECT_EQ(trial::EventTally(after.executed).events().size(), 1U);
  EXPECT_EQ(std::get<accounting::Batch>(trial::EventTally(after.executed).events()[0].what).count, 24);
}

}  // namespace run_key_test
}  // namespace hyfreedp::training
