// Weights that do not fit their model are a mistake of the spec, which no run has to find.
#include "spec_file.h"
#include "tests/runner/zero_weights.h"

namespace hyfreedp::runner {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class WeightsSpec : public WrittenSpec {
 protected:
  std::string at(const std::string& name) const { return (folder_ / name).string(); }
  std::string spec_of(const std::string& model,
                      const std::string& dataset = "{name: synthetic, train: 1000}") const {
    return "name: s\ndataset: " + dataset + "\nmodel: " + model +
           "\nseeds: [0]\nepsilon: 3\ntrain: {sample_rate: 0.05, steps: 10, optimizer: adamw}\n"
           "rows: [{method: fixed-rate, options: {lr: 0.1}}]\n";
  }
};

TEST_F(WeightsSpec, OfAnotherNetworkAreAMistakeOfTheSpec) {
  const auto weights = at("vit");
  const models::ModelInput images{.features = 3 * 32 * 32, .classes = 10, .image = {3, 32, 32}};
  write_zero_weights(weights, "vit", {{"width", 8}, {"depth", 1}, {"heads", 2}}, images);
  const auto yaml =
      spec_of("{name: vit, weights: " + weights + "}", "{name: synthetic-images, channels: 3, side: 32}");
  EXPECT_EQ(refusal(yaml), "");
  auto config = read_json_file(weights + "/config.json").value().as_object();
  config["model_args"].as_object()["depth"] = 2;
  write_file_atomically(weights + "/config.json", canonical_json(config)).value();
  EXPECT_THAT(refusal(yaml), AllOf(HasSubstr("spec.yaml:3: model: " + weights),
                                   HasSubstr("missing: blocks.1.norm1.weight"), Not(HasSubstr("Example"))));
  config["model_args"].as_object()["reg_tokens"] = 4;
  write_file_atomically(weights + "/config.json", canonical_json(config)).value();
  EXPECT_THAT(refusal(yaml), AllOf(HasSubstr("'reg_tokens' is 4"), Not(HasSubstr("Example"))));
  // Those that make the features, too.
  EXPECT_THAT(
      refusal(spec_of("linear", "{name: fashion-mnist, features: network, network: vit, side: 32, weights: " +
                                    weights + "}")),
      AllOf(HasSubstr("spec.yaml:2: dataset: "), HasSubstr("'reg_tokens' is 4")));
}

TEST_F(WeightsSpec, ANewHeadForOtherClassesIsSaid) {
  write_zero_weights(at("mlp"), "mlp", {{"hidden", json::array{5}}}, {.features = 20, .classes = 7});
  const auto spec = load(spec_of("{name: mlp, hidden: [5], weights: " + at("mlp") + "}",
                                 "{name: synthetic, train: 1000, features: 20, classes: 4}"));
  ASSERT_TRUE(spec) << spec.error().message;
  EXPECT_THAT(spec->warnings, testing::Contains(AllOf(HasSubstr("of 7 classes and the dataset has 4"),
                                                      HasSubstr("fc2, is drawn anew"))));
}

TEST_F(WeightsSpec, MistakesInAModelsOptionsHaveExamplesOfThatModelOrNone) {
  EXPECT_THAT(refusal(spec_of("{name: llama, width: 8}")),
              AllOf(HasSubstr("the dataset has no sequences of tokens"), Not(HasSubstr("Example"))));
  EXPECT_THAT(refusal(spec_of("{name: vit, width: wide}")), HasSubstr("Example: `width: "));
  EXPECT_THAT(refusal(spec_of("lama")), AllOf(HasSubstr("Did you mean 'llama'?"), Not(HasSubstr("Example"))));
  EXPECT_THAT(refusal(spec_of("{name: mlp, trainable: bitfit, trainable_pattern: x}")),
              AllOf(HasSubstr("trainable_pattern"), Not(HasSubstr("linear"))));
}

}  // namespace
}  // namespace hyfreedp::runner
