#include "datasets/cache.h"

#include <filesystem>
#include <fstream>
#include <sys/wait.h>
#include <unistd.h>

#include "harness/base/files.h"
#include "scratch.h"

namespace hyfreedp::datasets {
namespace {

const std::vector<TableShape> kShapes = {{.name = "a", .rows = 5, .columns = 3},
                                         {.name = "b", .rows = 2, .columns = 3}};

class Cache : public Scratch {
 protected:
  // Loads with a maker that writes recognisable numbers and leaves one line in "calls" for each
  // call.
  Result<std::vector<SplitData>> load(const std::vector<TableShape>& shapes = kShapes,
                                      unsigned pause_us = 0) const {
    return load_or_make(file(), shapes, [this, pause_us](std::span<const TableSpace> spaces) -> Result<void> {
      std::ofstream(path("calls"), std::ios::app) << "made\n" << std::flush;
      ::usleep(pause_us);
      for (std::size_t t = 0; t < spaces.size(); ++t) {
        for (std::size_t i = 0; i < spaces[t].features.size(); ++i) {
          spaces[t].features[i] = static_cast<float>(100 * t + i);
        }
        for (std::size_t i = 0; i < spaces[t].labels.size(); ++i) {
          spaces[t].labels[i] = static_cast<std::int64_t>(10 * t + i);
        }
      }
      return {};
    });
  }
  std::string file() const { return path("features/table.bin"); }
  std::size_t calls() const {
    const auto text = read_file(path("calls"));
    return text ? text->size() / 5 : 0;
  }
  static void expect_right(const Result<std::vector<SplitData>>& tables) {
    ASSERT_TRUE(tables.has_value()) << tables.error().message;
    ASSERT_EQ(tables->size(), 2u);
    EXPECT_TRUE(at::equal((*tables)[0].features, at::arange(15, at::kFloat).reshape({5, 3})));
    EXPECT_TRUE(at::equal((*tables)[1].features, at::arange(100, 106, at::kFloat).reshape({2, 3})));
    EXPECT_TRUE(at::equal((*tables)[0].labels, at::arange(5, at::kLong)));
    EXPECT_TRUE(at::equal((*tables)[1].labels, at::arange(10, 12, at::kLong)));
  }
  void overwrite(std::size_t at, char value) const {
    std::fstream stream(file(), std::ios::in | std::ios::out | std::ios::binary);
    stream.seekp(static_cast<std::streamoff>(at));
    stream.put(value);
  }
};

// Private examples are in it.
TEST_F(Cache, IsClosedToOtherUsers) {
  namespace fs = std::filesystem;
  const auto expect_closed = [&] {
    for (const auto& name : {file(), file() + ".lock"}) {
      EXPECT_EQ(fs::status(name).permissions() & ~fs::perms::owner_all, fs::perms::none) << name;
    }
    EXPECT_EQ(fs::status(path("features")).permissions(), fs::perms::owner_all);
  };
  expect_right(load());
  expect_closed();
  // As a program before 0.7 left them.
  for (const auto& name : {file(), file() + ".lock"}) fs::permissions(name, fs::perms{0644});
  fs::permissions(path("features"), fs::perms{0755});
  expect_right(load());
  EXPECT_EQ(calls(), 1u);
  expect_closed();
}

TEST_F(Cache, IsMadeOnceAndReused) {
  expect_right(load());
  expect_right(load());
  EXPECT_EQ(calls(), 1u);
}

TEST_F(Cache, TensorsOutliveEverythingElse) {
  at::Tensor features;
  {
    auto tables = load();
    ASSERT_TRUE(tables.has_value());
    features = (*tables)[1].features;
  }
  std::filesystem::remove(file());
  EXPECT_EQ(features.sum().item<float>(), 100 + 101 + 102 + 103 + 104 + 105);
}

TEST_F(Cache, DamageAnywhereIsFoundAndRepairedWithANote) {
  expect_right(load());
  const auto size = std::filesystem::file_size(file());
  std::size_t expected_calls = 1;
  // In the magic, in the header, in its padding, in the features, in the labels.
  for (const std::size_t at :
       {std::size_t{0}, std::size_t{40}, std::size_t{4000}, std::size_t{4096 + 7}, size - 60}) {
    overwrite(at, '\x55');
    testing::internal::CaptureStderr();
    expect_right(load());
    EXPECT_NE(testing::internal::GetCapturedStderr().find("damaged"), std::string::npos) << at;
    EXPECT_EQ(calls(), ++expected_calls) << at;
  }
  for (const std::size_t length :
       {std::size_t{0}, std::size_t{100}, std::size_t{4096}, size - 1, size + 64}) {
    std::filesystem::resize_file(file(), length);
    testing::internal::CaptureStderr();
    expect_right(load());
    EXPECT_NE(testing::internal::GetCapturedStderr().find(file()), std::string::npos) << length;
    EXPECT_EQ(calls(), ++expected_calls) << length;
  }
  testing::internal::CaptureStderr();
  expect_right(load());
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST_F(Cache, OtherShapesAreNotMistakenForTheseOnes) {
  expect_right(load());
  testing::internal::CaptureStderr();
  const auto transposed =
      load({{.name = "a", .rows = 3, .columns = 5}, {.name = "b", .rows = 2, .columns = 3}});
  (void)testing::internal::GetCapturedStderr();
  ASSERT_TRUE(transposed.has_value());
  EXPECT_EQ((*transposed)[0].features.size(0), 3);
  EXPECT_EQ(calls(), 2u);
}

TEST_F(Cache, AFailingMakerLeavesNoFileAndItsOwnMessage) {
  const auto failed = load_or_make(file(), kShapes, [](std::span<const TableSpace>) -> Result<void> {
    return error("the dataset is not here");
  });
  ASSERT_TRUE(failed.has_error());
  EXPECT_EQ(failed.error().message, "the dataset is not here");
  EXPECT_FALSE(std::filesystem::exists(file()));
  expect_right(load());
}

TEST_F(Cache, AnUnwritableFolderIsAnError) {
  ASSERT_TRUE(write_file_atomically(path("features"), "a file where the folder should be").has_value());
  const auto failed = load();
  ASSERT_TRUE(failed.has_error());
  EXPECT_NE(failed.error().message.find(path("features")), std::string::npos);
}

TEST_F(Cache, ProcessesStartingAtOnceComputeItOnce) {
  std::vector<pid_t> children;
  for (int i = 0; i < 4; ++i) {
    const pid_t child = ::fork();
    if (child == 0) {
      const auto tables = load(kShapes, 200000);
      ::_exit(tables && (*tables)[1].labels[1].item<std::int64_t>() == 11 ? 0 : 1);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(calls(), 1u);
  expect_right(load());
}

TEST_F(Cache, ALockHolderThatDiesDoesNotBlockTheNext) {
  const pid_t child = ::fork();
  if (child == 0) {
    (void)load_or_make(file(), kShapes, [](std::span<const TableSpace>) -> Result<void> { ::_exit(7); });
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  ASSERT_EQ(WEXITSTATUS(status), 7);
  expect_right(load());
}

}  // namespace
}  // namespace hyfreedp::datasets
