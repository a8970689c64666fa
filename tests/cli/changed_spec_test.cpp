// A part of a spec (`--only`), as commands say it.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "tests/cli/command_fixture.h"

namespace hyfreedp::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kSpec = R"(name: changed
title: As written
panels:
  - id: small
    dataset: {name: synthetic, train: 2000, validation: 500, test: 500, classes: 3, features: 16}
    model: linear
    seeds: [0, 1]
    epsilon: [3]
    delta: 1e-5
    train: {sample_rate: 0.1, steps: 6, optimizer: adamw}
    rows:
      - {method: fixed-rate, options: {lr: 5e-2}}
      - {method: prodigy}
)";

class Changed : public CommandTest {
 protected:
  explicit Changed(const std::string& command = "run") : CommandTest(command) {}

  void SetUp() override {
    CommandTest::SetUp();
    spec_ = file("changed.yaml", kSpec);
  }
  int in_folder(std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--out", path("out")});
    return run(std::move(arguments));
  }

  std::string spec_;
};

class RunChanged : public Changed {};

TEST_F(RunChanged, ADryRunIsOfThePartAskedFor) {
  ASSERT_EQ(in_folder({spec_, "--dry-run", "--only", "row=prodigy,seed=1"}), 0) << err();
  EXPECT_THAT(out(), AllOf(HasSubstr("1 study of 1 cell"), HasSubstr("prodigy"),
                           HasSubstr("1 trials to start with"), Not(HasSubstr("fixed-rate"))));
  expect_refused({spec_, "--dry-run", "--only", "row=prodgy"},
                 {"there is no row prodgy", "Did you mean 'prodigy'?"});
  expect_refused({"experiments/none.yaml", "--only", "a"}, {"there is no file"});
}

// The cap is of what would run.
TEST_F(RunChanged, ACapIsOfThePartAskedFor) {
  const std::vector<std::string> capped = {"--cap", "3.5", "--cap-delta", "1e-5", "--dry-run"};
  auto whole = capped;
  whole.insert(whole.begin(), spec_);
  EXPECT_EQ(in_folder(whole), 2) << out();
  auto part = whole;
  part.insert(part.end(), {"--only", "row=prodigy,seed=1"});
  EXPECT_EQ(in_folder(part), 0) << err();
  EXPECT_THAT(out(), HasSubstr("--cap 3.5 lets all of this start."));
}

TEST_F(RunChanged, WhatTrainsNothingHasNoParts) {
  const auto analytic = std::string(HYFREEDP_SOURCE_DIR) + "/experiments/papers/mohapatra/table-1.yaml";
  expect_refused({analytic, "--only", "a"}, {"it trains nothing, so that --only has nothing to choose from"});
}

}  // namespace
}  // namespace hyfreedp::cli
