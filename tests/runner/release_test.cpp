// Releases of a spec, and the lock of a folder.
#include "harness/runner/odometer/release.h"

#include <algorithm>
#include <filesystem>
#include <gmock/gmock.h>
#include <utility>

#include "harness/runner/execute/coordinator.h"
#include "tests/runner/fake_world.h"
#include "tests/runner/tiny_spec.h"
#include "tests/trial/fixtures.h"

namespace hyfreedp::runner {
namespace release_test {

namespace fs = std::filesystem;
using namespace tiny;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(FolderLock, MakesAnOutputFolderForItsOwnerAlone) {
  const trial::TemporaryFolder folder;
  for (const bool is_there : {true, false}) {
    const OutFolder out{folder.file(is_there ? "there" : "new/out")};
    if (is_there) fs::create_directory(out.root);
    if (is_there) fs::permissions(out.root, fs::perms(0755));
    ASSERT_TRUE(FolderLock::acquire(out));
    EXPECT_EQ(static_cast<int>(fs::status(out.root).permissions()), is_there ? 0755 : 0700);
  }
}

TEST(Release, AnotherSpecOfTheNameIsRefusedUnlessReplaced) {
  World world;
  FakeExecutor executor;
  world.run(kSeeded, executor);
  auto text = kSeeded;
  auto other = world.read(text.replace(text.find("steps: 6"), 8, "steps: 7"));
  const auto refused = enter_spec(world.store(), world.out(), other, false, false);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message,
              HasSubstr("the folder " + world.out().root + " already holds 'tiny', as another spec"));
  EXPECT_THAT(refused.error().message, HasSubstr("What differs (there -> here): steps 6 -> 7"));
  EXPECT_THAT(refused.error().message, HasSubstr("--replace"));
  EXPECT_THAT(world.store().studies("tiny").value(), SizeIs(kStudies));
  ASSERT_TRUE(enter_spec(world.store(), world.out(), other, false, true));
  EXPECT_THAT(world.store().studies("tiny").value(), IsEmpty());
}

TEST(Release, AChangedSpecLeavesTheRowsOfAHalfFinishedOne) {
  World whole;
  FakeExecutor all;
  whole.run(kSeeded, all);
  World world;
  FakeExecutor executor;
  ASSERT_TRUE(world.run(kSeeded, executor, [&] { return executor.ended >= 3; }).stopped);
  const auto before = world.rows("tiny");
  auto text = kSeeded;
  auto changed = world.read(text.replace(text.find("steps: 6"), 8, "steps: 7"));
  const auto refused = enter_spec(world.store(), world.out(), changed, false, false);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("--replace"));
  EXPECT_EQ(world.rows("tiny"), before);
  FakeExecutor rest;
  world.run(kSeeded, rest);
  EXPECT_LT(rest.ended, all.ended);
  EXPECT_EQ(world.rows("tiny"), whole.rows("tiny"));
}

TEST(Release, AFreshRunIsANewReleaseAndKeepsTheOldTrials) {
  World world;
  FakeExecutor first;
  world.run(kUnseeded, first);
  FakeExecutor second;
  const auto report = world.run(
      world.read(kUnseeded), second, [] { return false; }, true);
  EXPECT_EQ(report.known_before, 0U);
  EXPECT_THAT(second.submitted, SizeIs(kTrials));
  for (const auto& id : second.submitted) {
    EXPECT_EQ(std::count(first.submitted.begin(), first.submitted.end(), id), 0) << "a release was run again";
  }
  for (const auto& id : first.submitted) EXPECT_TRUE(world.store().trial(id).value().has_value());
  const auto studies = world.store().studies("tiny").value();
  ASSERT_THAT(studies, SizeIs(kStudies));
  EXPECT_THAT(studies[0].footnotes, ::testing::Contains(HasSubstr("Release 2")));
  // Without --fresh the new release is the one that is continued.
  FakeExecutor third;
  EXPECT_EQ(world.run(kUnseeded, third).known_before, kStudies);
  EXPECT_THAT(third.submitted, IsEmpty());
}

TEST(Release, OfAnotherSpecDoesNotAnswerAFreshOne) {
  World world;
  const auto named = [](const std::string& name) {
    auto yaml = kUnseeded;
    return yaml.replace(yaml.find("name: tiny"), 10, "name: " + name);
  };
  const auto run = [&](const std::string& name, bool fresh) {
    FakeExecutor executor;
    const auto report = world.run(
        world.read(named(name)), executor, [] { return false; }, fresh);
    return std::pair(executor.submitted.size(), report.taken_over);
  };
  EXPECT_EQ(run("tiny", false), std::pair(kTrials, std::size_t{0}));
  EXPECT_EQ(run("second", false), std::pair(std::size_t{0}, kTrials));
  EXPECT_EQ(run("second", false), std::pair(std::size_t{0}, std::size_t{0})) << "they are its own now";
  EXPECT_EQ(run("tiny", true), std::pair(kTrials, std::size_t{0}));
  EXPECT_EQ(run("second", true), std::pair(kTrials, std::size_t{0}));
  EXPECT_EQ(run("third", true), std::pair(kTrials, std::size_t{0})) << "not one that was replaced";
  EXPECT_THAT(world.store().studies("third").value().front().footnotes,
              ::testing::Contains(HasSubstr("Release 4 of this folder")));
}

TEST(Release, ASeededSpecHasNoFreshRun) {
  World world;
  auto spec = world.read(kSeeded);
  const auto refused = enter_spec(world.store(), world.out(), spec, true, false);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("noise_seed"));
}

TEST(Release, TheDeviceIsPartOfTheSpec) {
  World world;
  auto spec = world.read(kSeeded);
  const auto before = spec.hash();
  set_device(spec, "cuda");
  EXPECT_NE(spec.hash(), before);
  const auto studies = plan_release(spec).value();
  for (const auto& study : studies) EXPECT_EQ(study.cell.base.device, "cuda");
}

TEST(FolderLock, OneAtATime) {
  World world;
  {
    const auto lock = FolderLock::acquire(world.out());
    ASSERT_TRUE(lock);
    EXPECT_EQ(FolderLock::holder(world.out()), ::getpid());
    const auto second = FolderLock::acquire(world.out());
    ASSERT_FALSE(second);
    EXPECT_THAT(second.error().message, HasSubstr("process " + std::to_string(::getpid())));
  }
  EXPECT_EQ(FolderLock::holder(world.out()), std::nullopt);
  EXPECT_TRUE(FolderLock::acquire(world.out()));
}

TEST(FolderLock, HoldsWithoutItsFile) {
  World world;
  fs::create_directories(world.out().root);
  const auto lock = FolderLock::acquire(world.out());
  ASSERT_TRUE(lock);
  fs::remove(world.out().lock());
  const auto second = FolderLock::acquire(world.out());
  ASSERT_FALSE(second);
  EXPECT_THAT(second.error().message, HasSubstr("was deleted"));
}

}  // namespace release_test
}  // namespace hyfreedp::runner
