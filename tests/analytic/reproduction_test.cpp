// Every item, and exactly which printed values it does not reproduce: a new mismatch fails, and so
// does one that is gone.
#include "tests/analytic/verdicts.h"

namespace hyfreedp::analytic {
namespace reproduction_test {

using Names = std::vector<std::string>;

struct Expected {
  std::string item;
  std::size_t agreeing;  // cells in band
  Names differing;       // cells out of band
};

const std::vector<Expected>& expectations() {
  static const std::vector<Expected> all = {
      {"mohapatra-table-1",
       6,
       {"ENRON: DPSGD (LT)", "ENRON: DPMomentum (LT)", "Gisette: DPSGD (LT)", "Gisette: DPMomentum (LT)"}},
      {"mohapatra-figure-1",
       6,
       {"LT / MA, one candidate, 5000: Mironov 2017", "LT / MA, one candidate, 950000: Canonne et al. 2020",
        "LT epsilon, gamma = 1, 5000: Mironov 2017", "LT epsilon, gamma = 0.001, 5000: Mironov 2017",
        "LT epsilon, gamma = 1, 950000: Mironov 2017", "LT epsilon, gamma = 1, 950000: Canonne et al. 2020",
        "LT epsilon, gamma = 0.001, 950000: Mironov 2017",
        "LT epsilon, gamma = 0.001, 950000: Canonne et al. 2020",
        "MA candidates at LT's price, 100000: Mironov 2017",
        "MA candidates at LT's price, 100000: Canonne et al. 2020"}},
      {"mohapatra-theorems",
       3,
       {"2: optimal rate, C = 0.1: value", "2: bound at the printed rate, C = 0.1: value",
        "2: optimal rate, C = 0.5: value", "2: bound at the printed rate, C = 0.5: value",
        "2: optimal rate, C = 1: value", "2: bound at the printed rate, C = 1: value"}},
      {"hyfreedp-figure-3", 0, {}},
      {"hyfreedp-figure-6", 0, {}},
      {"hyfreedp-figure-7", 8, {}},
      {"hyfreedp-table-8", 0, {}},
      {"hyfreedp-theorem-2", 0, {}},
      {"hyfreedp-table-2-contradictions", 0, {}},
      {"panda-noise", 6, {"full, 100: sigma", "sampled, 500: sigma"}},
      {"panda-imagenet-composition", 1, {}},
      {"panda-table-1", 5, {"Momentum 0.9, momentum 0 (Bu 2022): sum"}},
      {"panda-table-3", 3, {"CIFAR100: RERR"}},
      {"panda-table-4", 18, {"vit-L, CIFAR10: gap"}},
      {"panda-table-6",
       0,
       {"SST-2, 0.7: r = eta T", "QNLI, 1.3: r = eta T", "QQP, 1.2: r = eta T",
        "MNLI matched, 1.2: r = eta T", "MNLI mismatched, 1.2: r = eta T"}},
      {"panda-table-8", 5, {"Enron, 0.7: r = eta T", "Enron, 2.7: r = eta T"}},
      {"panda-table-11",
       6,
       {"0.05, 0.1, 0.96: eps_f", "0.05, 0.1, 0.96: total epsilon", "0.2, 0.3, 0.7: eps_f",
        "0.2, 0.3, 0.7: total epsilon"}},
      {"panda-table-12", 2, {}},
      {"panda-table-16", 6, {}},
      {"panda-table-17", 10, {}},
      {"gendp-fit", 0, {}},
  };
  return all;
}

TEST(Reproduction, EveryItemIsListedHere) {
  Names listed;
  for (const auto& expected : expectations()) listed.push_back(expected.item);
  Names registered;
  for (const auto& item : registry()) registered.push_back(item.name);
  EXPECT_EQ(listed, registered);
}

TEST(Reproduction, ExactlyTheKnownCellsDiffer) {
  for (const auto& expected : expectations()) {
    SCOPED_TRACE(expected.item);
    const auto& done = computed(expected.item);
    expect_well_formed(done);
    EXPECT_EQ(cells_with(done.table, true).size(), expected.agreeing);
    EXPECT_EQ(cells_with(done.table, false), expected.differing);
  }
}

TEST(Reproduction, WhatDiffersSaysWhyInAFootnoteOrInTheNotes) {
  for (const auto& expected : expectations()) {
    const auto& table = computed(expected.item).table;
    for (const auto& row : table.rows) {
      for (const auto& cell : row.cells) {
        if (cell.in_band() != false) continue;
        EXPECT_FALSE(cell.notes.empty() && table.notes.empty()) << expected.item << ": " << row.labels[0];
      }
    }
  }
}

TEST(Reproduction, WithoutThePapersValuesAnItemComputesOrSaysThatItNeedsThem) {
  for (const auto& item : registry()) {
    if (item.name == "hyfreedp-figure-3" || item.name == "hyfreedp-figure-6")
      continue;  // read none, and take seconds
    const auto done = compute(item.name, {}, nullptr, "test");
    if (!done) {
      EXPECT_NE(done.error().message.find("values.json"), std::string::npos) << done.error().message;
      continue;
    }
    for (const auto& row : done->table.rows)
      EXPECT_EQ(row.cells.size(), done->table.columns.size()) << item.name;
  }
}

}  // namespace reproduction_test
}  // namespace hyfreedp::analytic
