// Training options in a spec: from YAML to a trial's config and a table's footnotes.
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "harness/runner/spec/plan.h"

namespace hyfreedp::runner {
namespace training_spec_test {

using testing::AllOf;
using testing::HasSubstr;

Result<Spec> load(const std::string& train, const std::string& row) {
  const auto path =
      std::filesystem::temp_directory_path() / ("hyfreedp_training_spec." + std::to_string(getpid()));
  std::ofstream(path) << "name: test\n"
                         "noise_seed: seed\n"
                         "panels:\n"
                         "  - id: one\n"
                         "    dataset: {name: synthetic, train: 1000}\n"
                         "    model: linear\n"
                         "    seeds: [0]\n"
                         "    epsilon: [1]\n"
                         "    delta: 1e-4\n"
                         "    train: {sample_rate: 0.1, steps: 20, "
                      << train
                      << "}\n"
                         "    rows:\n"
                         "      - {method: prodigy}\n"
                         "      - {id: other, method: prodigy"
                      << row << "}\n";
  auto spec = load_spec(path.string());
  std::filesystem::remove(path);
  return spec;
}

json::object training_of(const Spec& spec, std::size_t study) {
  return plan(spec).value().at(study).cell.base.training.to_json();
}

TEST(TrainingSpec, PanelsAndRowsSayHowToTrain) {
  const auto spec =
      load("optimizer: adamw, average: ema, microbatch: 50", ", train: {average: none, precision: bf16}");
  ASSERT_TRUE(spec) << spec.error().message;
  EXPECT_EQ(training_of(*spec, 0), (json::object{{"average", "ema"}, {"microbatch", 50}}));
  EXPECT_EQ(training_of(*spec, 1), (json::object{{"microbatch", 50}, {"precision", "bf16"}}));
  const auto& panel = spec->content.panels.front();
  EXPECT_EQ(panel.footnotes.size(), 1u);
  EXPECT_EQ(panel.rows[1].footnotes.front(), "Computed in bfloat16 with float32 norms, sums and noise.");
}

TEST(TrainingSpec, DefaultsLeaveNoTrace) {
  const auto spec = load("optimizer: adamw", "");
  ASSERT_TRUE(spec) << spec.error().message;
  const auto panel = as_json(spec->content.panels.front());
  EXPECT_FALSE(panel.contains("training"));
  EXPECT_FALSE(panel.at("rows").as_array().front().as_object().contains("training"));
  EXPECT_TRUE(panel.at("footnotes").as_array().empty());
}

TEST(TrainingSpec, MistakesNameTheirPlace) {
  const auto message = [](const std::string& train, const std::string& row) {
    const auto spec = load(train, row);
    return spec ? std::string("accepted") : spec.error().message;
  };
  EXPECT_THAT(message("optimizer: adamw, average: emma", ""),
              AllOf(HasSubstr(":10: panels[0].train.average"), HasSubstr("ema")));
  EXPECT_THAT(message("optimizer: adamw, averag: ema", ""), HasSubstr("average"));
  EXPECT_THAT(message("optimizer: adamw, average_decay: 0.9", ""),
              HasSubstr("no effect without average: ema"));
  EXPECT_THAT(message("optimizer: adamw, probe_precision: bf16", ""),
              HasSubstr(":10: panels[0].train.probe_precision is of the losses that a learning-rate probe"));
  EXPECT_THAT(message("optimizer: adamw", ", train: {probe_precision: bf16}"),
              HasSubstr("rows[1].train.probe_precision is of the losses"));
  EXPECT_THAT(message("optimizer: adamw, average: ema, average_from: 20", ""),
              HasSubstr("train.average_from: 'average_from' must be below the 20 steps of a run"));
  EXPECT_THAT(message("optimizer: {name: dog, average: true}, average: ema", ""), HasSubstr("keep one"));
  EXPECT_THAT(message("optimizer: {name: sgd, momentum: 0.9, free_step: true}, average: ema", ""),
              HasSubstr("train.average: the optimizer's 'free_step' moves the weights after the last"));
  EXPECT_THAT(message("optimizer: {name: sgd, momentum: 0.9, free_step: true}", ", train: {average: ema}"),
              HasSubstr("rows[1].train.average: the optimizer's 'free_step' moves the weights"));
  EXPECT_THAT(message("optimizer: {name: sgd, momentum: 0.9}, average: ema",
                      ", train: {optimizer: {free_step: true}}"),
              HasSubstr("the optimizer's 'free_step' moves the weights"));
  EXPECT_THAT(message("optimizer: {name: sgd, momentum: 0.9, free_step: true}",
                      ", train: {average: ema, optimizer: {free_step: false}}"),
              "accepted");
  EXPECT_THAT(message("optimizer: {name: sgd, free_step: true}", ""),
              AllOf(HasSubstr(":10: panels[0].train.optimizer: 'free_step' goes along the momentum buffer"),
                    HasSubstr("needs a 'momentum' above 0")));
  EXPECT_THAT(message("optimizer: {name: sgd, momentum: 0.9, free_step: true}",
                      ", train: {optimizer: {momentum: 0}}"),
              HasSubstr("rows[1].train.optimizer: 'free_step' goes along the momentum buffer"));
  EXPECT_THAT(message("optimizer: {name: adamw, free_step: true}", ""), HasSubstr("'free_step'"));
  EXPECT_THAT(message("optimizer: {name: sgd, nesterov: true}", ""), HasSubstr("'nesterov' needs"));
  EXPECT_THAT(message("optimizer: adamw", ", train: {steps: 5}"),
              HasSubstr("'steps' belongs beside 'train'"));
}

}  // namespace training_spec_test
}  // namespace hyfreedp::runner
