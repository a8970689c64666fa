#include "harness/runner/executors/process_use.h"

#include <chrono>
#include <gtest/gtest.h>
#include <unistd.h>
#include <vector>

namespace hyfreedp::runner {
namespace process_use_test {

TEST(ProcessUse, OfThisProcessGrowsWithWhatItDoes) {
  const auto before = process_use(::getpid());
  ASSERT_TRUE(before);
  EXPECT_GE(before->resident_bytes, before->own_bytes);
  EXPECT_GT(before->own_bytes, 1e5);
  const std::vector<char> memory(100'000'000, 'x');
  const auto begin = std::chrono::steady_clock::now();
  volatile double sum = 0;
  while (std::chrono::steady_clock::now() - begin < std::chrono::milliseconds(200)) sum = sum + 1;
  const auto after = process_use(::getpid());
  ASSERT_TRUE(after);
  EXPECT_NEAR(after->own_bytes - before->own_bytes, static_cast<double>(memory.size()), 5e6);
  EXPECT_GT(after->cpu_seconds, before->cpu_seconds);
  EXPECT_LT(after->cpu_seconds, before->cpu_seconds + 60);
}

TEST(ProcessUse, OfAProcessThatIsGoneIsNothing) { EXPECT_FALSE(process_use(0x7ffffff0)); }

}  // namespace process_use_test
}  // namespace hyfreedp::runner
