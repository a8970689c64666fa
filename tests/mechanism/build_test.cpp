// Which build made a run: in its journal, and what another one means to a run that was interrupted.
#include "harness/trial/build.h"

#include <filesystem>
#include <gtest/gtest.h>

#include "harness/base/files.h"
#include "harness/mechanism/journal.h"
#include "tests/trial/fixtures.h"

namespace hyfreedp::trial {
namespace build_test {

json::object machine(const std::string& worker, const std::string& commit) {
  return {{"version", "0.7.0"}, {"device", "cpu"}, {"worker", worker}, {"commit", commit}};
}

TEST(Build, IsReadFromAFingerprint) {
  const auto build = build_of(machine("0011", "0123456789ab-dirty"));
  EXPECT_EQ(build, (Build{"0.7.0", "0123456789ab", true, "0011"}));
  EXPECT_EQ(build.text(), "0.7.0, commit 0123456789ab with changes, worker 0011");
  EXPECT_EQ(from_json<std::vector<Build>>(as_json(std::vector{build}), "test").value(),
            std::vector<Build>{build});
  EXPECT_EQ(build_of({{"version", "0.6.0"}}).text(), "0.6.0, worker not recorded");
  EXPECT_EQ(build_of({}), Build{});
  EXPECT_FALSE(from_json<std::vector<Build>>("x", "test"));
  EXPECT_FALSE(from_json<std::vector<Build>>(json::array{1}, "test"));
}

TEST(Build, AProgramIsToldByItsBytes) {
  const TemporaryFolder folder;
  const std::string content(3'000'000, 'x');
  write_file_atomically(folder.file("program"), content).value();
  EXPECT_EQ(sha256_of_file(folder.file("program")).value(), sha256_hex(content));
  EXPECT_EQ(program_hash(folder.file("program")), sha256_hex(content).substr(0, 16));
  EXPECT_EQ(program_hash(folder.file("absent")), "");
  EXPECT_FALSE(sha256_of_file(folder.file("absent")));
  EXPECT_EQ(program_hash("/proc/self/exe").size(), 16U);
}

// The journal of a seeded run of 10 steps that was interrupted after 5 under `first`, and goes on
// under `second`.
mechanism::Journal interrupted(const json::object& first, const json::object& second) {
  const TemporaryFolder folder;
  auto config = private_config(10);
  config.noise_seed = "s";
  for (const auto& fingerprint : {first, second}) {
    auto writer = mechanism::JournalWriter::open(folder.file("a.jsonl"), config, fingerprint).value();
    for (std::int64_t step = 0; step < 5; ++step) {
      EXPECT_TRUE(writer->ensure_booked(step));
      EXPECT_TRUE(writer->step({step, "hash", {}}, {"gradient"}));
    }
  }
  return mechanism::read_journal(folder.file("a.jsonl")).value();
}

TEST(Build, ACommitThatLeavesTheWorkerAloneIsNoNewAttempt) {
  const auto journal = interrupted(machine("0011", "aaaa"), machine("0011", "bbbb-dirty"));
  EXPECT_EQ(journal.attempt, 0);
  ASSERT_EQ(journal.builds.size(), 2U);
  EXPECT_EQ(journal.builds[0].commit, "aaaa");
  EXPECT_TRUE(journal.builds[1].dirty);
}

// Another program may sum otherwise, and the difference of two sums under one noise is no private
// value.
TEST(Build, AnotherWorkerIsANewAttempt) {
  const auto journal = interrupted(machine("0011", "aaaa"), machine("0022", "aaaa"));
  EXPECT_EQ(journal.attempt, 1);
  EXPECT_EQ(journal.builds.size(), 2U);
  EXPECT_EQ(interrupted(machine("0011", "aaaa"), machine("0011", "aaaa")).builds.size(), 1U);
}

}  // namespace build_test
}  // namespace hyfreedp::trial
