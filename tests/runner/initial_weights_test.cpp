// What a run may begin with: weights that have seen its own private examples, or are no release, are refused when it is planned.
#include "harness/runner/initial_weights.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/runner/fake_world.h"

namespace hyfreedp::runner {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class InitialWeights : public testing::Test {
 protected:
  // A weights folder and an adapter folder in one; without a card: downloaded ones.
  std::string folder(const std::string& name, const std::string& card = "") const {
    const auto path = fs::path(world_.out().root) / name;
    fs::create_directories(path);
    for (const char* file :
         {"config.json", "model.safetensors", "adapter_config.json", "adapter_model.safetensors"}) {
      write_file_atomically((path / file).string(), "{}").value();
    }
    if (!card.empty()) write_file_atomically((path / "trial.json").string(), card).value();
    return path.string();
  }
  // Why a spec that begins with the folder cannot be planned; empty: it can.
  std::string refusal(const std::string& start, const std::string& dataset = "adult") {
    const auto spec = world_.read("name: s\ntitle: s\npanels:\n  - id: one\n    dataset: " + dataset +
                                  "\n    model: {name: linear, weights: " + start +
                                  "}\n    seeds: [0]\n    epsilon: [3]\n    delta: 1e-6\n    train: "
                                  "{sample_rate: 0.1, steps: 3, optimizer: sgd}\n"
                                  "    rows: [{method: fixed-rate, options: {lr: 0.1}}]\n");
    const auto planned = plan(spec);
    return planned ? "" : planned.error().message;
  }

  World world_;
};

TEST_F(InitialWeights, ThatHaveSeenNothingOfTheRunsDataAreTaken) {
  EXPECT_EQ(refusal(folder("downloaded")), "");
  EXPECT_EQ(refusal(folder("public", R"({"private_data": []})")), "");
  EXPECT_EQ(refusal(folder("other", R"({"private_data": ["e2e"]})")), "");
}

TEST_F(InitialWeights, ThatHaveSeenTheRunsOwnPrivateExamplesAreRefused) {
  const auto seen = folder("seen", R"({"private_data": ["e2e", "adult"]})");
  EXPECT_THAT(refusal(seen), HasSubstr("have seen 'adult' already"));
  EXPECT_EQ(refusal(seen, "{name: synthetic, train: 100, validation: 10, test: 10, features: 4}"), "");
}

TEST_F(InitialWeights, ThatAreConfidentialAreRefusedOnWhateverData) {
  const auto marked = folder("marked", R"({"watermark": "CONFIDENTIAL", "private_data": []})");
  EXPECT_THAT(refusal(marked), HasSubstr("are confidential"));
  EXPECT_THAT(refusal(marked, "{name: synthetic, train: 100, validation: 10, test: 10, features: 4}"),
              HasSubstr("are confidential"));
}

TEST_F(InitialWeights, ACardThatDoesNotSayWhatTheyHaveSeenIsRefused) {
  for (const char* card : {"{}", R"({"private_data": "adult"})", R"({"private_data": [1]})"}) {
    EXPECT_THAT(refusal(folder("unsaid", card)), HasSubstr("'private_data' must list")) << card;
  }
  EXPECT_THAT(refusal(folder("list", "[]")), HasSubstr("must be an object"));
  EXPECT_THAT(refusal(folder("torn", "{")), HasSubstr("trial.json"));
}

TEST_F(InitialWeights, OfNetworkAndAdapterBoth) {
  const json::object both{{"weights", folder("network", R"({"private_data": ["adult"]})")},
                          {"adapter", folder("adapter", R"({"private_data": ["e2e"]})")}};
  EXPECT_THAT(private_data_of_start(both).value(), ElementsAre("adult", "e2e"));
  EXPECT_THAT(private_data_of_start({}).value(), IsEmpty());
  EXPECT_THAT(private_data_of_start({{"weights", nullptr}}).value(), IsEmpty());
  trial::TrialConfig config;
  config.dataset = {"e2e", {}};
  config.model = {"gpt2", both};
  EXPECT_FALSE(check_start(config));
  config.dataset.name = "adult";
  EXPECT_FALSE(check_start(config));
}

// A cell's file names a folder that is not on every machine: its card is read where it is.
TEST_F(InitialWeights, ThatAreNotHereAreNotYetRefused) {
  trial::TrialConfig config;
  config.dataset = {"adult", {}};
  config.model = {"linear", {{"weights", "/nowhere/weights"}}};
  EXPECT_TRUE(check_start(config));
  EXPECT_FALSE(private_data_of_start(config.model.options));
}

}  // namespace
}  // namespace hyfreedp::runner
