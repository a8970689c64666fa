// Key and journal of an unseeded run belong together. Where they do not, no noise is used twice and
// no charge is lost.
#include <filesystem>
#include <gtest/gtest.h>

#include "harness/base/files.h"
#include "harness/mechanism/journal.h"
#include "harness/mechanism/journal_line.h"
#include "harness/mechanism/releases.h"
#include "harness/trial/event_tally.h"
#include "tests/trial/fixtures.h"

namespace hyfreedp::mechanism {
namespace journal_key_test {

using namespace trial;

const json::object kHere{{"device", "cpu"}, {"threads", 1}};
const json::object kElsewhere{{"device", "cpu"}, {"threads", 2}};

TrialConfig unseeded(std::int64_t steps = 1000) {
  auto config = private_config(steps);
  config.noise_seed.reset();
  return config;
}

// Journal and key file of one run, opened as a worker opens them.
class RunFiles {
 public:
  explicit RunFiles(TrialConfig config = unseeded()) : config_(std::move(config)) {}

  Result<std::unique_ptr<JournalWriter>> try_open(const json::object& fingerprint = kHere,
                                                  std::int64_t recorded = 0) {
    EarlierAttempts earlier{.recorded = recorded};
    if (const auto stored = random::read_key(key_path()).value()) {
      earlier.key = stored->label;
      earlier.has_old_key = !stored->label;
    }
    auto writer = JournalWriter::open(path(), config_, fingerprint, earlier);
    if (writer && !(earlier.key && earlier.key->nonce == (**writer).nonce())) put_key(**writer);
    return writer;
  }
  std::unique_ptr<JournalWriter> open(const json::object& fingerprint = kHere, std::int64_t recorded = 0) {
    auto writer = try_open(fingerprint, recorded);
    EXPECT_TRUE(writer) << writer.error().message;
    return std::move(*writer);
  }
  void put_key(const JournalWriter& writer) {
    EXPECT_TRUE(random::replace_key(key_path(), {.nonce = writer.nonce(),
                                                 .trial = config_.id(),
                                                 .attempt = writer.attempt(),
                                                 .config = config_.to_json()}));
  }
  // Steps [0, count), killed then.
  void execute(std::int64_t count, const json::object& fingerprint = kHere) {
    const auto writer = open(fingerprint);
    execute(*writer, count);
  }
  static void execute(JournalWriter& writer, std::int64_t count) {
    for (std::int64_t step = 0; step < count; ++step) {
      ASSERT_TRUE(writer.ensure_booked(step));
      ASSERT_TRUE(writer.step({step, "hash" + std::to_string(step), {}}, {"gradient"}));
    }
  }

  std::string path() const { return folder_.file("run.jsonl"); }
  std::string key_path() const { return folder_.file("run.key"); }
  void lose_journal() const { std::filesystem::remove(path()); }
  void lose_key() const { std::filesystem::remove(key_path()); }
  random::Key key() const { return random::read_key(key_path()).value()->key; }
  Journal journal() const { return read_journal(path()).value(); }
  std::int64_t charged() const { return charged_steps(journal()); }
  static std::int64_t charged_steps(const Journal& journal) {
    std::int64_t steps = 0;
    for (const auto& event : journal.executed) steps += std::get<accounting::Batch>(event.what).count;
    return steps;
  }

 private:
  TrialConfig config_;
  TemporaryFolder folder_;
};

TEST(JournalKey, AReplayUnderItsKeyIsTheSameRelease) {
  RunFiles run;
  run.execute(10);
  const auto key = run.key();
  const auto writer = run.open();
  EXPECT_EQ(writer->attempt(), 0);
  EXPECT_EQ(writer->expected_hash(9), "hash9");
  EXPECT_EQ(run.key(), key);
  EXPECT_EQ(run.charged(), 1000);
}

TEST(JournalKey, EveryAttemptHasAKeyOfItsOwn) {
  RunFiles run;
  run.execute(10);
  const auto first = run.key();
  run.execute(10, kElsewhere);
  const auto second = run.key();
  EXPECT_NE(second, first);
  const auto writer = run.open(kElsewhere);
  EXPECT_EQ(writer->attempt(), 1);
  EXPECT_EQ(run.key(), second);
  const auto nonce = writer->nonce();
  ASSERT_TRUE(writer->begin_next_attempt());
  EXPECT_NE(writer->nonce(), nonce);
  EXPECT_EQ(run.journal().nonces.size(), 3U);
  EXPECT_EQ(run.journal().lost, 0);
  EXPECT_EQ(run.charged(), 2 * 1000);
}

// However far the lost one came: to its end, each time.
TEST(JournalKey, AKeyThatHasLostItsJournalIsReplacedAndItsRunChargedWhole) {
  RunFiles run;
  run.execute(10);
  const auto key = run.key();
  run.lose_journal();
  run.execute(10);
  EXPECT_NE(run.key(), key);
  EXPECT_EQ(run.journal().attempt, 1);
  EXPECT_EQ(run.journal().lost, 1);
  EXPECT_EQ(run.charged(), 2 * 1000);
  // Going on, and going on elsewhere, loses none of it.
  run.execute(3);
  EXPECT_EQ(run.charged(), 2 * 1000);
  run.execute(3, kElsewhere);
  EXPECT_EQ(run.charged(), 3 * 1000);
  // Lost again, with all that it carried: three attempts.
  run.lose_journal();
  run.execute(3);
  EXPECT_EQ(run.journal().attempt, 3);
  EXPECT_EQ(run.charged(), 4 * 1000);
}

TEST(JournalKey, AScoreOfALostJournalIsChargedToo) {
  auto config = unseeded(4);
  config.evaluation.score = ScoreRelease{30};
  RunFiles run(config);
  run.execute(2);
  run.lose_journal();
  run.execute(2);
  const auto events = EventTally(run.journal().executed).events();
  ASSERT_EQ(events.size(), 2U);
  EXPECT_EQ(std::get<accounting::Batch>(events[0].what).count, 8);
  EXPECT_EQ(events[1].split, "private_validation");
}

// An older copy of the journal, or another folder's, does not have the key's nonce.
TEST(JournalKey, AnotherJournalInItsPlaceIsFound) {
  RunFiles run;
  run.execute(10);
  const auto older = read_file(run.path()).value();
  run.execute(10, kElsewhere);
  ASSERT_TRUE(write_file_atomically(run.path(), older));
  run.execute(10);
  EXPECT_EQ(run.journal().attempt, 2);
  EXPECT_EQ(run.charged(), 4 * 1000);
}

TEST(JournalKey, WithoutItsKeyTheNextAttemptBegins) {
  RunFiles run;
  run.execute(10);
  run.lose_key();
  const auto writer = run.open();
  EXPECT_EQ(writer->attempt(), 1);
  EXPECT_FALSE(writer->expected_hash(0));
  RunFiles::execute(*writer, 3);
  EXPECT_EQ(run.charged(), 2 * 1000);
}

TEST(JournalKey, WhatNothingWasBookedUnderCostsNothing) {
  RunFiles run;
  run.open();
  const auto key = run.key();
  run.lose_key();
  const auto writer = run.open();
  EXPECT_EQ(writer->attempt(), 0);
  EXPECT_NE(run.key(), key);
  EXPECT_EQ(run.charged(), 0);
}

// The start line is on the disk before the key: killed between the two, the key is still the one of
// the attempt before.
TEST(JournalKey, KilledBetweenStartLineAndKeyLosesNothing) {
  RunFiles run;
  run.execute(10);
  const auto stored = random::read_key(run.key_path()).value();
  {
    const auto writer = run.open();
    ASSERT_TRUE(writer->begin_next_attempt());
  }
  const auto writer = run.open();
  EXPECT_EQ(writer->attempt(), 1);
  EXPECT_NE(run.key(), stored->key);
  EXPECT_EQ(run.journal().lost, 0);
  EXPECT_EQ(run.charged(), 1000);
}

TEST(JournalKey, WhatTheDatabaseRecordedAndTheJournalHasNotIsCharged) {
  RunFiles run;
  run.execute(10);
  run.lose_journal();
  run.lose_key();
  {
    const auto writer = run.open(kHere, 1);
    EXPECT_EQ(writer->attempt(), 1);
    EXPECT_EQ(run.charged(), 1000);
    RunFiles::execute(*writer, 3);
  }
  // It has it from now on, and so has the key.
  const auto writer = run.open(kHere, 2);
  EXPECT_EQ(writer->attempt(), 1);
  EXPECT_EQ(run.charged(), 2 * 1000);
}

// An attempt that booked nothing after one that did: the database counts both, and none of them is
// lost.
TEST(JournalKey, WhatTheJournalHasIsNotChargedAgainForTheDatabase) {
  RunFiles run;
  run.execute(10);
  run.open(kElsewhere);
  run.lose_key();
  const auto writer = run.open(kElsewhere, 2);
  EXPECT_EQ(run.journal().lost, 0);
  EXPECT_EQ(run.charged(), 1000);
}

TEST(JournalKey, AKeyOfAnotherTrialIsRefused) {
  RunFiles run;
  run.execute(2);
  const auto stored = random::read_key(run.key_path()).value();
  auto label = *stored->label;
  label.trial = "another";
  ASSERT_TRUE(random::replace_key(run.key_path(), label));
  const auto refused = run.try_open();
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("made for another one"), std::string::npos)
      << refused.error().message;
}

void write_old_key(const std::string& path) {
  ASSERT_TRUE(write_file_atomically(path, "hyfreedp key 1\n" + std::string(64, 'a') + "\n", 0600));
}

// Of version 0.6: no nonce anywhere. What it booked stays charged; nothing more is drawn under its
// key.
TEST(JournalKey, AJournalOfAnOlderVersionIsContinuedUnderANewKey) {
  RunFiles run;
  const auto config = unseeded();
  std::string text, checksum;
  for (const json::object& line :
       {json::object{{"type", "start"},
                     {"trial", config.id()},
                     {"attempt", 0},
                     {"config", config.to_json()},
                     {"fingerprint", kHere},
                     {"unix_time", 1}},
        json::object{{"type", "book"}, {"attempt", 0}, {"first", 0}, {"count", 128}},
        json::object{
            {"type", "step"}, {"attempt", 0}, {"step", 0}, {"hash", "h"}, {"scalars", json::object{}}}}) {
    const auto sealed = seal_line(line, checksum);
    text += sealed.text + "\n";
    checksum = sealed.checksum;
  }
  ASSERT_TRUE(write_file_atomically(run.path(), text));
  write_old_key(run.key_path());
  const auto old_key = run.key();
  const auto writer = run.open();
  EXPECT_EQ(writer->attempt(), 1);
  EXPECT_NE(run.key(), old_key);
  RunFiles::execute(*writer, 3);
  EXPECT_EQ(run.charged(), 2 * 1000);
}

TEST(JournalKey, AKeyOfAnOlderVersionThatHasLostItsJournalIsRefused) {
  RunFiles run;
  write_old_key(run.key_path());
  const auto refused = run.try_open();
  ASSERT_FALSE(refused);
  for (const char* part : {"the journal is missing", "version 0.6", "--fresh"}) {
    EXPECT_NE(refused.error().message.find(part), std::string::npos) << refused.error().message;
  }
}

// A journal of a seeded run, and how often each attempt is charged whole in it.
class SeededJournal : public testing::Test {
 protected:
  random::KeyLabel key_of(std::int64_t attempt) const {
    return {.nonce = attempt == 0 ? kSeededNonce : "nonce " + std::to_string(attempt),
            .trial = config_.id(),
            .attempt = attempt,
            .config = config_.to_json()};
  }
  std::unique_ptr<JournalWriter> open(const EarlierAttempts& earlier = {}) const {
    return JournalWriter::open(path_, config_, kHere, earlier).value();
  }
  std::map<std::string, std::int64_t> charged() const {
    std::map<std::string, std::int64_t> times;
    for (const auto& attempt : read_journal(path_).value().charged)
      times[attempt.name] += EventTally(events_of({attempt})).contains(EventTally(events(config_)));
    return times;
  }

  const TemporaryFolder folder_;
  const TrialConfig config_ = private_config(1000);
  const std::string path_ = folder_.file("a.jsonl");
};

// Attempt 0 is made again; of those after it the key alone tells.
TEST_F(SeededJournal, ThatIsLostIsChargedTheLaterAttemptsWhole) {
  std::string last;
  {
    const auto writer = open({.key = key_of(2)});
    EXPECT_EQ(writer->attempt(), 0);
    RunFiles::execute(*writer, 2);
    ASSERT_TRUE(writer->begin_next_attempt());
    EXPECT_EQ(writer->attempt(), 3);
    RunFiles::execute(*writer, 2);
    last = writer->nonce();
  }
  EXPECT_EQ(charged(),
            (std::map<std::string, std::int64_t>{{kSeededNonce, 1}, {"", 1}, {"nonce 2", 1}, {last, 1}}));
}

// So is an older copy with which the attempt goes on.
TEST_F(SeededJournal, ThatIsAnOlderCopyIsChargedTheLaterAttempts) {
  RunFiles::execute(*open(), 2);
  for (const std::int64_t attempt : {1, 1, 2}) {
    const auto writer = open({.key = key_of(attempt)});
    EXPECT_EQ(writer->attempt(), 0);
    RunFiles::execute(*writer, 2);
  }
  EXPECT_EQ(charged(), (std::map<std::string, std::int64_t>{
                           {kSeededNonce, 1}, {"nonce 1", 1}, {"", 1}, {"nonce 2", 1}}));
}

// Each may have begun at another step, so that none is another's release.
TEST_F(SeededJournal, ItsLaterAttemptsHaveNamesOfTheirOwn) {
  std::set<std::string> names;
  for (int times = 0; times < 3; ++times) {
    std::filesystem::remove(path_);
    const auto writer = open();
    EXPECT_EQ(writer->nonce(), kSeededNonce);
    ASSERT_TRUE(writer->begin_next_attempt());
    EXPECT_EQ(writer->attempt(), 1);
    EXPECT_EQ(read_journal(path_).value().nonce, writer->nonce());
    names.insert(writer->nonce());
  }
  EXPECT_EQ(names.size(), 3U);
}

TEST_F(SeededJournal, RefusesAnotherRunsKey) {
  auto key = key_of(0);
  key.trial = "another";
  EXPECT_FALSE(JournalWriter::open(path_, config_, kHere, {.key = key}));
}

TEST(JournalKey, ASeededRunCountsItsAttemptsAndIsRepeatedAsItIs) {
  RunFiles run(private_config(1000));
  const TemporaryFolder folder;
  const auto path = folder.file("a.jsonl");
  {
    const auto writer = JournalWriter::open(path, private_config(1000), kHere, {.recorded = 3}).value();
    EXPECT_EQ(writer->attempt(), 0);
    EXPECT_EQ(writer->nonce(), kSeededNonce);
    RunFiles::execute(*writer, 2);
    ASSERT_TRUE(writer->begin_next_attempt());
    EXPECT_EQ(writer->attempt(), 3) << "others had the numbers before";
  }
  EXPECT_EQ(read_journal(path).value().attempt, 3);
  const auto text = read_file(path).value();
  EXPECT_EQ(text.find("lost"), std::string::npos);
}

}  // namespace journal_key_test
}  // namespace hyfreedp::mechanism
