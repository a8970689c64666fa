// What a spec says for `hyfreedp regress`: margins, and which norms its runs journal.
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "harness/runner/spec/plan.h"
#include "results/regress/regress.h"

namespace hyfreedp::runner {
namespace spec_regress_test {

using testing::AllOf;
using testing::HasSubstr;

Result<Spec> load(const std::string& further, const std::string& dataset = "{name: synthetic, train: 1000}") {
  const auto path =
      (std::filesystem::temp_directory_path() / fmt::format("hyfreedp_regress_spec.{}.yaml", ::getpid()))
          .string();
  std::ofstream(path)
      << "name: test\nnoise_seed: s\n"
      << "defaults: {model: linear, seeds: [0], epsilon: [1], delta: 1e-5, train: {sample_rate: "
         "0.1, steps: 3, optimizer: adamw}}\n"
      << "panels: [{id: one, rows: [{method: prodigy}], dataset: " << dataset << "}]\n"
      << further << "\n";
  auto spec = load_spec(path);
  std::filesystem::remove(path);
  return spec;
}

TEST(SpecRegress, MarginsAreReadAndTheRestHasDefaults) {
  const auto spec = load("regress: {margin: {accuracy: 2, speed: 1.3}, control: fdr}");
  ASSERT_TRUE(spec) << spec.error().message;
  const auto options = spec->content.regress.value();
  EXPECT_EQ(options.margin.accuracy, 2);
  EXPECT_EQ(options.margin.speed, 1.3);
  EXPECT_EQ(options.margin.loss, results::RegressMargins{}.loss);
  EXPECT_EQ(options.control, results::FalseAlarmControl::fdr);
  EXPECT_EQ(options.false_alarms_per_night, results::RegressOptions{}.false_alarms_per_night);
  EXPECT_FALSE(load("")->content.regress);
}

TEST(SpecRegress, MistakesNameTheirPlace) {
  const std::vector<std::pair<std::string, std::vector<std::string>>> mistakes = {
      {"regress: {margin: {acuracy: 2}}", {"regress.margin", "Did you mean 'accuracy'?"}},
      {"regress: {margin: {norm: 1}}", {"regress.margin.norm", "1.0001"}},
      {"regress: {control: none}", {"regress.control", "holm"}},
      {"regress: {false_alarms_per_night: 0}", {"regress.false_alarms_per_night"}},
      {"regress: 3", {"regress", "map"}}};
  for (const auto& [yaml, parts] : mistakes) {
    const auto spec = load(yaml);
    ASSERT_FALSE(spec) << yaml;
    for (const auto& part : parts) EXPECT_THAT(spec.error().message, HasSubstr(part)) << yaml;
  }
}

TEST(SpecRegress, NormsAreJournaledWhereAskedForAndResidualsOfPublicDataAlone) {
  const auto spec = load("", "synthetic, evaluate: {released_norms: true, noise_residual: true}");
  ASSERT_TRUE(spec) << spec.error().message;
  const auto base = plan(*spec).value().front().cell.base;
  EXPECT_TRUE(base.evaluation.recorded.released_norms);
  EXPECT_TRUE(base.evaluation.recorded.noise_residual);
  EXPECT_FALSE(plan(*load("")).value().front().cell.base.evaluation.recorded.released_norms);
  const auto refused = load("", "fashion-mnist, evaluate: {noise_residual: true}");
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, AllOf(HasSubstr("evaluate.noise_residual"), HasSubstr("public data"),
                                             HasSubstr("fashion-mnist")));
  EXPECT_TRUE(load("", "fashion-mnist, evaluate: {released_norms: true}"));
}

TEST(SpecRegress, NightlyHasNormsAndMargins) {
  const auto spec = load_spec(std::string(HYFREEDP_SOURCE_DIR) + "/experiments/nightly.yaml");
  ASSERT_TRUE(spec) << spec.error().message;
  EXPECT_TRUE(spec->content.regress);
  for (const auto& study : plan(*spec).value()) {
    EXPECT_TRUE(study.cell.base.evaluation.recorded.released_norms);
    EXPECT_TRUE(study.cell.base.evaluation.recorded.noise_residual);
  }
}

}  // namespace spec_regress_test
}  // namespace hyfreedp::runner
