// How much memory the machine's processes may have, by files as Linux has them.
#include "harness/runner/executors/machine_memory.h"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <unistd.h>

namespace hyfreedp::runner {
namespace machine_memory_test {

namespace fs = std::filesystem;

class MachineMemory : public testing::Test {
 protected:
  MachineMemory()
      : root_(fs::temp_directory_path() / ("hyfreedp-machine-memory-" + std::to_string(::getpid()))) {
    fs::remove_all(root_);
  }
  ~MachineMemory() override { fs::remove_all(root_); }
  void put(const std::string& name, const std::string& content) const {
    fs::create_directories((root_ / name).parent_path());
    std::ofstream(root_ / name) << content;
  }
  std::uint64_t memory() const { return machine_memory(root_.string()); }

  fs::path root_;
};

TEST_F(MachineMemory, IsWhatIsBuiltInWhereNothingLimitsIt) {
  const auto built_in = memory();
  EXPECT_GT(built_in, 100'000'000U);
  put("proc/self/cgroup", "0::/user\n");
  put("sys/fs/cgroup/user/memory.max", "max\n");
  EXPECT_EQ(memory(), built_in);
}

TEST_F(MachineMemory, IsTheLeastLimitOfTheGroupsAbove) {
  put("proc/self/cgroup", "0::/a/b\n");
  put("sys/fs/cgroup/a/memory.max", "50000000\n");
  put("sys/fs/cgroup/a/b/memory.max", "60000000\n");
  EXPECT_EQ(memory(), 50'000'000U);
  put("sys/fs/cgroup/a/b/memory.max", "40000000\n");
  EXPECT_EQ(memory(), 40'000'000U);
}

TEST_F(MachineMemory, OfVersionOneAndInAContainer) {
  put("proc/self/cgroup", "5:devices:/\n4:cpu,memory:/docker/0123\n0::/\n");
  put("sys/fs/cgroup/memory/memory.limit_in_bytes", "30000000\n");
  EXPECT_EQ(memory(), 30'000'000U);
  put("sys/fs/cgroup/memory/docker/0123/memory.limit_in_bytes", "20000000\n");
  EXPECT_EQ(memory(), 20'000'000U);
}

TEST_F(MachineMemory, WhatIsNoNumberLimitsNothing) {
  const auto built_in = memory();
  put("proc/self/cgroup", "::\nnonsense\n0::/../../etc\n0::/a\n");
  put("sys/fs/cgroup/a/memory.max", "-5\n");
  put("sys/fs/cgroup/memory.max", "99999999999999999999999999\n");
  EXPECT_EQ(memory(), built_in);
}

}  // namespace machine_memory_test
}  // namespace hyfreedp::runner
