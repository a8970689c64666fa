// Macro accuracy, AUC and correlation from the worker to the table, the trace and the cell file.
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
  for (const std::string metric : {"macro-accuracy", "auc", "mcc"}) {
    const auto name = "of-" + metric;
    ASSERT_EQ(run({"run", spec(name, metric, ", by_class: true"), "--quiet"}).code, 0);
    const auto store =
        results::Store::open((folder_ / "out/hyfreedp.sqlite").string(), results::Store::Mode::read_only)
            .value();
    const auto study = store->studies(name).value().at(0);
    const auto last = store->last_metrics(study.reported_trial, "test", metric, 2).value();
    ASSERT_EQ(last.size(), 2U);
    const bool is_percent = metric != "mcc";
    const double mean = (is_percent ? 50 : 0.5) * (last[0].value + last[1].value);
    const auto accuracies = store->last_metrics(study.reported_trial, "test", "accuracy", 2).value();
    EXPECT_NE(last[0].value, accuracies[0].value);
    const auto model = results::build_table(*store, name).value();
    EXPECT_NEAR(model.panels.at(0).rows.at(0).cells.at(0).mean, mean, 1e-9);
    EXPECT_THAT(run({"trace", name, "prodigy", "3"}).out,
                HasSubstr("; " + metric + (is_percent ? ", %" : "")));
    ASSERT_EQ(run({"export-cell", name, "prodigy", "3", "--output", "cell.json"}).code, 0);
    EXPECT_EQ(run({"verify", "cell.json"}).code, 0);
  }
}

TEST_F(ClassMetrics, StandBesideEachOther) {
  draw_no_pictures();
  const auto of_three = spec("three", "accuracy, also: [mcc, macro-accuracy, loss]", ", by_class: true");
  ASSERT_EQ(run({"run", of_three, "--quiet"}).code, 0);
  const auto store =
      results::Store::open((folder_ / "out/hyfreedp.sqlite").string(), results::Store::Mode::read_only)
          .value();
  const auto model = results::build_table(*store, "three").value();
  const auto& panel = model.panels.at(0);
  ASSERT_EQ(panel.also.size(), 3U);
  const auto trial = store->studies("three").value().at(0).reported_trial;
  const auto recorded = [&](const std::string& metric) {
    const auto last = store->last_metrics(trial, "test", metric, 2).value();
    return (last.at(0).value + last.at(1).value) / 2;
  };
  const auto shown = [&](std::size_t i) { return panel.also.at(i).rows.at(0).cells.at(0).mean; };
  EXPECT_NEAR(panel.rows.at(0).cells.at(0).mean, 100 * recorded("accuracy"), 1e-9);
  EXPECT_NEAR(shown(0), recorded("mcc"), 1e-9);
  EXPECT_NEAR(shown(1), 100 * recorded("macro-accuracy"), 1e-9);
  EXPECT_NEAR(shown(2), recorded("loss"), 1e-9);
  // What is of the whole cell stands in the first column alone.
  const auto confidential =
      results::build_table(*store, "three", {.confidential = true}).value().panels.at(0);
  EXPECT_TRUE(confidential.rows.at(0).cells.at(0).runs);
  EXPECT_FALSE(confidential.also.at(0).rows.at(0).cells.at(0).runs);
  const auto markdown = run({"table", "three", "--format", "md"}).out;
  EXPECT_THAT(markdown, HasSubstr("| ε = 3, accuracy | ε = 3, MCC | ε = 3, macro accuracy | ε = 3, loss |"));
  EXPECT_THAT(markdown, HasSubstr(fmt::format("| {:.3f} |", shown(0))));
  EXPECT_THAT(markdown,
              HasSubstr("of the same runs: test Matthews correlation; test macro accuracy, in percent; "
                        "test loss."));
  const auto csv = run({"table", "three", "--format", "csv"}).out;
  for (const char* metric : {",accuracy,", ",mcc,", ",macro-accuracy,", ",loss,"})
    EXPECT_THAT(csv, HasSubstr(metric));
  EXPECT_EQ(std::ranges::count(csv, '\n'), 1 + 4);
}

TEST_F(ClassMetrics, AreSaidToBeMissingWhereTheyAreNot) {
  draw_no_pictures();
  const auto ended = run({"run", spec("plain", "auc", ""), "--quiet"});
  EXPECT_EQ(ended.code, 2);
  EXPECT_THAT(ended.err, HasSubstr("table.metric is of what `evaluate: {by_class: true}` records"));
  const auto refused = [&](const std::string& metric, const std::string& evaluate = "") {
    return run({"run", spec("plain", metric, evaluate), "--quiet"}).err;
  };
  EXPECT_THAT(refused("loss, also: [accuracy, auc]"), HasSubstr("table.also names auc, which is of what"));
  EXPECT_THAT(refused("loss, also: [loss]"), HasSubstr("names loss, which is the metric itself"));
  EXPECT_THAT(refused("f1", ", by_class: true"), HasSubstr("is of two classes"));
  EXPECT_THAT(refused("loss, also: [seconds]"), HasSubstr("seconds is recorded once"));
  EXPECT_THAT(refused("perplexity"), HasSubstr("is of language models"));
}

}  // namespace class_metrics_test
}  // namespace hyfreedp::end_to_end
