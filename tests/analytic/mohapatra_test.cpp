#include "tests/analytic/verdicts.h"

namespace hyfreedp::analytic {
namespace {

using Names = std::vector<std::string>;

TEST(MohapatraTable1, AdultAndMnistReproduceAndTheOthersDoNot) {
  const auto done = computed("mohapatra-table-1");
  expect_well_formed(done);
  EXPECT_EQ(cells_with(done.table, true),
            (Names{"Adult: DPSGD (LT)", "Adult: DPMomentum (LT)", "Adult: DPAdam (MA)", "MNIST: DPSGD (LT)",
                   "MNIST: DPMomentum (LT)", "MNIST: DPAdam (MA)"}));
  EXPECT_EQ(cells_with(done.table, false), (Names{"ENRON: DPSGD (LT)", "ENRON: DPMomentum (LT)",
                                                  "Gisette: DPSGD (LT)", "Gisette: DPMomentum (LT)"}));
  EXPECT_NEAR(*cell_at(done.table, {"ENRON"}, "DPSGD (LT)").ours, 30.06, 0.005);
  EXPECT_NEAR(*cell_at(done.table, {"Gisette"}, "DPMomentum (LT)").ours, 26.98, 0.005);
}

TEST(MohapatraTable1, AFittedCellHasNoVerdict) {
  const auto table = computed("mohapatra-table-1").table;
  const auto& cell = cell_at(table, {"ENRON"}, "DPAdam (MA)");
  EXPECT_FALSE(cell.in_band());
  EXPECT_NEAR(*cell.ours, *cell.paper, 0.005);
  EXPECT_FALSE(cell.notes.empty());
}

TEST(MohapatraTable1, WithTheDefaultStepsOfTheSearchesNothingAgrees) {
  const auto table = computed("mohapatra-table-1", {{"steps", 2500}}).table;
  EXPECT_TRUE(cells_with(table, true).empty());
}

TEST(MohapatraTable1, WithoutThePapersValuesWhatIsNotPrintedIsNotComputed) {
  const auto done = compute("mohapatra-table-1", {}, nullptr, "test");
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(cell_at(done->table, {"ENRON"}, "DPSGD (LT)").text, "not computable");
  EXPECT_NEAR(*cell_at(done->table, {"MNIST"}, "DPAdam (MA)").ours, 1.139, 0.001);
  EXPECT_TRUE(cells_with(done->table, true).empty());
}

}  // namespace
}  // namespace hyfreedp::analytic
