// What a spec with a `noise_seed` has booked beside its runs counts once where the database is lost
// or an older copy; its lost runs are made again.
#include <boost/algorithm/string/replace.hpp>
#include <gmock/gmock.h>

#include "harness/runner/execute/reopen.h"
#include "tests/runner/lost_files.h"

namespace hyfreedp::runner {
namespace seeded_record_test {

using namespace lost_files;

const std::string kTwoRows =
    "      - {id: fixed, method: fixed-rate, options: {lr: 1e-2}}\n"
    "      - {id: other, method: fixed-rate, options: {lr: 1e-3}}\n";

std::string with_seeds(const std::string& seeds) {
  return boost::replace_all_copy(spec_of(kTwoRows, "q", "noise_seed: s\n"), "seeds: [0, 1]",
                                 "seeds: " + seeds);
}
// It ends before its eighth seed, and has booked all of them.
const std::string kComparison =
    with_seeds("{until: paired interval of fixed - other is narrower than 1000, from: 2, to: 8}");

class SeededRecord : public LostFiles {
 protected:
  std::vector<results::StudyRecord> rows() { return world.store().studies("q").value(); }
  bool all_are_answered() {
    return std::ranges::all_of(rows(), results::is_answered) &&
           std::ranges::none_of(rows(), results::is_lost);
  }
  double of_all_seeds() {
    run(with_seeds("[0, 1, 2, 3, 4, 5, 6, 7]"));
    return epsilon();
  }
};

TEST_F(SeededRecord, TellsWhatAComparisonBooked) {
  run(kComparison);
  const auto booked = epsilon();
  world.forget_database();
  EXPECT_DOUBLE_EQ(epsilon(), booked);
  run(kComparison);
  EXPECT_DOUBLE_EQ(epsilon(), booked) << "of the seeds that the record tells of, each once";
  EXPECT_TRUE(all_are_answered());
  world.forget_database();
  EXPECT_DOUBLE_EQ(of_all_seeds(), booked) << "made, they are those that were booked";
}

TEST_F(SeededRecord, TellsAnOlderDatabaseWhatAComparisonBooked) {
  run(with_seeds("[0, 1]"));
  keep_database();
  run(kComparison, true);
  const auto booked = epsilon();
  put_database_back();
  EXPECT_DOUBLE_EQ(epsilon(), booked);
  run(kComparison, true);
  EXPECT_DOUBLE_EQ(epsilon(), booked);
}

TEST_F(SeededRecord, TellsWhatCancelledRowsBooked) {
  stop_again(Fate::linger, kComparison);
  const auto booked = epsilon();
  for (const auto& row : rows()) {
    if (!results::is_answered(row)) cancelled(row.id);
  }
  EXPECT_GE(epsilon(), booked);
  const auto after = epsilon();
  world.forget_database();
  EXPECT_DOUBLE_EQ(epsilon(), after);
  EXPECT_DOUBLE_EQ(of_all_seeds(), after);
}

TEST_F(SeededRecord, OfARowThatWasOpenedAgainCountsOnce) {
  stop_again(Fate::linger, kComparison);
  for (const auto& row : rows()) {
    if (!results::is_answered(row)) cancelled(row.id);
  }
  const auto all = epsilon();
  ASSERT_TRUE(reopen(world.store(), world.out(), *world.store().spec("q").value(), rows()));
  run(kComparison);
  EXPECT_TRUE(all_are_answered());
  EXPECT_DOUBLE_EQ(epsilon(), all);
}

TEST_F(SeededRecord, ItsLostRunsAreMadeAgain) {
  FakeExecutor first;
  world.run(kComparison, first);
  const auto booked = epsilon();
  const auto before = results::export_rows(world.store(), "q", {}).value();
  world.forget_database();
  lose_journals();
  FakeExecutor again;
  world.run(kComparison, again);
  EXPECT_THAT(again.submitted, testing::UnorderedElementsAreArray(first.submitted));
  EXPECT_EQ(results::export_rows(world.store(), "q", {}).value(), before);
  EXPECT_DOUBLE_EQ(epsilon(), booked);
}

}  // namespace seeded_record_test
}  // namespace hyfreedp::runner
