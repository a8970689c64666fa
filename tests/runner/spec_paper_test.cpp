// The paper's cells beside a spec's rows.
#include "spec_file.h"

namespace hyfreedp::runner {
namespace spec_paper_test {

using testing::AllOf;
using testing::HasSubstr;

std::string spec_of(const std::string& place, const std::string& rows,
                    const std::string& reproduces = "{paper: demo, id: table 2}") {
  return kHead + "reproduces: " + reproduces + "\npanels:\n  - id: one\n    paper: " + place +
         "\n    rows:\n" + rows;
}

const std::string kPlace = R"({row: ["{epsilon}", "{row}"], columns: [ViT, CIFAR10]})";

class PaperCells : public WrittenSpec {};

json::object row_of(const json::object& spec, std::size_t index) {
  return spec.at("panels").as_array().at(0).at("rows").as_array().at(index).as_object();
}

TEST_F(PaperCells, AreKeyedByEpsilon) {
  const auto spec =
      resolved(spec_of(kPlace, "      - {method: nondp-gs, paper: Grid}\n      - {method: prodigy}\n"));
  EXPECT_EQ(spec.at("reproduces").at("id").as_string(), "table 2");
  EXPECT_EQ(spec.at("paper_table").at("caption").as_string(), "Accuracy");
  const auto cells = row_of(spec, 0).at("paper").as_object();
  EXPECT_EQ(canonical_json(cells.at("1")), R"({"sd":0.1,"unit":"%","value":96.49})");
  EXPECT_EQ(cells.at("inf").at("value").as_double(), 98.1);
  EXPECT_FALSE(cells.contains("8"));  // not in that table: no cell, no mistake
  EXPECT_FALSE(row_of(spec, 1).contains("paper"));
}

TEST_F(PaperCells, MayComeFromSeveralTablesAndFigures) {
  const auto two =
      resolved(spec_of(R"({table: [2, 7], row: ["{epsilon}", "{row}"], columns: [ViT, CIFAR10]})",
                       "      - {method: nondp-gs, paper: Grid}\n"));
  EXPECT_EQ(row_of(two, 0).at("paper").at("8").at("value").as_double(), 97.5);
  EXPECT_EQ(canonical_json(two.at("panels").as_array().at(0).at("paper")), R"({"tables":["2","7"]})");
  const auto figure = resolved(
      kHead + "reproduces: {paper: demo, id: figure 4}\npanels: [{id: one, rows: [{method: prodigy}]}]\n");
  EXPECT_FALSE(figure.contains("paper_table"));
}

TEST_F(PaperCells, ARowMaySayItsPlaceItself) {
  const auto spec = resolved(spec_of(R"({row: ["{epsilon}", Grid], columns: [ViT, CIFAR10]})",
                                     "      - {method: nondp-gs, paper: true}\n"
                                     "      - {method: prodigy, paper: {row: [1, Ours]}}\n"));
  EXPECT_EQ(row_of(spec, 0).at("paper").at("1").at("value").as_double(), 96.49);
  for (const char* epsilon : {"1", "8", "inf"}) {
    EXPECT_EQ(row_of(spec, 1).at("paper").at(epsilon).at("value").as_double(), 95);
  }
}

TEST_F(PaperCells, AShiftSetHasCellsOfItsOwn) {
  const std::string sets = "    ood_test: [{id: near, dataset: synthetic}, {id: far, dataset: synthetic}]\n";
  const auto rows = [](const std::string& id) {
    return "      - {method: prodigy, paper: {row: [1, Grid], ood_test: {" + id + ": {row: [1, Ours]}}}}\n";
  };
  const auto place = R"({row: ["{epsilon}", Grid], columns: [ViT, CIFAR10]})"
                     "\n" +
                     sets;
  const auto row = row_of(resolved(spec_of(place, rows("far"))), 0);
  EXPECT_EQ(row.at("paper").at("1").at("value").as_double(), 96.49);
  EXPECT_EQ(row.at("paper_ood_test").at("far").at("1").at("value").as_double(), 95);
  EXPECT_FALSE(row.at("paper_ood_test").as_object().contains("near"));
  EXPECT_THAT(refusal(spec_of(place, rows("fra"))), HasSubstr("unknown key 'fra'. Valid keys: near, far"));
}

TEST_F(PaperCells, AMistakeNamesTheNearestLabel) {
  const auto rows = [](const std::string& label) {
    return "      - {method: nondp-gs, paper: " + label + "}\n";
  };
  EXPECT_THAT(refusal(spec_of(kPlace, rows("Gird"))),
              AllOf(HasSubstr("spec.yaml:14: panels[0].rows[0].paper matches no cell of the paper: 'Gird'."),
                    HasSubstr("Did you mean 'Grid'?")));
  EXPECT_THAT(refusal(spec_of(R"({row: ["{epsilon}", "{row}"], columns: [ViT, CIFAR]})", rows("Grid"))),
              AllOf(HasSubstr("'CIFAR'"), HasSubstr("Did you mean 'CIFAR10'?")));
  // An empty cell is none.
  EXPECT_THAT(refusal(spec_of(R"({row: [1, "{row}"], columns: [ViT, SVHN]})", rows("Ours"))),
              HasSubstr("no cell"));
  EXPECT_THAT(refusal(spec_of(kPlace, rows("true"))), HasSubstr("must be the label that stands for {row}"));
  EXPECT_THAT(refusal(spec_of(R"({row: [1, Grid], columns: [ViT, CIFAR10]})", rows("Grid"))),
              HasSubstr("must be true"));
  EXPECT_THAT(refusal(spec_of(R"({table: 3, row: [], columns: []})", rows("Grid"))),
              HasSubstr("is no table of the paper: '3'."));
  EXPECT_THAT(refusal(spec_of(kPlace, rows("Grid"), "{paper: demo, id: table 5}")),
              HasSubstr("There: 2, 7."));
  EXPECT_THAT(refusal(spec_of(kPlace, rows("Grid"), "{paper: demo, id: figure 4}")),
              HasSubstr("needs 'table'"));
  EXPECT_THAT(refusal(spec_of(kPlace, rows("Grid"), "{paper: demo, id: second}")),
              HasSubstr("must be 'table N'"));
  std::filesystem::remove(folder_ / "values.json");
  EXPECT_THAT(refusal(spec_of(kPlace, rows("Grid"))), HasSubstr("values.json"));
}

// What the paper's own values contradict is a footnote where they are shown.
TEST_F(PaperCells, WhatIsAssumedIsAFootnoteOfEveryPanel) {
  const auto spec =
      resolved(kHead +
               "reproduces: {paper: demo, id: table 2}\nassumed: [B is not stated]\n"
               "contradictions: Ours beats its bound\npanels:\n  - {id: one, rows: [{method: prodigy}]}\n"
               "  - id: two\n    paper: " +
               kPlace + "\n    rows: [{method: nondp-gs, paper: Grid}]\n");
  const auto& panels = spec.at("panels").as_array();
  EXPECT_EQ(canonical_json(panels.at(0).at("footnotes")), R"(["Assumed: B is not stated"])");
  EXPECT_EQ(canonical_json(panels.at(1).at("footnotes")),
            R"(["Assumed: B is not stated","Of the paper's own values: Ours beats its bound"])");
  EXPECT_EQ(canonical_json(spec.at("assumed")), R"(["B is not stated"])");
}

}  // namespace spec_paper_test
}  // namespace hyfreedp::runner
