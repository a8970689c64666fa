// A spec's `table`: what is stored, and every mistake with its line and a way out.
#include "harness/runner/spec/spec_table.h"

#include <fmt/format.h>

#include "results/table/table_options.h"
#include "tests/runner/spec_file.h"

namespace hyfreedp::runner {
namespace spec_table_test {

using testing::HasSubstr;

class SpecTable : public WrittenSpec {
 protected:
  // A spec with `table` at the top, and `panel` within its panel.
  static std::string yaml(const std::string& table, const std::string& panel = "") {
    return fmt::format("{}rows: [{{method: prodigy}}, {{method: nondp-gs}}]\n{}\npanels:\n  - {{id: p{}}}\n",
                       kHead, table, panel);
  }
};

TEST_F(SpecTable, IsStoredOnlyAsFarAsItIsGiven) {
  EXPECT_FALSE(resolved(yaml("")).contains("table"));
  const auto spec = resolved(
      yaml("table: {interval: t, ranks: true, groups: all, rerr: {random: prodigy, oracle: nondp-gs}}"));
  EXPECT_EQ(spec.at("table"), (json::object{{"interval", "t"},
                                            {"ranks", true},
                                            {"rerr", {{"random", "prodigy"}, {"oracle", "nondp-gs"}}}}))
      << "groups: all is the default";
  EXPECT_EQ(resolved(yaml("table: {paper: false}")).at("table"), (json::object{{"paper", false}}));
  EXPECT_TRUE(results::table_settings(from_json<spec::Table>(spec.at("table"), "t").value(), "t"));
  EXPECT_FALSE(spec.at("panels").at(0).as_object().contains("table"));
}

TEST_F(SpecTable, APanelMayHaveItsOwn) {
  const auto spec = resolved(yaml("", ", table: {metric: seconds, relative_to: prodigy}"));
  EXPECT_EQ(spec.at("panels").at(0).at("table"),
            (json::object{{"metric", "seconds"}, {"relative_to", "prodigy"}}));
}

TEST_F(SpecTable, MaySayHowItLooks) {
  const auto spec =
      resolved(yaml("table: {columns: [time, label], cells: [median, range, n], notes: none, labels: "
                    "{prodigy: Ours, p: MNIST}}"));
  EXPECT_EQ(spec.at("table"), (json::object{{"columns", {"time", "label"}},
                                            {"cells", {"median", "range", "n"}},
                                            {"notes", "none"},
                                            {"labels", {{"p", "MNIST"}, {"prodigy", "Ours"}}}}));
  EXPECT_EQ(resolved(yaml("table: {columns: []}")).at("table"), (json::object{{"columns", json::array{}}}));
  EXPECT_EQ(resolved(yaml("table: {columns: time}")).at("table"), (json::object{{"columns", {"time"}}}));
  EXPECT_THAT(refusal(yaml("table: {columns: [tiem]}")), HasSubstr("Did you mean 'time'?"));
  EXPECT_THAT(refusal(yaml("table: {columns: [time, time]}")), HasSubstr("names 'time' twice"));
  EXPECT_THAT(refusal(yaml("table: {cells: [sd]}")), HasSubstr("needs either 'mean' or 'median'"));
  EXPECT_THAT(refusal(yaml("table: {notes: some}")), HasSubstr("one of all, footnotes, none"));
  EXPECT_THAT(refusal(yaml("table: {labels: {prodgy: X}}")),
              HasSubstr("names no row or panel: 'prodgy'. Did you mean 'prodigy'?"));
  EXPECT_THAT(refusal(yaml("table: {labels: {prodigy: ''}}")), HasSubstr("is empty"));
}

// A group stands in place of its rows where they are folded, and nowhere else.
TEST_F(SpecTable, HasNoMetricThatItsRunsDoNotRecord) {
  EXPECT_THAT(refusal(yaml("table: {metric: auc}")),
              HasSubstr("table.metric is of what `evaluate: {by_class: true}` records, which panel 'p'"));
  EXPECT_EQ(refusal(yaml("table: {metric: auc}", ", evaluate: {every: 0, by_class: true}")), "");
  EXPECT_THAT(refusal(yaml("table: {metric: bleu-mteval13a}")),
              HasSubstr("table.metric is of what `evaluate: {written: {}}` records, which panel 'p'"));
}

TEST_F(SpecTable, NamesRowsThatItShows) {
  const auto grouped = [](const std::string& table) {
    return fmt::format(
        "{}rows: [{{method: prodigy}}, {{id: rate, method: fixed-rate, each: {{options.lr: [0.1, 0.2]}}}}]\n"
        "table: {}\npanels:\n  - {{id: p}}\n",
        kHead, table);
  };
  const std::string row = "rate-lr-0.1";
  EXPECT_EQ(refusal(grouped("{groups: max, relative_to: rate}")), "");
  EXPECT_EQ(refusal(grouped("{relative_to: " + row + "}")), "");
  EXPECT_THAT(refusal(grouped("{groups: max, relative_to: " + row + "}")),
              HasSubstr("table.relative_to names no row that the table shows: '" + row + "'"));
  EXPECT_THAT(refusal(grouped("{groups: median, rerr: {random: " + row + ", oracle: prodigy}}")),
              HasSubstr("table.rerr.random names no row that the table shows"));
  EXPECT_THAT(refusal(grouped("{relative_to: rate}")),
              HasSubstr("names no row that the table shows: 'rate'"));
}

TEST_F(SpecTable, MistakesNameTheirLineAndTheWayOut) {
  EXPECT_THAT(refusal(yaml("table: {intervall: t}")), HasSubstr("interval"));
  EXPECT_THAT(refusal(yaml("table: {interval: z}")), HasSubstr("one of none, t, bootstrap"));
  EXPECT_THAT(refusal(yaml("table: {last_checkpoints: 0}")), HasSubstr("last_checkpoints"));
  EXPECT_THAT(refusal(yaml("table: {metric: seconds, last_checkpoints: 3}")),
              HasSubstr("evaluates several times; seconds is recorded once"));
  EXPECT_THAT(refusal(yaml("table: {relative_to: prodgy}")),
              HasSubstr("names no row that the table shows: 'prodgy'. Did you mean 'prodigy'?"));
  EXPECT_THAT(refusal(yaml("table: {rerr: {random: prodigy, oracle: nobody}}")),
              HasSubstr("table.rerr.oracle names no row that the table shows: 'nobody'"));
  EXPECT_THAT(refusal(yaml("table: {rerr: {random: prodigy}}")),
              HasSubstr("rerr needs 'random' and 'oracle'"));
  EXPECT_THAT(refusal(yaml("", ", table: {relative_to: nobody}")), HasSubstr("spec.yaml:"));
}

}  // namespace spec_table_test
}  // namespace hyfreedp::runner
