// The journal against its disk: booked is synced before it is used, a slow disk does not set the
// pace, and what was changed on the disk is found.
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <mutex>
#include <sys/stat.h>
#include <thread>

#include "harness/base/files.h"
#include "harness/mechanism/journal.h"
#include "harness/mechanism/journal_line.h"
#include "tests/trial/fixtures.h"

namespace hyfreedp::mechanism {
namespace journal_disk_test {

using namespace trial;

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

const json::object kHere{{"device", "cpu"}, {"threads", 1}};
constexpr milliseconds kSlow{5};

// A disk that takes its time: durable is what was in the file when a sync began, once that sync is
// over.
class SlowDisk {
 public:
  explicit SlowDisk(std::string path, milliseconds pause = kSlow) : path_(std::move(path)), pause_(pause) {}

  SyncCall call() {
    return [this](int descriptor) {
      struct stat facts {};
      if (::fstat(descriptor, &facts) != 0) return errno;
      std::this_thread::sleep_for(pause_);
      const std::lock_guard lock(mutex_);
      durable_bytes_ = std::max(durable_bytes_, static_cast<std::size_t>(facts.st_size));
      ++syncs_;
      return 0;
    };
  }

  // Steps [0, n) of the attempt that a crash at this moment would find booked.
  std::int64_t booked(std::int64_t attempt = 0) {
    std::size_t end = 0;
    {
      const std::lock_guard lock(mutex_);
      end = durable_bytes_;
    }
    if (end > read_bytes_) read_to(end);
    return attempt == attempt_ ? booked_ : 0;
  }
  int syncs() {
    const std::lock_guard lock(mutex_);
    return syncs_;
  }

 private:
  void read_to(std::size_t end) {
    const auto text = read_file(path_).value().substr(0, end);
    for (auto newline = text.find('\n', read_bytes_); newline != std::string::npos;
         newline = text.find('\n', read_bytes_)) {
      const auto line = open_line(text.substr(read_bytes_, newline - read_bytes_), checksum_).value();
      checksum_ = line.checksum;
      read_bytes_ = newline + 1;
      const auto type = string_or(line.object, "type", "");
      const auto attempt = int_or(line.object, "attempt", 0);
      if (type == "start" && attempt != attempt_) booked_ = 0;
      if (type == "start") attempt_ = attempt;
      if (type == "book")
        booked_ = std::max(booked_, int_or(line.object, "first", 0) + int_or(line.object, "count", 0));
    }
  }

  std::string path_;
  milliseconds pause_;
  std::mutex mutex_;
  std::size_t durable_bytes_ = 0;
  int syncs_ = 0;
  std::size_t read_bytes_ = 0;  // the test's thread alone from here on
  std::string checksum_;
  std::int64_t attempt_ = 0;
  std::int64_t booked_ = 0;
};

std::unique_ptr<JournalWriter> open(const std::string& path, const TrialConfig& config, SyncCall sync) {
  auto writer = JournalWriter::open(path, config, kHere, {}, {}, std::move(sync));
  EXPECT_TRUE(writer) << writer.error().message;
  return std::move(*writer);
}

// Steps of a third of a millisecond on a disk of five: each step waiting for its own sync would
// take at least five seconds. Booked ahead it is the work that counts; three times the work leaves
// room for a loaded machine, and is still less than a third of the naive time.
TEST(JournalDisk, ASlowDiskDoesNotSetThePace) {
  const TemporaryFolder folder;
  const auto path = folder.file("a.jsonl");
  SlowDisk disk(path);
  constexpr std::int64_t kSteps = 1000;
  constexpr std::chrono::microseconds kWork{300};
  auto writer = open(path, private_config(kSteps), disk.call());
  const auto begin = Clock::now();
  std::int64_t late = 0;
  std::chrono::nanoseconds work{0};
  for (std::int64_t step = 0; step < kSteps; ++step) {
    const auto begun = Clock::now();
    std::this_thread::sleep_for(kWork);  // what the gradient takes
    work += Clock::now() - begun;        // on a loaded machine more than asked for
    ASSERT_TRUE(writer->ensure_booked(step));
    if (disk.booked() <= step) ++late;
    ASSERT_TRUE(writer->step({step, "hash", {{"eta", 0.5}}}, {"gradient"}));
  }
  const auto spent = Clock::now() - begin;
  EXPECT_EQ(late, 0) << "steps were used before the disk had them";
  const auto milliseconds_of = [](auto duration) {
    return std::chrono::duration_cast<milliseconds>(duration).count();
  };
  EXPECT_LT(milliseconds_of(spent), 3 * milliseconds_of(work)) << "work took " << milliseconds_of(work);
  EXPECT_LT(milliseconds_of(spent - work), kSteps * kSlow.count() / 3);
  EXPECT_LT(disk.syncs(), 30);  // a booking every 64 steps and the start
}

// However fast the steps and slow the disk, no step is used before it is durably booked.
TEST(JournalDisk, NoStepIsUsedBeforeItIsDurable) {
  const TemporaryFolder folder;
  const auto path = folder.file("a.jsonl");
  const auto config = private_config(400);
  SlowDisk disk(path, milliseconds(2));
  const auto run = [&](JournalWriter& writer, std::int64_t end) {
    for (std::int64_t step = 0; step < end; ++step) {
      ASSERT_TRUE(writer.ensure_booked(step));
      ASSERT_LT(step, disk.booked(writer.attempt()));
      ASSERT_TRUE(writer.step({step, "hash", {}}, {"gradient"}));
    }
  };
  {
    auto writer = open(path, config, disk.call());
    run(*writer, 300);
    ASSERT_TRUE(writer->begin_next_attempt());
    run(*writer, 150);
  }
  auto resumed = open(path, config, disk.call());
  run(*resumed, 400);
  ASSERT_TRUE(resumed->book_score(30, "private_validation"));
  const auto before = disk.syncs();
  ASSERT_TRUE(resumed->finish({.state = TrialState::finished}));
  EXPECT_EQ(disk.syncs(), before + 1);
}

TEST(JournalDisk, AStepThatTheDiskRefusesIsNotUsed) {
  const TemporaryFolder folder;
  const auto path = folder.file("a.jsonl");
  std::atomic<bool> full = false;
  auto writer = open(path, private_config(1000), [&](int) { return full ? ENOSPC : 0; });
  ASSERT_TRUE(writer->ensure_booked(0));
  full = true;
  Result<void> booked;
  std::int64_t step = 1;
  for (; step < 1000 && booked; ++step) booked = writer->ensure_booked(step);
  ASSERT_FALSE(booked);
  EXPECT_LE(step, 130);  // not beyond what the disk had taken
  EXPECT_NE(booked.error().message.find(path), std::string::npos) << booked.error().message;
  full = false;
  EXPECT_FALSE(writer->ensure_booked(step)) << "a failed sync says nothing of what the disk holds";
  EXPECT_FALSE(writer->book_score(30, "private_validation"));
}

std::string small_journal(const std::string& path) {
  auto writer = open(path, private_config(4), sync_data);
  for (std::int64_t step = 0; step < 4; ++step) {
    EXPECT_TRUE(writer->ensure_booked(step));
    EXPECT_TRUE(writer->step({step, "hash" + std::to_string(step), {{"eta", 0.5}}}, {"gradient"}));
  }
  EXPECT_TRUE(writer->book_score(30, "private_validation"));
  EXPECT_TRUE(writer->finish({.state = TrialState::finished}));
  writer.reset();
  return read_file(path).value();
}

// Every byte, changed to another printable one, to a newline, and to its neighbour.
// Its bookings would be known to nobody once the run says that it is over.
TEST(JournalDisk, ARunWhoseJournalIsNoLongerInItsPlaceDoesNotEnd) {
  for (const bool is_replaced : {false, true}) {
    const TemporaryFolder folder;
    const auto path = folder.file("a.jsonl");
    auto writer = JournalWriter::open(path, private_config(4), {}).value();
    ASSERT_TRUE(writer->ensure_booked(0));
    const auto text = read_file(path).value();
    std::filesystem::remove(path);
    if (is_replaced) {
      ASSERT_TRUE(write_file_atomically(path, text));
    }
    const auto ended = writer->finish({});
    ASSERT_FALSE(ended);
    EXPECT_NE(ended.error().message.find(path + ": the journal was removed or replaced"), std::string::npos)
        << ended.error().message;
  }
}

TEST(JournalDisk, AChangedByteAnywhereIsFound) {
  const TemporaryFolder folder;
  const auto path = folder.file("a.jsonl");
  const auto text = small_journal(path);
  ASSERT_GT(text.size(), 1000U);
  for (std::size_t at = 0; at < text.size(); ++at) {
    for (const char other : {'7', '\n', static_cast<char>(text[at] ^ 1)}) {
      if (other == text[at]) continue;
      auto changed = text;
      changed[at] = other;
      std::ofstream(path, std::ios::trunc | std::ios::binary) << changed;
      const auto journal = read_journal(path);
      if (at + 1 == text.size()) {
        // Without its last newline a file looks cut short, as a crash would leave it.
        ASSERT_TRUE(journal);
        EXPECT_LT(journal->valid_bytes, text.size());
        EXPECT_FALSE(journal->finish);
        continue;
      }
      ASSERT_FALSE(journal) << "byte " << at << " of " << text.size() << " became " << other;
      if (at % 64 == 0) {
        EXPECT_FALSE(JournalWriter::open(path, private_config(4), kHere)) << "byte " << at;
      }
    }
  }
}

// Every byte, changed to zero, one and a whole page of them: nothing that was booked is cut off for
// a torn tail.
TEST(JournalDisk, AZeroAnywhereIsFoundAndTakesNoChargeAway) {
  const TemporaryFolder folder;
  const auto path = folder.file("a.jsonl");
  const auto text = small_journal(path);
  const auto charged = canonical_json(accounting::events_to_json({.events = read_journal(path)->executed}));
  for (const std::size_t zeros : {1U, 300U}) {
    for (std::size_t at = 0; at + zeros <= text.size(); at += zeros == 1 ? 1 : 7) {
      auto changed = text;
      changed.replace(at, zeros, zeros, '\0');
      std::ofstream(path, std::ios::trunc | std::ios::binary) << changed;
      const auto journal = read_journal(path);
      if (at + zeros == text.size() && zeros > 1) continue;  // as a power cut leaves it
      if (journal) {
        // The last newline alone: the line before it is whole.
        EXPECT_EQ(at + 1, text.size());
        EXPECT_EQ(canonical_json(accounting::events_to_json({.events = journal->executed})), charged);
        continue;
      }
      const auto& message = journal.error().message;
      ASSERT_TRUE(message.find("was changed") != std::string::npos) << at << ": " << message;
      if (at % 64 == 0) {
        EXPECT_FALSE(JournalWriter::open(path, private_config(4), kHere)) << "byte " << at;
      }
    }
  }
}

// What to do does not lose what the journal charged.
// JSON's 1e999 reads as infinity, which no id can be computed from.
TEST(JournalDisk, ANumberThatIsTooLargeIsRefused) {
  const TemporaryFolder folder;
  const auto path = folder.file("journal");
  const std::string line = R"({"attempt":0,"config":{"steps":1e999},"trial":"a","type":"start"})";
  const auto checksum = sha256_hex(line).substr(0, 16);
  std::ofstream(path) << line.substr(0, line.size() - 1) << R"(,"c":")" << checksum << "\"}\n";
  const auto message = read_journal(path).error().message;
  EXPECT_NE(message.find("too large"), std::string::npos) << message;
}

TEST(JournalDisk, WhatToDoAboutAChangedJournal) {
  const TemporaryFolder folder;
  const auto path = folder.file("a.jsonl");
  for (const bool is_seeded : {true, false}) {
    auto config = private_config(4);
    if (!is_seeded) config.noise_seed.reset();
    std::filesystem::remove(path);
    { const auto writer = open(path, config, sync_data); }
    auto text = read_file(path).value();
    text[30] ^= 1;
    ASSERT_TRUE(write_file_atomically(path, text));
    const auto message = JournalWriter::open(path, config, kHere).error().message;
    EXPECT_NE(message.find(path + ":1: the line's checksum is wrong"), std::string::npos) << message;
    EXPECT_NE(message.find("Put back an unchanged copy"), std::string::npos) << message;
    EXPECT_EQ(message.find("remove it") != std::string::npos, is_seeded) << message;
    EXPECT_EQ(message.find("leave it where it is") != std::string::npos, !is_seeded) << message;
  }
}

// Cut exactly before its newline the last line is whole: it counts, and what is appended begins on
// a line of its own.
TEST(JournalDisk, ALastLineThatLacksItsNewlineAloneStands) {
  const TemporaryFolder folder;
  const auto path = folder.file("a.jsonl");
  const auto text = small_journal(path);
  for (const auto& tail : {std::string(), std::string(1, '\0'), std::string(5000, '\0')}) {
    std::ofstream(path, std::ios::trunc | std::ios::binary) << text.substr(0, text.size() - 1) << tail;
    ASSERT_TRUE(read_journal(path)->finish);
    { const auto writer = open(path, private_config(4), sync_data); }
    const auto now = read_file(path).value();
    EXPECT_TRUE(now.starts_with(text));
    EXPECT_TRUE(read_journal(path));
  }
}

// A crash leaves a beginning of the file, or zeros where data had not arrived: cut off, and the
// rest stands.
TEST(JournalDisk, ATornTailIsCutAtItsLastWholeLine) {
  const TemporaryFolder folder;
  const auto path = folder.file("a.jsonl");
  const auto text = small_journal(path);
  const auto first_line = text.find('\n') + 1;
  for (std::size_t length = first_line; length < text.size(); ++length) {
    const bool is_whole = text[length] == '\n';  // but for its newline
    const auto whole = is_whole ? length : text.rfind('\n', length - 1) + 1;
    for (const auto& tail : {std::string(), std::string(100, '\0')}) {
      std::ofstream(path, std::ios::trunc | std::ios::binary) << text.substr(0, length) << tail;
      const auto journal = read_journal(path);
      ASSERT_TRUE(journal) << length << ": " << journal.error().message;
      EXPECT_EQ(journal->valid_bytes, whole);
    }
  }
}

TEST(JournalDisk, LinesAreOnlyEverAppended) {
  const TemporaryFolder folder;
  const auto path = folder.file("a.jsonl");
  const auto config = private_config(6);
  auto writer = open(path, config, sync_data);
  auto before = read_file(path).value();
  const auto grew = [&] {
    auto now = read_file(path).value();
    const bool grown = now.size() > before.size() && now.starts_with(before);
    before = std::move(now);
    return grown;
  };
  ASSERT_TRUE(writer->ensure_booked(0));
  EXPECT_TRUE(grew());
  ASSERT_TRUE(writer->step({0, "hash", {}}, {"gradient"}));
  EXPECT_TRUE(grew());
  ASSERT_TRUE(writer->metric({6, "test", "accuracy", 0.5, Visibility::test}));
  EXPECT_TRUE(grew());
  ASSERT_TRUE(writer->begin_next_attempt());
  EXPECT_TRUE(grew());
  writer.reset();
  writer = open(path, config, sync_data);
  EXPECT_TRUE(grew());
  ASSERT_TRUE(writer->finish({.state = TrialState::failed, .kind = "killed"}));
  EXPECT_TRUE(grew());
}

}  // namespace journal_disk_test
}  // namespace hyfreedp::mechanism
