// Presets on the command line; specs that train nothing: the paper's values alone, or what is
// computed.
#include "harness/cli/common/value_spec.h"

#include <filesystem>

#include "command_fixture.h"
#include "harness/cli/common/run_needs.h"
#include "harness/runner/spec/plan.h"

namespace hyfreedp::cli {
namespace value_spec_test {

constexpr const char* kValues =
    R"({"tables": [{"id": "2", "row_fields": ["eps", "method"], "column_fields": ["data"],
  "note": "as printed", "cells": [
  {"row": ["1", "Grid"], "columns": ["CIFAR10"], "value": 96.49, "unit": "%", "sd": 0.1},
  {"row": ["1", "Grid"], "columns": ["SVHN"], "value": null, "unit": "%"},
  {"row": ["1", "Ours"], "columns": ["CIFAR10"], "value": 95, "unit": "%"}]}], "figures": [{"id": "4"}]})";

constexpr const char* kSpec = R"(name: demo
title: A table
reproduces: {paper: demo, id: table 2}
assumed: [B is not stated]
presets:
  paper: {not_runnable: {reason: no images, datasets: [imagenet], weights: [ViT]}}
  small:
    defaults: {dataset: {name: synthetic, train: 500}, model: linear, seeds: [0], epsilon: [3], delta: 1e-4,
               train: {sample_rate: 0.1, steps: 10, optimizer: adamw}}
    panels: [{id: one, rows: [{method: fixed-rate, options: {lr: 0.1}}]}]
  census:
    defaults: {dataset: adult, model: linear, seeds: [0], epsilon: [3], delta: 1e-5,
               train: {sample_rate: 0.1, steps: 10, optimizer: adamw}}
    panels: [{id: one, rows: [{method: fixed-rate, options: {lr: 0.1}}]}]
  bias: {analytic: {name: hyfreedp-figure-7}}
)";

class PaperSpecs : public CommandTest {
 protected:
  explicit PaperSpecs(const std::string& command = "run") : CommandTest(command) {}
  void SetUp() override {
    CommandTest::SetUp();
    file("values.json", kValues);
    spec_ = file("demo.yaml", kSpec);
  }
  std::string spec_;
};

class PaperTables : public PaperSpecs {
 protected:
  PaperTables() : PaperSpecs("table") {}
};

TEST_F(PaperSpecs, WhatCannotRunGivesThePapersValuesAlone) {
  ASSERT_EQ(run({spec_, "--preset", "paper", "--out", path("out")}), 0) << err();
  EXPECT_NE(
      out().find("It cannot be run here: no images. Not here: data sets imagenet; pretrained weights ViT."),
      std::string::npos)
      << out();
  for (const char* name : {"table.md", "table.csv", "table.tex", "table.html"}) {
    const auto written = read_file(path("out/demo-paper/") + name);
    ASSERT_TRUE(written) << name;
    EXPECT_NE(written->find("96.49"), std::string::npos) << name;
    if (std::string(name) == "table.csv") continue;  // cells alone
    EXPECT_NE(written->find("B is not stated"), std::string::npos) << name;
  }
  EXPECT_FALSE(std::filesystem::exists(path("out/hyfreedp.sqlite")));
}

TEST_F(PaperSpecs, EveryCellOfThePaperHasItsPlace) {
  const auto spec = runner::load_spec(spec_, "paper").value();
  const auto table = paper_values_alone(spec.content).value();
  ASSERT_EQ(table.rows.size(), 2u);
  ASSERT_EQ(table.columns, (std::vector<std::string>{"CIFAR10", "SVHN"}));
  EXPECT_EQ(table.unit, "%");
  EXPECT_EQ(table.rows[0].labels, (std::vector<std::string>{"1", "Grid"}));
  EXPECT_EQ(table.rows[0].cells[0].paper, 96.49);
  EXPECT_EQ(table.rows[0].cells[0].paper_sd, 0.1);
  EXPECT_EQ(table.rows[0].cells[0].decimals, 2);
  EXPECT_EQ(table.rows[1].cells[0].decimals, 2);      // 95.00, as its column
  EXPECT_FALSE(table.rows[0].cells[1].paper);         // printed empty
  EXPECT_FALSE(table.rows[1].cells[1].text.empty());  // not printed
  EXPECT_FALSE(table.rows[1].cells[0].ours);
}

TEST_F(PaperSpecs, WhatIsComputedIsPrintedAndWritten) {
  ASSERT_EQ(run({spec_, "--preset", "bias", "--out", path("out")}), 0) << err();
  EXPECT_TRUE(std::filesystem::exists(path("out/demo-bias/table.md")));
  EXPECT_NE(out().find("Written: "), std::string::npos);
}

// What `run` made is found by its name, like the table of any other spec.
TEST_F(PaperTables, AreFoundByNameAfterTheRun) {
  expect_refused({"demo-bias", "--out", path("out")}, {"there is no folder " + path("out")});
  std::ostringstream said, complained;
  ASSERT_EQ(dispatch({"run", spec_, "--preset", "bias", "--out", path("out")}, said, complained), 0);
  ASSERT_EQ(run({"demo-bias", "--out", path("out")}), 0) << err();
  EXPECT_NE(out().find("Written: "), std::string::npos) << out();
  EXPECT_EQ(said.str().substr(0, 200), out().substr(0, 200));
  ASSERT_EQ(dispatch({"report", "demo-bias", "--out", path("out")}, said, complained), 0) << complained.str();
  EXPECT_TRUE(std::filesystem::exists(path("out/demo-bias/report.html")));
  std::filesystem::remove(spec_);
  expect_refused({"demo-bias", "--out", path("out")},
                 {"spec.json says that these tables came from", "demo.yaml"});
}

TEST_F(PaperSpecs, DryRunsSayWhatThereIsAndWhatItCosts) {
  ASSERT_EQ(run({spec_, "--preset", "paper", "--dry-run", "--out", path("out")}), 0);
  EXPECT_NE(out().find("It cannot be run here: no images."), std::string::npos);
  ASSERT_EQ(run({spec_, "--preset", "bias", "--dry-run", "--out", path("out")}), 0);
  EXPECT_NE(out().find("nothing is trained"), std::string::npos);
  ASSERT_EQ(run({spec_, "--dry-run", "--out", path("out"), "--gpu-tflops", "30"}), 0) << err();
  EXPECT_NE(out().find("demo-small: A table\n1 study of 1 cell\n"), std::string::npos) << out();
  // 10 steps of 50 samples; 6 x 51 parameters x 500 examples.
  EXPECT_NE(out().find("Price of these: 1 run, 500 examples seen, about 1.53e+05 FLOPs"), std::string::npos)
      << out();
  EXPECT_NE(out().find("at an assumed 30 TFLOP/s"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(path("out")));
  expect_refused({spec_, "--dry-run", "--gpu-tflops", "0"}, {"--gpu-tflops must be positive"});
}

TEST_F(PaperSpecs, MissingDataIsSaidBeforeAnythingTrains) {
  const char* data = std::getenv("HYFREEDP_DATA");
  const std::string kept = data != nullptr ? data : "";
  ::setenv("HYFREEDP_DATA", path("nothing").c_str(), 1);
  expect_refused({spec_, "--preset", "census", "--out", path("out")}, {"adult", "HYFREEDP_DATA"});
  ASSERT_EQ(run({spec_, "--preset", "census", "--dry-run", "--out", path("out")}), 0) << err();
  EXPECT_NE(out().find("Not on this machine: "), std::string::npos) << out();
  EXPECT_EQ(missing_data(runner::load_spec(spec_, "census").value()).size(), 1u);
  if (data != nullptr)
    ::setenv("HYFREEDP_DATA", kept.c_str(), 1);
  else
    ::unsetenv("HYFREEDP_DATA");
  EXPECT_TRUE(missing_data(runner::load_spec(spec_, "small").value()).empty());
}

TEST_F(PaperSpecs, AnUnknownPresetNamesTheNearest) {
  expect_refused({spec_, "--preset", "smal"},
                 {"demo.yaml:6: presets names no preset: 'smal'", "Did you mean 'small'?"});
}

TEST_F(PaperTables, AFileStandsForItsNameInTheDatabase) {
  expect_refused({spec_, "--out", path("out")}, {"there is no folder " + path("out")});
  ASSERT_EQ(run({spec_, "--preset", "paper", "--format", "csv", "--out", path("out")}), 0) << err();
  EXPECT_NE(out().find("96.49"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(path("out"))) << "any but the terminal's format writes no files";
  ASSERT_EQ(run({spec_, "--preset", "paper", "--out", path("out")}), 0) << err();
  EXPECT_TRUE(std::filesystem::exists(path("out/demo-paper/table.tex")));
  expect_refused({spec_, "--preset", "paper", "--ledger"}, {"trains nothing"});
  expect_refused({"demo", "--preset", "paper"}, {"name the file, or NAME-PRESET"});
}

}  // namespace value_spec_test
}  // namespace hyfreedp::cli
