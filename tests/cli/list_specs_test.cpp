// `hyfreedp list specs`: every file below a folder with the state of its presets; what runs cost.
#include "harness/cli/show/list_specs.h"

#include "command_fixture.h"
#include "harness/cli/common/run_needs.h"
#include "harness/runner/execute/run_memory.h"
#include "harness/runner/progress/run_price.h"
#include "harness/runner/spec/plan.h"
#include "tests/datasets/scratch.h"
#include "tests/in_project_folder.h"

namespace hyfreedp::cli {
namespace list_specs_test {

using runner::price_of;
using runner::price_text;
using runner::RunPrice;

constexpr const char* kOne = R"(name: one
title: One cell
defaults: {dataset: {name: synthetic, train: 500}, model: linear, seeds: [0], epsilon: [3], delta: 1e-4,
           train: {sample_rate: 0.1, steps: 10, optimizer: adamw}}
panels: [{id: one, rows: [{method: fixed-rate, options: {lr: 0.1}}]}]
)";

class ListSpecs : public CommandTest {
 protected:
  ListSpecs() : CommandTest("list") {}
};

TEST_F(ListSpecs, FilesOfAllFoldersWithTheirState) {
  std::filesystem::create_directories(folder_ / "papers");
  file("one.yaml", kOne);
  file("papers/broken.yaml", "name: broken\npanels: []\n");
  file("papers/two.yaml",
       "name: two\ntitle: Two\npresets:\n  paper: {not_runnable: {reason: no images, datasets: [imagenet]}}\n"
       "  bias: {analytic: {name: hyfreedp-figure-7}}\n");
  const auto specs = listed_specs(folder_.string());
  ASSERT_TRUE(specs) << specs.error().message;
  ASSERT_EQ(specs->size(), 3u);
  EXPECT_EQ((*specs)[0].presets.at(0).state, "runnable");
  EXPECT_EQ((*specs)[1].presets.at(0).state, "cannot be read");
  ASSERT_EQ((*specs)[2].presets.size(), 2u);
  EXPECT_EQ((*specs)[2].presets[0].state, "not runnable");
  EXPECT_EQ((*specs)[2].presets[0].why, "no images");
  EXPECT_EQ((*specs)[2].presets[1].state, "analytic");
  std::ostringstream text;
  print(*specs, text);
  EXPECT_NE(text.str().find("  runnable, 1 study of 1 cell\n"), std::string::npos) << text.str();
  EXPECT_NE(text.str().find("  paper: not runnable: no images\n"), std::string::npos) << text.str();
  EXPECT_EQ(to_json(*specs).at(2).at("presets").at(0).at("state").as_string(), "not runnable");
}

TEST_F(ListSpecs, FiltersKeepPathsPapersAndStates) {
  std::filesystem::create_directories(folder_ / "papers");
  std::string one = kOne;
  file("one.yaml", one.replace(one.find("seeds: [0]"), 10, "seeds: [0, 1]"));
  file("papers/two.yaml",
       "name: two\ntitle: Two\npresets:\n  paper: {not_runnable: {reason: no images, datasets: [imagenet]}}\n"
       "  bias: {analytic: {name: hyfreedp-figure-7}}\n");
  const auto all = listed_specs(folder_.string()).value();
  const auto in_papers = filtered(all, {.in_path = "papers/", .state = "", .paper = ""});
  ASSERT_EQ(in_papers.size(), 1U);
  EXPECT_EQ(in_papers[0].presets.size(), 2U);
  const auto analytic = filtered(all, {.in_path = "", .state = "analytic", .paper = ""});
  ASSERT_EQ(analytic.size(), 1U);
  ASSERT_EQ(analytic[0].presets.size(), 1U);
  EXPECT_EQ(analytic[0].presets[0].name, "bias");
  EXPECT_EQ(filtered(all, {.in_path = "", .state = "not-runnable", .paper = ""}).size(), 1U);
  EXPECT_TRUE(filtered(all, {.in_path = "", .state = "", .paper = "panda"}).empty());
  EXPECT_FALSE(check_filter({.in_path = "", .state = "not runnable", .paper = ""}));
  std::ostringstream text;
  print_short(all, text);
  EXPECT_EQ(lines_in(text.str()), 3) << text.str();
  EXPECT_NE(text.str().find("runnable        1 cell     One cell\n"), std::string::npos) << text.str();
  EXPECT_EQ(all[0].presets[0].studies, 2U);
}

TEST_F(ListSpecs, TheProjectsOwnCanAllBeRead) {
  // As where none of the data are: reading all of them to count and mark them takes seconds.
  const datasets::ScopedVariable no_data("HYFREEDP_DATA", std::nullopt);
  const InProjectFolder there;
  const auto specs = listed_specs(std::string(HYFREEDP_SOURCE_DIR) + "/experiments");
  ASSERT_TRUE(specs);
  for (const auto& spec : *specs) {
    for (const auto& preset : spec.presets) {
      EXPECT_NE(preset.state, "cannot be read") << spec.path << ' ' << preset.name << ": " << preset.why;
    }
  }
}

trial::TrialConfig config_of(const std::string& path) {
  const auto studies = runner::plan(runner::load_spec(path).value()).value();
  return studies.front().baseline->next(studies.front().cell, {}).value().front();
}

// By hand: d = 51 of 16 features and 3 classes; 10 steps of 50 of 500 examples; probes at steps 0
// and 5.
TEST_F(ListSpecs, APriceIsSixTimesParametersAndExamples) {
  const auto plain = price_of(config_of(file("one.yaml", kOne))).value();
  EXPECT_EQ(plain.runs, 1);
  EXPECT_DOUBLE_EQ(plain.examples, 500);
  EXPECT_DOUBLE_EQ(plain.flops, 6.0 * 51 * 500);
  std::string probing = kOne;
  probing.replace(probing.find("fixed-rate, options: {lr: 0.1}"), 30, "hyfreedp");
  const auto same_batch = price_of(config_of(file("probe.yaml", probing))).value();
  EXPECT_DOUBLE_EQ(same_batch.examples, 500 + 2 * 2 * 50);
  EXPECT_DOUBLE_EQ(same_batch.flops, 51 * (6.0 * 500 + 2.0 * 200));
  probing.replace(probing.find("hyfreedp"), 8, "hyfreedp, options: {accounting: separate-batch}");
  EXPECT_DOUBLE_EQ(price_of(config_of(file("own.yaml", probing))).value().examples, 500 + 2 * 3 * 50);
}

// Each copy of a sample passes through the network, and through the frozen one that makes features.
TEST_F(ListSpecs, CopiesAreSeenAndPaidFor) {
  std::string images = kOne;
  images.replace(images.find("{name: synthetic, train: 500}"), 29, "{name: synthetic-images, train: 500}");
  const auto plain = price_of(config_of(file("plain.yaml", images))).value();
  images.replace(images.find("train: {"), 8, "train: {augmentations: 3, ");
  const auto copied = price_of(config_of(file("copied.yaml", images))).value();
  EXPECT_DOUBLE_EQ(copied.examples, 3 * plain.examples);
  EXPECT_DOUBLE_EQ(copied.flops, 3 * plain.flops);

  std::string features = kOne;
  features.replace(features.find("{name: synthetic, train: 500}"), 29,
                   "{name: cifar10, train: 500, features: network, network: resnet-imagenet, "
                   "weights: cifar100-resnet20, normalise: cifar100}");
  const auto once = config_of(file("once.yaml", features));
  features.replace(features.find("normalise"), 9, "copies: 4, normalise");
  const auto fourfold = config_of(file("four.yaml", features));
  EXPECT_DOUBLE_EQ(price_of(fourfold).value().flops, 4 * price_of(once).value().flops);
  // Validation and test images have no copies.
  const auto held_out = 5000.0 + 10000.0;
  EXPECT_DOUBLE_EQ(
      runner::feature_flops(fourfold.dataset).value() / runner::feature_flops(once.dataset).value(),
      (4 * 500 + held_out) / (500 + held_out));
  const auto mapped = [](const trial::TrialConfig& config) {
    return runner::memory_of(config).value().mapped;
  };
  EXPECT_NEAR(mapped(fourfold) - mapped(once), 3.0 * 500 * 64 * 4, 64);
}

// Frozen parameters are computed with, and every token of a sequence counts.
TEST_F(ListSpecs, FrozenParametersAndTokensCount) {
  std::string images = kOne;
  images.replace(images.find("{name: synthetic, train: 500}"), 29, "{name: synthetic-images, train: 500}");
  auto full = images;
  full.replace(full.find("model: linear"), 13, "model: {name: vit, width: 16, depth: 1, heads: 2}");
  auto frozen = images;
  frozen.replace(frozen.find("model: linear"), 13,
                 "model: {name: vit, width: 16, depth: 1, heads: 2, trainable: bitfit}");
  const auto whole = price_of(config_of(file("full.yaml", full))).value();
  EXPECT_EQ(whole.flops, price_of(config_of(file("frozen.yaml", frozen))).value().flops);
  EXPECT_GT(whole.flops, 6.0 * 500 * 1000 * 16);  // over a thousand parameters, 65 patches of 4 x 4
  EXPECT_NE(price_text(whole, 100).find("under 0.01 GPU hours"), std::string::npos) << price_text(whole, 100);
  RunPrice large{.runs = 2, .examples = 1e9, .flops = 3.6e20};
  EXPECT_NE(price_text(large, 100).find("2 runs, 1e+09 examples seen, about 3.6e+20 FLOPs"),
            std::string::npos)
      << price_text(large, 100);
  EXPECT_NE(price_text(large, 100).find("1000 GPU hours"), std::string::npos) << price_text(large, 100);
}

TEST_F(ListSpecs, TheWeightsOfAFrozenNetworkAreNeeded) {
  const datasets::ScopedVariable data("HYFREEDP_DATA", std::nullopt);
  const datasets::ScopedVariable cache("XDG_CACHE_HOME", folder_.string());
  std::string features = kOne;
  features.replace(
      features.find("{name: synthetic, train: 500}"), 29,
      "{name: cifar10, features: network, network: beit, weights: beit-large-patch16-512, side: 512}");
  const auto missing = missing_data(runner::load_spec(file("features.yaml", features)).value());
  ASSERT_EQ(missing.size(), 2U);
  EXPECT_EQ(missing[0].what, "cifar10");
  EXPECT_EQ(missing[1].what, "beit-large-patch16-512");
  EXPECT_NE(missing[1].why.find("`hyfreedp data fetch beit-large-patch16-512`"), std::string::npos)
      << missing[1].why;
}

TEST_F(ListSpecs, ShiftSetsArePricedAndNeeded) {
  const datasets::ScopedVariable data("HYFREEDP_DATA", std::nullopt);
  const datasets::ScopedVariable cache("XDG_CACHE_HOME", folder_.string());
  std::string shifted = kOne;
  shifted.insert(shifted.find("model:"), "ood_test: [{id: far, dataset: {name: synthetic, test: 700}}], ");
  const auto plain = price_of(config_of(file("one.yaml", kOne))).value();
  const auto more = price_of(config_of(file("far.yaml", shifted))).value();
  EXPECT_DOUBLE_EQ(more.evaluation_flops - plain.evaluation_flops, 2.0 * 51 * 700);
  EXPECT_DOUBLE_EQ(more.flops, plain.flops);
  std::string images = kOne;
  images.replace(images.find("{name: synthetic, train: 500}"), 29,
                 "cifar10, ood_test: [{id: new, dataset: cifar10-1}]");
  const auto missing = missing_data(runner::load_spec(file("images.yaml", images)).value());
  ASSERT_EQ(missing.size(), 2U);
  EXPECT_EQ(missing[1].what, "cifar10-1");
  EXPECT_TRUE(missing[1].fetchable);
}

// 90 images through BEiT-L, whose head has two classes here.
TEST_F(ListSpecs, FeaturesThatANetworkMakesArePricedOnce) {
  const trial::Named dataset{"cifar10",
                             {{"features", "network"},
                              {"network", "beit"},
                              {"weights", "beit-large-patch16-512"},
                              {"side", 512},
                              {"train", 60},
                              {"validation", 10},
                              {"test", 20}}};
  EXPECT_DOUBLE_EQ(runner::feature_flops(dataset).value(), 2.0 * 304'651'778 * 1025 * 90);
  EXPECT_DOUBLE_EQ(runner::feature_flops({"synthetic", {{"features", 16}}}).value(), 0);
  const RunPrice none{.runs = 1, .flops = 1};
  EXPECT_EQ(price_text(none, 100).find("Features"), std::string::npos);
  EXPECT_NE(
      price_text(none, 100, 3.6e20).find("Features that a network makes once: about 3.6e+20 FLOPs, 1000 GPU"),
      std::string::npos)
      << price_text(none, 100, 3.6e20);
}

}  // namespace list_specs_test
}  // namespace hyfreedp::cli
