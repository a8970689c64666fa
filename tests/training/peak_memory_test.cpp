#include "harness/training/peak_memory.h"

#include <fstream>
#include <gtest/gtest.h>
#include <unistd.h>
#include <vector>

#include "tests/training/fixtures.h"

namespace hyfreedp::training {
namespace peak_memory_test {

constexpr std::int64_t kMegabytes = 1'000'000;

// Touches every page, so that the system has to give it.
void hold_for_a_moment(std::int64_t bytes) {
  const std::vector<char> held(static_cast<std::size_t>(bytes), 'x');
  ASSERT_EQ(held.back(), 'x');
}

TEST(PeakMemory, IsOfTheTimeSinceItsStart) {
  const PeakMemory all("cpu");
  const auto before = all.host();
  ASSERT_GT(before, 10 * kMegabytes) << "of a process that loads LibTorch";
  hold_for_a_moment(200 * kMegabytes);
  EXPECT_GE(all.host(), before + 190 * kMegabytes);
  EXPECT_LE(all.host(), before + 250 * kMegabytes);
  const PeakMemory later("cpu");
// The address sanitizer keeps what is freed for a while.
#if !defined(__SANITIZE_ADDRESS__)
  EXPECT_LE(later.host(), before + 60 * kMegabytes) << "what was freed is no part of it";
#endif
  EXPECT_EQ(later.device(), 0);
}

#if !defined(__SANITIZE_ADDRESS__)
std::int64_t resident_now() {
  std::ifstream sizes("/proc/self/statm");
  std::int64_t all = 0, resident = 0;
  sizes >> all >> resident;
  return resident * ::sysconf(_SC_PAGESIZE);
}

TEST(FreedMemory, StaysUntilItIsGivenBack) {
  keep_freed_memory();
  give_back_freed_memory();
  const auto before = resident_now();
  hold_for_a_moment(200 * kMegabytes);
  EXPECT_GE(resident_now(), before + 190 * kMegabytes);
  give_back_freed_memory();
  EXPECT_LE(resident_now(), before + 60 * kMegabytes);
}
#endif

TEST(PeakMemory, IsInTheFinishOfARun) {
  const TemporaryFolder folder;
  const auto end = run_once(small_config(), folder.file("a.jsonl"));
  EXPECT_GT(end.finish.peak_bytes, 10 * kMegabytes);
  EXPECT_EQ(end.finish.device_peak_bytes, 0);
  EXPECT_EQ(mechanism::read_journal(folder.file("a.jsonl"))->finish->peak_bytes, end.finish.peak_bytes);
}

}  // namespace peak_memory_test
}  // namespace hyfreedp::training
