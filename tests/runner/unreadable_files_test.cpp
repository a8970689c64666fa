// Records and folders that cannot be read: none counts as absent.
#include <gmock/gmock.h>

#include "tests/runner/lost_files.h"

namespace hyfreedp::runner {
namespace unreadable_files_test {

using namespace lost_files;
using ::testing::HasSubstr;

using UnreadableFiles = LostFiles;

TEST_F(UnreadableFiles, ARecordThatCannotBeReadIsNamed) {
  run(fixed("1e-2", "q"));
  const auto path = world.out().release_record("q");
  fs::resize_file(path, fs::file_size(path) / 2);
  run(fixed("2e-2", "t"));
  const auto odometer = odometer_of(world.store(), world.out()).value();
  ASSERT_EQ(odometer.unreadable.size(), 1u);
  EXPECT_THAT(odometer.unreadable.at(0), HasSubstr(path));
}

// A folder that cannot be read is not an empty one.
TEST_F(UnreadableFiles, JournalsThatCannotBeReadAreNotNone) {
  run(fixed("1e-2", "q"));
  lose_journals();
  fs::remove_all(world.out().journals());
  ASSERT_TRUE(odometer_of(world.store(), world.out()).value().unreadable.empty());
  write_file_atomically(world.out().journals(), "").value();
  EXPECT_THAT(odometer_of(world.store(), world.out()).value().unreadable.at(0),
              HasSubstr("cannot read the folder"));
  EXPECT_FALSE(restore_from_records(world.store(), world.out()));
  fs::remove(world.out().journals());
  fs::remove_all(world.out().keys());
  write_file_atomically(world.out().keys(), "").value();
  EXPECT_THAT(odometer_of(world.store(), world.out()).value().unreadable.at(0),
              HasSubstr("cannot read the folder"));
  fs::remove(world.out().keys());
}

}  // namespace unreadable_files_test
}  // namespace hyfreedp::runner
