// Macro accuracy and AUC from the worker to the table, the trace and the cell file.
#include <fmt/format.h>

#include "results/store/store.h"
#include "results/table/table_model.h"
#include "tests/end_to_end/program.h"

namespace hyfreedp::end_to_end {
namespace class_metrics_test {

using ::testing::HasSubstr;

class ClassMetrics : public Program {
 protected:
  std::string spec(const std::string& name, const std::string& metric, const std::string& evaluate) {
    return write(name + ".yaml",
                 "name: " + name +
                     "\ntitle: t\nnoise_seed: s\n"
                     "dataset: {name: synthetic, train: 600, validation: 100, test: 200, classes: 3}\n"
                     "model: linear\nepsilon: [3]\nseeds: [0]\n"
                     "train: {sample_rate: 0.1, steps: 12, optimizer: adamw}\n"
                     "evaluate: {every: 4" +
                     evaluate + "}\ntable: {metric: " + metric + ", last_checkpoints: 2}\nrows: [prodigy]\n");
  }
};

TEST_F(ClassMetrics, AreShownWhereTheyAreRecorded) {
  draw_no_pictures();
  for (const std::string metric : {"macro-accuracy", "auc"}) {
    const auto name = "of-" + metric;
    ASSERT_EQ(run({"run", spec(name, metric, ", by_class: true"), "--quiet"}).code, 0);
    const auto store =
        results::Store::open((folder_ / "out/hyfreedp.sqlite").string(), results::Store::Mode::read_only)
            .value();
    const auto study = store->studies(name).value().at(0);
    const auto last = store->last_metrics(study.reported_trial, "test", metric, 2).value();
    ASSERT_EQ(last.size(), 2U);
    const double mean = 50 * (last[0].value + last[1].value);
    const auto accuracies = store->last_metrics(study.reported_trial, "test", "accuracy", 2).value();
    EXPECT_NE(last[0].value, accuracies[0].value);
    const auto model = results::build_table(*store, name).value();
    EXPECT_NEAR(model.panels.at(0).rows.at(0).cells.at(0).mean, mean, 1e-9);
    EXPECT_THAT(run({"trace", name, "prodigy", "3"}).out, HasSubstr("; " + metric + ", %"));
    ASSERT_EQ(run({"export-cell", name, "prodigy", "3", "--output", "cell.json"}).code, 0);
    EXPECT_EQ(run({"verify", "cell.json"}).code, 0);
  }
}

TEST_F(ClassMetrics, AreSaidToBeMissingWhereTheyAreNot) {
  draw_no_pictures();
  const auto ended = run({"run", spec("plain", "auc", ""), "--quiet"});
  EXPECT_EQ(ended.code, 2);
  EXPECT_THAT(ended.err, HasSubstr("table.metric is of what `evaluate: {by_class: true}` records"));
}

}  // namespace class_metrics_test
}  // namespace hyfreedp::end_to_end
