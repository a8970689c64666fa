// A journal that is read while it is written: at every moment what a reader of the whole file
// finds. What is charged is so far what was booked, where a reader of the whole file takes the run
// as one that goes no further.
#include "harness/mechanism/journal_follower.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>

#include "harness/accounting/event.h"
#include "harness/base/files.h"
#include "tests/trial/fixtures.h"

namespace hyfreedp::mechanism {
namespace journal_follower_test {

using namespace trial;

constexpr std::size_t kAll = std::size_t{1} << 30;

void expect_same(const JournalFollower& follower, const Journal& whole) {
  const auto& followed = follower.journal();
  EXPECT_EQ(followed.trial, whole.trial);
  EXPECT_EQ(followed.steps.size(), whole.steps.size());
  EXPECT_EQ(followed.metrics.size(), whole.metrics.size());
  EXPECT_EQ(followed.finish.has_value(), whole.finish.has_value());
  if (whole.finish) {
    EXPECT_EQ(canonical_json(accounting::events_to_json({.events = follower.charged()})),
              canonical_json(accounting::events_to_json({.events = whole.executed})));
  } else {
    const auto charged = std::get<accounting::Batch>(follower.charged().at(0).what).count;
    const auto steps = static_cast<std::int64_t>(whole.steps.size());
    EXPECT_GE(charged, steps);
    EXPECT_LE(charged, std::min<std::int64_t>(steps + 192, 300));
  }
}

TEST(JournalFollower, FindsWhatTheWholeFileSaysAtEveryMoment) {
  const TemporaryFolder folder;
  const auto path = folder.file("a.jsonl");
  auto writer = JournalWriter::open(path, private_config(300), {{"device", "cpu"}}).value();
  JournalFollower follower(path);
  for (std::int64_t step = 0; step < 300; ++step) {
    ASSERT_TRUE(writer->ensure_booked(step));
    ASSERT_TRUE(writer->step({step, "hash", {{"eta", 0.5}}}, {"gradient"}));
    if (step % 50 != 49) continue;
    ASSERT_TRUE(writer->metric({step, "test", "accuracy", 0.5, Visibility::test}));
    ASSERT_TRUE(*follower.read(kAll));
    expect_same(follower, read_journal(path).value());
  }
  ASSERT_TRUE(writer->finish({.state = TrialState::finished}));
  ASSERT_TRUE(*follower.read(kAll));
  expect_same(follower, read_journal(path).value());
}

// Where it diverged the planned whole is charged, its score too.
TEST(JournalFollower, ChargesADivergedRunWhole) {
  const TemporaryFolder folder;
  const auto path = folder.file("a.jsonl");
  auto config = private_config(300);
  config.evaluation.score = {.noise_counts = 30};
  auto writer = JournalWriter::open(path, config, {}).value();
  ASSERT_TRUE(writer->ensure_booked(0));
  ASSERT_TRUE(writer->finish({.state = TrialState::failed, .kind = "diverged", .message = "m"}));
  JournalFollower follower(path);
  ASSERT_TRUE(*follower.read(kAll));
  expect_same(follower, read_journal(path).value());
  EXPECT_EQ(follower.charged().size(), 2U);
}

TEST(JournalFollower, ReadsPieceByPieceAndLeavesAnIncompleteLine) {
  const TemporaryFolder folder;
  const auto path = folder.file("a.jsonl");
  {
    auto writer = JournalWriter::open(path, private_config(300), {}).value();
    for (std::int64_t step = 0; step < 100; ++step) {
      ASSERT_TRUE(writer->ensure_booked(step));
      ASSERT_TRUE(writer->step({step, "hash", {{"eta", 0.5}}}, {"gradient"}));
    }
  }
  const auto whole = read_file(path).value();
  const auto cut = folder.file("b.jsonl");
  ASSERT_TRUE(std::ofstream(cut, std::ios::binary) << whole.substr(0, whole.size() - 5));
  JournalFollower follower(cut);
  int pieces = 0;
  for (bool is_all = false; !is_all; ++pieces) is_all = follower.read(1000).value();
  EXPECT_GT(pieces, 5);
  EXPECT_EQ(follower.journal().steps.size(), 99U);
  ASSERT_TRUE(std::ofstream(cut, std::ios::binary | std::ios::app) << whole.substr(whole.size() - 5));
  ASSERT_TRUE(*follower.read(1000));
  expect_same(follower, read_journal(path).value());
}

TEST(JournalFollower, RefusesAChangedLineAndAMissingFile) {
  const TemporaryFolder folder;
  const auto path = folder.file("a.jsonl");
  {
    auto writer = JournalWriter::open(path, private_config(300), {}).value();
    ASSERT_TRUE(writer->step({0, "hash", {{"eta", 0.5}}}, {"gradient"}));
  }
  auto text = read_file(path).value();
  text.replace(text.find("\"hash\":\"hash\""), 13, "\"hash\":\"hasj\"");
  ASSERT_TRUE(std::ofstream(path, std::ios::binary) << text);
  JournalFollower follower(path);
  const auto read = follower.read(kAll);
  ASSERT_FALSE(read);
  EXPECT_NE(read.error().message.find("checksum"), std::string::npos) << read.error().message;
  EXPECT_FALSE(JournalFollower(folder.file("absent.jsonl")).read(kAll));
}

TEST(JournalFollower, BeginsAnewWhereTheFileBecameShorter) {
  const TemporaryFolder folder;
  const auto path = folder.file("a.jsonl");
  const auto write = [&](std::int64_t steps) {
    std::filesystem::remove(path);
    auto writer = JournalWriter::open(path, private_config(300), {}).value();
    for (std::int64_t step = 0; step < steps; ++step)
      ASSERT_TRUE(writer->step({step, "hash", {{"eta", 0.5}}}, {"gradient"}));
  };
  write(20);
  JournalFollower follower(path);
  ASSERT_TRUE(*follower.read(kAll));
  write(3);
  ASSERT_TRUE(*follower.read(kAll));
  EXPECT_EQ(follower.journal().steps.size(), 3U);
}

}  // namespace journal_follower_test
}  // namespace hyfreedp::mechanism
