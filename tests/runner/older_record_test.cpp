// What is charged and what is refused where the release record is an older copy, or the database is
// and the record knows a later price of a row.
#include <boost/algorithm/string/replace.hpp>
#include <gmock/gmock.h>

#include "harness/base/files.h"
#include "harness/runner/execute/reopen.h"
#include "tests/runner/lost_files.h"

namespace hyfreedp::runner {
namespace older_record_test {

using namespace lost_files;
using ::testing::HasSubstr;

std::string with_seeds(const std::string& seeds) {
  return boost::replace_all_copy(kSel, "seeds: [0, 1]", "seeds: " + seeds);
}

class OlderRecord : public LostFiles {
 protected:
  void keep_record() { record_ = read_file(world.out().release_record("sel")).value(); }
  void put_record_back() { ASSERT_TRUE(write_file_atomically(world.out().release_record("sel"), record_)); }
  std::ptrdiff_t journals() const {
    return std::ranges::count_if(fs::directory_iterator(world.out().journals()),
                                 [](const auto& entry) { return entry.path().extension() == ".jsonl"; });
  }
  bool has_unknown_selection() {
    return odometer_of(world.store(), world.out()).value().data.at(0).has_unknown_selection;
  }

 private:
  std::string record_;
};

// The selection of the added seed would be drawn a second time.
TEST_F(OlderRecord, OfASpecThatGotASeedDoesNotHideItsRuns) {
  run(with_seeds("[0]"));
  keep_record();
  const auto before = journals();
  const auto both = with_seeds("[0, 1]");
  EXPECT_EQ(refusal(both), "");
  run(both);
  ASSERT_GT(journals(), before);
  world.forget_database();
  EXPECT_EQ(refusal(both), "") << "the newest record knows all of them";
  world.forget_database();
  put_record_back();
  EXPECT_THAT(refusal(both), HasSubstr("might release the same data a second time unseen"));
}

// The runs of the row that the record knows have another seed than the row that is added.
TEST_F(OlderRecord, ASeedMayBeAddedWhereTheDatabaseIsLost) {
  run(with_seeds("[0]"));
  world.forget_database();
  EXPECT_EQ(refusal(with_seeds("[0, 1]")), "");
}

// The record was also written while the selection was open.
TEST_F(OlderRecord, OfASelectionThatWasStoppedHidesNoOthers) {
  stop_selection();
  run(kSel);
  EXPECT_FALSE(has_unknown_selection());
  keep_database();
  keep_record();
  const auto before = journals();
  run(with_seeds("[0, 1, 2]"));
  ASSERT_GT(journals(), before);
  EXPECT_FALSE(has_unknown_selection());
  put_database_back();
  put_record_back();
  ASSERT_TRUE(restore_from_records(world.store(), world.out()));
  EXPECT_TRUE(has_unknown_selection());
}

// The older database has the row as it was cancelled the first time.
TEST_F(OlderRecord, ARowThatWasCancelledAgainHasItsLaterPrice) {
  const auto yaml = fixed("1e-2", "q");
  stop_again(Fate::linger, yaml);
  const auto study = world.store().studies("q").value().at(0).id;
  const auto once = cancelled(study);
  keep_database();
  ASSERT_TRUE(reopen(world.store(), world.out(), *world.store().spec("q").value(),
                     world.store().studies("q").value()));
  lose_keys_of_runs();
  stop_again(Fate::linger, yaml);
  const auto twice = cancelled(study);
  EXPECT_GT(twice, once);
  put_database_back();
  ASSERT_TRUE(restore_from_records(world.store(), world.out()));
  EXPECT_DOUBLE_EQ(world.store().study(study).value()->total->epsilon, twice);
}

}  // namespace older_record_test
}  // namespace hyfreedp::runner
