#include "harness/mechanism/journal.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>

#include "harness/base/files.h"
#include "harness/trial/event_tally.h"
#include "tests/trial/fixtures.h"

namespace hyfreedp::mechanism {
namespace journal_test {

using namespace trial;

const json::object kHere{{"device", "cpu"}, {"threads", 1}};
const json::object kElsewhere{{"device", "cpu"}, {"threads", 2}};

std::int64_t charged_steps(const Journal& journal) {
  std::int64_t steps = 0;
  for (const auto& event : journal.executed) {
    const auto& batch = std::get<accounting::Batch>(event.what);
    if (batch.releases.at(0).purpose == "gradient") steps += batch.count;
  }
  return steps;
}

std::unique_ptr<JournalWriter> open(const std::string& path, const TrialConfig& config,
                                    const json::object& fingerprint = kHere) {
  auto writer = JournalWriter::open(path, config, fingerprint);
  EXPECT_TRUE(writer) << writer.error().message;
  return std::move(*writer);
}

void run_steps(JournalWriter& writer, std::int64_t first, std::int64_t end) {
  for (auto step = first; step < end; ++step) {
    ASSERT_TRUE(writer.ensure_booked(step));
    ASSERT_TRUE(writer.step({step, "hash" + std::to_string(step), {{"eta", 0.5}}}, {"gradient"}));
  }
}

TEST(Journal, AFinishedTrialIsChargedWhatItExecuted) {
  const TemporaryFolder folder;
  const auto path = folder.file("a.jsonl");
  const auto config = private_config(250);
  {
    auto writer = open(path, config);
    run_steps(*writer, 0, 250);
    ASSERT_TRUE(writer->book_score(30, "private_validation"));
    ASSERT_TRUE(writer->metric({250, "test", "accuracy", 0.87, Visibility::test}));
    ASSERT_TRUE(writer->finish({.state = TrialState::finished, .seconds = 1.5, .counts = {{"accepted", 3}}}));
  }
  const auto journal = read_journal(path);
  ASSERT_TRUE(journal) << journal.error().message;
  EXPECT_EQ(journal->trial, config.id());
  EXPECT_EQ(journal->steps.size(), 250U);
  EXPECT_EQ(journal->steps.at(7).scalars.at("eta"), 0.5);
  EXPECT_EQ(charged_steps(*journal), 250);
  ASSERT_EQ(journal->executed.size(), 2U);
  EXPECT_EQ(journal->executed[1].split, "private_validation");
  ASSERT_TRUE(journal->finish.has_value());
  EXPECT_EQ(journal->finish->counts.at("accepted"), 3);
  EXPECT_EQ(journal->metrics.at(0).value, 0.87);
}

// What a finished journal says was released, and whether it is read.
bool is_read_with(const TrialConfig& config,
                  const std::vector<std::pair<std::int64_t, std::set<std::string>>>& made) {
  const TemporaryFolder folder;
  {
    auto writer = open(folder.file("a.jsonl"), config);
    for (const auto& [step, purposes] : made) {
      EXPECT_TRUE(writer->ensure_booked(step));
      EXPECT_TRUE(writer->step({step, "hash", {}}, purposes));
    }
    EXPECT_TRUE(writer->finish({.state = TrialState::finished}));
  }
  const auto journal = read_journal(folder.file("a.jsonl"));
  if (!journal) {
    EXPECT_NE(journal.error().message.find("what the run cost"), std::string::npos)
        << journal.error().message;
  }
  return journal.has_value();
}

TEST(Journal, AReleaseOutsideThePlanMakesItInvalid) {
  auto config = private_config(20);
  config.privacy.asked.feature_mean = FeatureMean{.norm = 1, .noise = 10};
  config.privacy.probe = ProbePlan{
      .separate_batch = false, .sample_rate = 0, .batch_size = 1000, .noise = 9, .points = 3, .interval = 5};
  EXPECT_TRUE(is_read_with(config, {{0, {"feature-mean", "gradient", "probe"}},
                                    {1, {"gradient"}},
                                    {2, {"gradient"}},
                                    {5, {"gradient", "probe"}},
                                    {15, {"gradient", "probe"}}}));
  EXPECT_FALSE(is_read_with(config, {{0, {"gradient"}}, {0, {"gradient"}}})) << "twice";
  EXPECT_FALSE(is_read_with(config, {{0, {"gradient", "labels"}}})) << "not in the plan";
  EXPECT_FALSE(is_read_with(config, {{0, {"gradient"}}, {4, {"gradient", "probe"}}})) << "not at this step";
  EXPECT_FALSE(is_read_with(config, {{0, {"probe"}}, {3, {"probe"}}, {6, {"probe"}}})) << "not so often";
  EXPECT_FALSE(is_read_with(config, {{1, {"feature-mean", "gradient"}}})) << "not before step 0";
}

TEST(Journal, ACrashIsChargedAsPlanned) {
  const TemporaryFolder folder;
  const auto path = folder.file("a.jsonl");
  auto config = private_config(1000);
  config.evaluation.score = ScoreRelease{30};
  { const auto writer = open(path, config); }
  EXPECT_EQ(read_journal(path)->executed.size(), 0U) << "it may have released nothing";
  { run_steps(*open(path, config), 0, 3); }
  const auto journal = read_journal(path).value();
  EXPECT_FALSE(journal.finish.has_value());
  const auto events = EventTally(journal.executed).events();
  ASSERT_EQ(events.size(), 2U);
  EXPECT_EQ(std::get<accounting::Batch>(events[0].what).count, 1000);
  EXPECT_EQ(events[1].split, "private_validation");
}

// Whoever kills a run before its first checkpoint, and sees what it released, has as many releases
// of the first steps as there were attempts.
TEST(Journal, EachAttemptThatIsBegunAnewIsChargedAsPlanned) {
  const TemporaryFolder folder;
  const auto path = folder.file("a.jsonl");
  const auto config = private_config(1000);
  for (std::int64_t machine = 0; machine < 4; ++machine) {
    auto writer = open(path, config, {{"device", "cpu"}, {"threads", machine}});
    run_steps(*writer, 0, 3);
    if (machine == 3) {
      ASSERT_TRUE(writer->finish({.state = TrialState::failed, .kind = "killed"}));
    }
  }
  EXPECT_EQ(charged_steps(read_journal(path).value()), 4 * 1000);
}

// After 210 steps; returns the state after 200.
ResumePoint killed_after_a_state(const std::string& path, const TrialConfig& config,
                                 const json::object& fingerprint = kHere) {
  const auto writer = open(path, config, fingerprint);
  run_steps(*writer, 0, 200);
  const auto state = writer->point(200).value();
  run_steps(*writer, 200, 210);
  return state;
}

// Whether the attempt that goes on comes to its end or not.
TEST(Journal, AnAttemptThatTheNextGoesOnFromIsChargedWhatItBooked) {
  for (const bool is_finished : {false, true}) {
    const TemporaryFolder folder;
    const auto path = folder.file("a.jsonl");
    const auto config = private_config(400);
    const auto state = killed_after_a_state(path, config);
    auto writer = JournalWriter::open(path, config, kElsewhere, {}, {state}).value();
    ASSERT_EQ(writer->attempt(), 1);
    run_steps(*writer, 200, is_finished ? 400 : 203);
    if (is_finished) {
      ASSERT_TRUE(writer->finish({.state = TrialState::finished}));
    }
    const auto journal = read_journal(path).value();
    ASSERT_EQ(journal.charged.size(), 2U);
    const auto steps_of = [](const ChargedAttempt& attempt) {
      return std::get<accounting::Batch>(EventTally(events_of({attempt})).events().at(0).what).count;
    };
    EXPECT_GE(steps_of(journal.charged[0]), 210);
    EXPECT_LT(steps_of(journal.charged[0]), 400);
    EXPECT_EQ(steps_of(journal.charged[1]), 200);
  }
}

// A run that went on under other code was made by none of the two alone.
TEST(Journal, SaysWhereARunWentOnUnderOtherCode) {
  const auto with_code = [](const char* optimizer) {
    auto fingerprint = kElsewhere;
    fingerprint["code"] = json::object{{"engine", "one"}, {"optimizer", optimizer}};
    return fingerprint;
  };
  for (const bool is_begun_anew : {false, true}) {
    const TemporaryFolder folder;
    const auto path = folder.file("a.jsonl");
    const auto config = private_config(400);
    const auto state = killed_after_a_state(path, config, with_code("old"));
    std::vector<ResumePoint> states;
    if (!is_begun_anew) states.push_back(state);
    auto writer = JournalWriter::open(path, config, with_code("new"), {}, states).value();
    ASSERT_EQ(writer->resumed_from().step > 0, !is_begun_anew);
    const auto journal = read_journal(path).value();
    EXPECT_EQ(journal.code.at("engine"), "one");
    EXPECT_EQ(journal.code.at("optimizer"), is_begun_anew ? "new" : "several");
    EXPECT_EQ(journal.fingerprint.at("code").at("optimizer"), "new") << "for whether the next may go on";
  }
}

// It may not go on: the checkpoint may not fit another version of the program.
TEST(Journal, AnAttemptThatBooksNothingHasNotGoneOn) {
  const TemporaryFolder folder;
  const auto path = folder.file("a.jsonl");
  const auto config = private_config(400);
  const auto state = killed_after_a_state(path, config);
  const auto writer = JournalWriter::open(path, config, kElsewhere, {}, {state}).value();
  EXPECT_EQ(writer->resumed_from().step, 200);
  EXPECT_EQ(charged_steps(read_journal(path).value()), 400);
  ASSERT_TRUE(writer->begin_next_attempt());
  EXPECT_EQ(charged_steps(read_journal(path).value()), 400);
  run_steps(*writer, 0, 3);
  EXPECT_EQ(charged_steps(read_journal(path).value()), 2 * 400);
}

// A trial of 500 steps and a score.
TrialConfig diverge_after_three_steps(const std::string& path) {
  auto config = private_config(500);
  config.evaluation.score = ScoreRelease{30};
  auto writer = open(path, config);
  run_steps(*writer, 0, 3);
  EXPECT_TRUE(writer->finish({.state = TrialState::failed, .kind = "diverged"}));
  return config;
}

TEST(Journal, ADivergedTrialIsChargedToItsEnd) {
  const TemporaryFolder folder;
  const auto path = folder.file("a.jsonl");
  diverge_after_three_steps(path);
  const auto journal = read_journal(path);
  ASSERT_TRUE(journal);
  ASSERT_EQ(journal->executed.size(), 2U);
  EXPECT_EQ(std::get<accounting::Batch>(journal->executed[0].what).count, 500);
  EXPECT_EQ(journal->executed[1].split, "private_validation");
}

// Where it stopped depends on the data, whatever is run after it.
TEST(Journal, ADivergedAttemptStaysChargedToItsEnd) {
  for (const auto& next : {kHere, kElsewhere}) {
    const TemporaryFolder folder;
    const auto path = folder.file("a.jsonl");
    const auto config = diverge_after_three_steps(path);
    { run_steps(*open(path, config, next), 0, 3); }
    const auto journal = read_journal(path).value();
    std::int64_t scores = 0;
    std::int64_t steps = 0;
    for (const auto& event : journal.executed) {
      const auto count = std::get<accounting::Batch>(event.what).count;
      (event.split == "private_validation" ? scores : steps) += count;
    }
    EXPECT_EQ(scores, next == kHere ? 1 : 2);
    EXPECT_EQ(steps, next == kHere ? 500 : 500 + 500);
  }
}

TEST(Journal, ALaterAttemptIsBookedAnew) {
  const TemporaryFolder folder;
  const auto path = folder.file("a.jsonl");
  auto writer = open(path, private_config(600));
  run_steps(*writer, 0, 300);
  ASSERT_TRUE(writer->begin_next_attempt());
  run_steps(*writer, 0, 10);
  EXPECT_GE(charged_steps(read_journal(path).value()), 310);
}

TEST(Journal, OnlyItsOwnerReadsIt) {
  const TemporaryFolder folder;
  const auto path = folder.file("a.jsonl");
  { const auto writer = open(path, private_config(4)); }
  EXPECT_EQ(std::filesystem::status(path).permissions() & std::filesystem::perms::mask,
            std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
}

TEST(Journal, AReplayOnTheSameMachineIsNotChargedAgain) {
  const TemporaryFolder folder;
  const auto path = folder.file("a.jsonl");
  const auto config = private_config(40);
  {
    auto writer = open(path, config);
    run_steps(*writer, 0, 10);
  }
  {
    auto writer = open(path, config);
    EXPECT_EQ(writer->attempt(), 0);
    EXPECT_EQ(writer->expected_hash(9), "hash9");
    EXPECT_FALSE(writer->expected_hash(10).has_value());
    run_steps(*writer, 0, 40);
    ASSERT_TRUE(writer->finish({.state = TrialState::finished}));
  }
  const auto journal = read_journal(path);
  ASSERT_TRUE(journal);
  EXPECT_EQ(charged_steps(*journal), 40);
  EXPECT_EQ(journal->steps.size(), 40U);  // of the last run only
}

TEST(Journal, AnotherMachineStartsTheNextAttemptAndBothAreCharged) {
  const TemporaryFolder folder;
  const auto path = folder.file("a.jsonl");
  const auto config = private_config(40);
  {
    auto writer = open(path, config);
    run_steps(*writer, 0, 10);
  }
  {
    auto writer = open(path, config, kElsewhere);
    EXPECT_EQ(writer->attempt(), 1);
    EXPECT_FALSE(writer->expected_hash(0).has_value());
    run_steps(*writer, 0, 40);
    ASSERT_TRUE(writer->finish({.state = TrialState::finished}));
  }
  const auto journal = read_journal(path);
  ASSERT_TRUE(journal);
  EXPECT_EQ(charged_steps(*journal), 80);  // the first attempt had booked all 40
}

TEST(Journal, ADivergedReplayStartsTheNextAttempt) {
  const TemporaryFolder folder;
  const auto path = folder.file("a.jsonl");
  const auto config = private_config(20);
  auto writer = open(path, config);
  run_steps(*writer, 0, 5);
  ASSERT_TRUE(writer->begin_next_attempt());
  EXPECT_EQ(writer->attempt(), 1);
  run_steps(*writer, 0, 20);
  ASSERT_TRUE(writer->finish({.state = TrialState::finished}));
  const auto journal = read_journal(path);
  ASSERT_TRUE(journal);
  EXPECT_EQ(charged_steps(*journal), 40);
}

TEST(Journal, ATornLastLineIsCutOff) {
  const TemporaryFolder folder;
  const auto path = folder.file("a.jsonl");
  const auto config = private_config(40);
  {
    auto writer = open(path, config);
    run_steps(*writer, 0, 5);
  }
  const auto before = read_file(path).value();
  for (const std::size_t lost : {1U, 2U, 20U, 60U}) {
    ASSERT_TRUE(write_file_atomically(path, before.substr(0, before.size() - lost)));
    const auto journal = read_journal(path);
    ASSERT_TRUE(journal) << journal.error().message;
    EXPECT_EQ(journal->steps.size(), lost == 1 ? 5U : 4U) << "of the newline alone nothing depends";
    auto writer = open(path, config);
    run_steps(*writer, 0, 40);
    ASSERT_TRUE(writer->finish({.state = TrialState::finished}));
    EXPECT_EQ(charged_steps(read_journal(path).value()), 40);
  }
}

TEST(Journal, AChangedLineIsFound) {
  const TemporaryFolder folder;
  const auto path = folder.file("a.jsonl");
  {
    auto writer = open(path, private_config(40));
    run_steps(*writer, 0, 5);
  }
  auto text = read_file(path).value();
  const auto at = text.find("hash2");
  text[at + 4] = '9';
  ASSERT_TRUE(write_file_atomically(path, text));
  const auto journal = read_journal(path);
  ASSERT_FALSE(journal);
  EXPECT_NE(journal.error().message.find("checksum"), std::string::npos) << journal.error().message;
}

TEST(Journal, ASecondWriterIsRefused) {
  const TemporaryFolder folder;
  const auto path = folder.file("a.jsonl");
  const auto config = private_config(40);
  const auto first = open(path, config);
  const auto second = JournalWriter::open(path, config, kHere);
  ASSERT_FALSE(second);
  EXPECT_NE(second.error().message.find("another process"), std::string::npos);
}

TEST(Journal, AnotherTrialsJournalIsRefused) {
  const TemporaryFolder folder;
  const auto path = folder.file("a.jsonl");
  { const auto writer = open(path, private_config(40)); }
  const auto other = JournalWriter::open(path, private_config(41), kHere);
  ASSERT_FALSE(other);
  EXPECT_NE(other.error().message.find("another trial"), std::string::npos);
}

// A run that has a journal again from its start line on has touched the data all the same.
TEST(Journal, WhatARunBegunAnewHadDoneBeforeIsRemembered) {
  const TemporaryFolder folder;
  const auto path = folder.file("a.jsonl");
  const auto config = private_config(250);
  {
    const auto writer = open(path, config);
    run_steps(*writer, 0, 5);
    ASSERT_TRUE(writer->metric({4, "private_validation", "accuracy", 0.5, Visibility::confidential}));
  }
  EXPECT_FALSE(read_journal(path)->has_undone_steps);
  open(path, config, kElsewhere);
  const auto journal = read_journal(path).value();
  EXPECT_TRUE(journal.steps.empty());
  EXPECT_TRUE(journal.metrics.empty());
  EXPECT_TRUE(journal.has_undone_steps);
  EXPECT_EQ(journal.undone_splits, std::set<std::string>{"private_validation"});
}

TEST(Journal, AScoreIsBookedOnceAnAttempt) {
  const TemporaryFolder folder;
  const auto path = folder.file("a.jsonl");
  const auto config = private_config(2);
  for (int run = 0; run < 2; ++run) {
    auto writer = open(path, config);
    run_steps(*writer, 0, 2);
    ASSERT_TRUE(writer->book_score(30, "private_validation"));
  }
  EXPECT_EQ(read_journal(path)->executed.size(), 2U);
}

// The replay computes another value (evaluated elsewhere, say); released is what was released
// before.
TEST(Journal, AReplayReleasesTheScoreThatWasReleased) {
  const TemporaryFolder folder;
  const auto path = folder.file("a.jsonl");
  const auto config = private_config(2);
  const auto score_of = [&](double computed) {
    auto writer = open(path, config);
    run_steps(*writer, 0, 2);
    EXPECT_TRUE(writer->book_score(30, "private_validation"));
    EXPECT_TRUE(writer->metric({2, "private_validation", "score", computed, Visibility::released}));
    EXPECT_TRUE(writer->metric({2, "test", "accuracy", computed, Visibility::test}));
    return read_journal(path).value().metrics;
  };
  EXPECT_EQ(score_of(0.8125).at(0).value, 0.8125);
  const auto replayed = score_of(0.9);
  EXPECT_EQ(replayed.at(0).value, 0.8125);
  EXPECT_EQ(replayed.at(1).value, 0.9);
  // New noise, booked anew: its own score.
  auto writer = open(path, config);
  ASSERT_TRUE(writer->begin_next_attempt());
  run_steps(*writer, 0, 2);
  ASSERT_TRUE(writer->book_score(30, "private_validation"));
  ASSERT_TRUE(writer->metric({2, "private_validation", "score", 0.7, Visibility::released}));
  const auto journal = read_journal(path).value();
  EXPECT_EQ(journal.metrics.at(0).value, 0.7);
  EXPECT_EQ(std::count_if(journal.executed.begin(), journal.executed.end(),
                          [](const auto& event) { return event.split == "private_validation"; }),
            2);
}

TEST(Journal, EachEventNamesTheSplitItTouched) {
  const TemporaryFolder folder;
  const auto path = folder.file("a.jsonl");
  auto config = private_config(10);
  config.privacy.probe = ProbePlan{.batch_size = 1000, .noise = 5, .interval = 5};
  auto writer = open(path, config);
  run_steps(*writer, 0, 10);
  ASSERT_TRUE(writer->book_score(30, "private_validation"));
  for (const auto& event : read_journal(path).value().executed) {
    const auto& batch = std::get<accounting::Batch>(event.what);
    const bool is_score = batch.releases.at(0).purpose == "score";
    EXPECT_EQ(event.split, is_score ? "private_validation" : "private_train");
    EXPECT_EQ(batch.sample_rate, is_score ? 1.0 : 0.02);
  }
}

TEST(Journal, ConfigAndIdentitySurvive) {
  auto config = private_config(7);
  config.evaluation.score = ScoreRelease{30};
  const auto back =
      TrialConfig::from_json(parse_json(canonical_json(config.to_json()), "test").value(), "test");
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(back->id(), config.id());
  auto repeated = config;
  repeated.repetition = 1;
  EXPECT_NE(repeated.id(), config.id());
}

// "Writes bookings of 128 steps, up to 192 steps in advance": to the step, at each boundary.
TEST(Journal, BooksEachPieceAtItsStep) {
  const TemporaryFolder folder;
  const auto path = folder.file("a.jsonl");
  auto writer = open(path, private_config(400));
  const std::map<std::int64_t, std::int64_t> booked_after = {{0, 128},   {1, 128},   {63, 128},  {64, 256},
                                                             {65, 256},  {127, 256}, {128, 256}, {191, 256},
                                                             {192, 384}, {319, 384}, {320, 400}, {399, 400}};
  std::int64_t done = 0;
  for (const auto& [step, expected] : booked_after) {
    run_steps(*writer, done, step + 1);
    done = step + 1;
    const auto text = read_file(path).value();
    const auto last = text.rfind("\"type\":\"book\"");
    const auto line =
        text.substr(text.rfind('\n', last) + 1, text.find('\n', last) - text.rfind('\n', last) - 1);
    const auto book = parse_json(line, "line").value().as_object();
    EXPECT_EQ(book.at("first").as_int64() + book.at("count").as_int64(), expected) << step;
  }
}

}  // namespace journal_test
}  // namespace hyfreedp::mechanism
