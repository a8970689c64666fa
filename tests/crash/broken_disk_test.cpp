// A disk that is full, cannot be written, or loses the folder in the middle: the command says so,
// and the same command completes the rows when the disk is mended.
//
// The disk is a small tmpfs in a mount namespace of this process, which needs root.
#include <cerrno>
#include <cstring>
#include <sched.h>
#include <sys/mount.h>

#include "tests/end_to_end/program.h"

namespace hyfreedp::end_to_end {
namespace broken_disk_test {

using ::testing::AnyOf;
using ::testing::HasSubstr;

constexpr const char* kSpec = R"(name: disk
title: on a disk that breaks
noise_seed: disk-1
panels:
  - id: small
    dataset: {name: synthetic, train: 4000, validation: 500, test: 500, classes: 3, features: 64}
    model: mlp
    seeds: [0]
    epsilon: [3]
    delta: N^-1.1
    train: {sample_rate: 0.05, steps: 400, optimizer: adamw}
    evaluate: {every: 100}
    rows:
      - {method: hyfreedp-plus}
      - {method: dpadamwosm}
)";

class BrokenDisk : public Program {
 protected:
  void SetUp() override {
    Program::SetUp();
    if (IsSkipped()) return;
    static const bool is_apart =
        ::unshare(CLONE_NEWNS) == 0 && ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0;
    if (!is_apart) GTEST_SKIP() << "a small disk is mounted by root alone";
    spec_ = write("disk.yaml", kSpec);
    fs::create_directory(folder_ / "disk");
  }
  void TearDown() override {
    ::umount2((folder_ / "disk").c_str(), MNT_DETACH);
    Program::TearDown();
  }

  void mount_disk(const std::string& options, unsigned long flags = 0) {
    ASSERT_EQ(::mount("none", (folder_ / "disk").c_str(), "tmpfs", flags, options.c_str()), 0)
        << std::strerror(errno);
  }

  std::vector<std::string> command(const std::string& out) {
    return {"run", spec_, "--out", out, "--quiet", "--checkpoint-minutes", "0.001"};
  }
  void expect_rows_of_an_undisturbed_run() {
    draw_no_pictures();
    const auto ended = run(command("disk/out"));
    EXPECT_EQ(ended.code, 0) << ended.out << ended.err;
    if (wanted_.empty()) {
      const auto clean = run(command("clean"));
      ASSERT_EQ(clean.code, 0) << clean.out << clean.err;
      wanted_ = rows("disk", "clean");
    }
    EXPECT_EQ(rows("disk", "disk/out"), wanted_);
    EXPECT_FALSE(fs::exists(folder_ / "disk/out/checkpoints"));
    draw_pictures();
  }

  std::string spec_;
  std::string wanted_;
};

// From a disk on which not even the database has room to one that fills while tables are written.
// HYFREEDP_SLOW=1: and sizes between.
TEST_F(BrokenDisk, ThatIsFullIsNamedAndLosesNothing) {
  std::vector<int> sizes = {40, 240, 400, 640, 1000};
  if (std::getenv("HYFREEDP_SLOW") != nullptr) sizes.insert(sizes.end(), {160, 320, 480, 800});
  std::size_t full = 0;
  for (const int kilobytes : sizes) {
    SCOPED_TRACE(kilobytes);
    mount_disk("size=" + std::to_string(kilobytes) + "k");
    const auto ended = run(command("disk/out"));
    EXPECT_THAT(ended.code, AnyOf(0, 1, 2)) << ended.out << ended.err;
    if (ended.code != 0) {
      ++full;
      const auto said = ended.out + ended.err;
      EXPECT_THAT(said, AnyOf(HasSubstr("No space left on device"), HasSubstr("disk is full"))) << said;
    }
    mount_disk("size=64m", MS_REMOUNT);
    expect_rows_of_an_undisturbed_run();
    // Workers of a run that failed may live for a moment longer.
    ASSERT_EQ(::umount2((folder_ / "disk").c_str(), MNT_DETACH), 0) << std::strerror(errno);
  }
  EXPECT_GT(full, sizes.size() / 2) << "the disk was seldom full";
}

TEST_F(BrokenDisk, ThatCannotBeWrittenIsNamed) {
  mount_disk("size=64m");
  mount_disk("size=64m", MS_REMOUNT | MS_RDONLY);
  const auto ended = run(command("disk/out"));
  EXPECT_EQ(ended.code, 2);
  EXPECT_THAT(ended.err, HasSubstr("Read-only file system"));
  mount_disk("size=64m", MS_REMOUNT);
  expect_rows_of_an_undisturbed_run();
}

// The folder is moved away under a run, and put back.
TEST_F(BrokenDisk, AFolderThatVanishesComesBackWithItsRows) {
  mount_disk("size=64m");
  auto running = start(command("disk/out"));
  ASSERT_TRUE(wait_for([&] { return journal_bytes("disk/out") > 20000 || !running.is_running(); }));
  ASSERT_TRUE(running.is_running());
  fs::rename(folder_ / "disk/out", folder_ / "disk/away");
  const auto ended = running.wait();
  EXPECT_LT(ended.code, 128) << ended.out << ended.err;
  fs::remove_all(folder_ / "disk/out");
  fs::rename(folder_ / "disk/away", folder_ / "disk/out");
  expect_rows_of_an_undisturbed_run();
}

// The weights have a small disk of their own, so that it is their write that fails. The row stands,
// the command says what is missing, and so does the next one: the run is over.
TEST_F(BrokenDisk, WeightsWithoutRoomCostNoRow) {
  mount_disk("size=64m");
  const auto staged = folder_ / "disk/out/staged-weights";
  fs::create_directories(staged);
  ASSERT_EQ(::mount("none", staged.c_str(), "tmpfs", 0, "size=8k,mode=700"), 0) << std::strerror(errno);
  auto keeping = command("disk/out");
  keeping.insert(keeping.end(), {"--keep-weights", "--confidential"});
  const auto full = run(keeping);
  EXPECT_EQ(full.code, 1) << full.out << full.err;
  EXPECT_THAT(full.err, HasSubstr("weights not kept"));
  EXPECT_THAT(full.err, HasSubstr("No space left on device"));
  ASSERT_EQ(::umount2(staged.c_str(), MNT_DETACH), 0) << std::strerror(errno);
  const auto again = run(keeping);
  EXPECT_EQ(again.code, 1) << again.out << again.err;
  EXPECT_THAT(again.err, HasSubstr("its weights were not kept when its run ended"));
  EXPECT_FALSE(fs::exists(folder_ / "disk/out/disk/weights.confidential/small"));
  expect_rows_of_an_undisturbed_run();
}

}  // namespace broken_disk_test
}  // namespace hyfreedp::end_to_end
