// Every mistake in a spec is one sentence with file, line, key path and a way out.
#include <gmock/gmock.h>

#include "tests/runner/small_spec.h"

namespace hyfreedp::runner {
namespace spec_mistakes_test {

using namespace small_spec;
using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

struct Mistake {
  std::string name;
  std::size_t line;  // replaced
  std::string text;  // by this
  std::size_t at;    // the line that the message must name
  std::vector<std::string> says;
};

void PrintTo(const Mistake& mistake, std::ostream* out) { *out << mistake.name; }

class SpecMistake : public SpecFile, public testing::WithParamInterface<Mistake> {};

TEST_P(SpecMistake, IsOneSentenceWithTheLine) {
  const auto& mistake = GetParam();
  const auto spec = load(with_line(mistake.line, mistake.text));
  ASSERT_FALSE(spec) << "accepted";
  const auto& message = spec.error().message;
  EXPECT_THAT(message, HasSubstr(path() + ":" + std::to_string(mistake.at) + ":"));
  EXPECT_THAT(message, AllOf(ContainsRegex("[^.?][.?]$"), Not(HasSubstr("\n"))));
  for (const auto& part : mistake.says) EXPECT_THAT(message, HasSubstr(part));
}

INSTANTIATE_TEST_SUITE_P(
    All, SpecMistake,
    testing::Values(
        Mistake{"NotYaml", 4, "  dataset: {name: synthetic", 5, {"YAML"}},
        Mistake{"NotAMap", 5, "  model: linear\n  evaluate: fast", 6, {"defaults.evaluate", "map", "'fast'"}},
        Mistake{"UnknownTopKey", 2, "noise_sed: seed", 2, {"'noise_sed'", "'noise_seed'"}},
        Mistake{"UnknownDefault", 6, "  seed: [0]", 6, {"defaults", "'seed'", "'seeds'"}},
        Mistake{"UnknownPanelKey", 18, "    row: default", 18, {"panels[0]", "'row'", "'rows'"}},
        Mistake{"UnknownTrainKey", 11, "    step: 20", 11, {"defaults.train", "'step'", "'steps'"}},
        Mistake{"UnknownRowKey", 14, "  - {method: prodigy, option: {}}", 14, {"'option'", "'options'"}},
        Mistake{"UnknownMethod", 14, "  - method: prodgy", 14, {"rows[0].method", "'prodigy'"}},
        Mistake{"UnknownOption",
                14,
                "  - {method: prodigy, options: {d_coeff: 2}}",
                14,
                {"'d_coeff'", "'d_coef'"}},
        Mistake{"UnknownDataset", 4, "  dataset: syntetic", 4, {"defaults.dataset", "'synthetic'"}},
        Mistake{
            "UnknownDatasetOption", 4, "  dataset: {name: synthetic, trains: 9}", 4, {"'trains'", "'train'"}},
        Mistake{"UnknownModel", 5, "  model: linar", 5, {"defaults.model", "'linear'"}},
        Mistake{"ModelOnOtherData", 5, "  model: gpt2", 5, {"defaults.model", "sequences"}},
        Mistake{"WeightsThatAreNotThere",
                5,
                "  model: {name: vit, weights: no/such}",
                5,
                {"defaults.model", "model.safetensors", "no/such", "Looked in"}},
        Mistake{"NothingTrains",
                5,
                "  model: {name: mlp, trainable_pattern: conv}",
                5,
                {"defaults.model", "'conv'", "nothing to train", "fc1.weight"}},
        Mistake{"UnknownOptimizer", 12, "    optimizer: adam-w", 12, {"optimizer", "'adamw'"}},
        Mistake{"UnknownSharedRow", 18, "    rows: [prodigi]", 18, {"panels[0].rows[0]", "'prodigy'"}},
        Mistake{
            "UnknownSampler", 10, "    sampler: poison\n    sample_rate: 0.1", 10, {"sampler", "'poisson'"}},
        Mistake{"WrongTypeSteps", 11, "    steps: many", 11, {"defaults.train.steps", "number"}},
        Mistake{"FractionalSteps", 11, "    steps: 2.5", 11, {"steps", "whole number"}},
        Mistake{"WrongTypeSeeds", 6, "  seeds: 3", 6, {"defaults.seeds", "list"}},
        Mistake{"WrongTypeSeed", 6, "  seeds: [0, one]", 6, {"seeds[1]", "whole number", "'one'"}},
        Mistake{"WrongTypeOption",
                15,
                "  - {id: grid, method: nondp-gs, options: {grid: 1}}",
                15,
                {"rows[1].options.grid", "list"}},
        Mistake{"WrongTypeRows", 18, "    rows: 4", 18, {"panels[0].rows", "list"}},
        Mistake{"EmptySeeds", 6, "  seeds: []", 6, {"at least one seed"}},
        Mistake{"RepeatedSeed", 6, "  seeds: [0, 1, 0]", 6, {"seeds[2]", "repeats"}},
        Mistake{"EmptyEpsilon", 7, "  epsilon: []", 7, {"at least one epsilon"}},
        Mistake{"ZeroEpsilon", 7, "  epsilon: [1, 0]", 7, {"defaults.epsilon[1]", "positive"}},
        Mistake{"NegativeEpsilon", 7, "  epsilon: -1", 7, {"defaults.epsilon", "positive"}},
        Mistake{"NanEpsilon", 7, "  epsilon: [nan]", 7, {"positive"}},
        Mistake{"RepeatedEpsilon", 7, "  epsilon: [1, 1.0]", 7, {"repeats"}},
        Mistake{"DeltaTooLarge", 8, "  delta: 1.5", 8, {"defaults.delta", "between 0 and 1"}},
        Mistake{"DeltaFormula", 8, "  delta: N^-x", 8, {"N^-X"}},
        Mistake{"DeltaText", 8, "  delta: small", 8, {"number"}},
        Mistake{"RateTooLarge", 10, "    sample_rate: 1.5", 10, {"defaults.train.sample_rate", "1.5"}},
        Mistake{"RateTooSmall",
                10,
                "    sample_rate: 1e-5",
                10,
                {"defaults.train.sample_rate", "makes a batch of", "must be at least 1"}},
        Mistake{"RateAndBatch", 10, "    sample_rate: 0.1\n    batch_size: 100", 11, {"sample_rate"}},
        Mistake{"BatchTooLarge", 10, "    batch_size: 1001", 10, {"1000 training examples"}},
        Mistake{"ShuffleIsNotPrivate",
                10,
                "    sampler: shuffle\n    sample_rate: 0.1",
                10,
                {"shuffle", "poisson"}},
        Mistake{
            "NoClippingIsNotPrivate", 10, "    clipping: none\n    sample_rate: 0.1", 10, {"none", "auto-s"}},
        Mistake{
            "UnknownClipping", 10, "    clipping: auto-x\n    sample_rate: 0.1", 10, {"clipping", "auto-v"}},
        Mistake{"ConstantOfAutoV",
                10,
                "    clipping: auto-v\n    clipping_constant: 1\n    sample_rate: 0.1",
                11,
                {"clipping_constant", "auto-v has none"}},
        Mistake{"QuantileOfAutoS",
                10,
                "    clipping_quantile: 0.5\n    sample_rate: 0.1",
                10,
                {"clipping_quantile", "adaptive"}},
        Mistake{"MeanWithoutNorm",
                10,
                "    feature_mean_noise: 40\n    sample_rate: 0.1",
                10,
                {"feature_mean_noise", "feature_mean_norm"}},
        Mistake{"MeanOfTokens",
                18,
                "    rows: default\n    dataset: synthetic-tokens\n    model: {name: gpt2, width: 32, depth: "
                "2, heads: 4}\n"
                "    train: {feature_mean_noise: 40, feature_mean_norm: 3}",
                21,
                {"feature_mean_noise", "needs a vector of features for each record",
                 "synthetic-tokens has none."}},
        Mistake{"MeanOfCopies",
                18,
                "    rows: default\n    dataset: {name: cifar10, normalise: cifar100, features: network, "
                "network: resnet-imagenet, weights: cifar100-resnet20, copies: 4}\n"
                "    model: linear\n    train: {feature_mean_noise: 40, feature_mean_norm: 3}",
                21,
                {"feature_mean_noise", "needs one vector of features for each record, not of copies of it"}},
        Mistake{"SharesWithoutLayers",
                10,
                "    clipping_shares: size\n    sample_rate: 0.1",
                10,
                {"clipping_shares", "per-layer"}},
        Mistake{"AdaptivePerLayer",
                10,
                "    clipping: adaptive\n    clipping_groups: per-layer\n    sample_rate: 0.1",
                11,
                {"clipping_groups", "auto-v and abadi"}},
        Mistake{"UnknownControl", 10, "    control: all\n    sample_rate: 0.1", 10, {"control", "clip-only"}},
        Mistake{"UnknownControlOfARow",
                14,
                "  - {method: prodigy, control: clip}",
                14,
                {"rows[0].control", "clip-only"}},
        Mistake{"NormsOfPrivateData",
                4,
                "  dataset: fashion-mnist\n  evaluate: {gradient_norms: true}",
                5,
                {"defaults.evaluate.gradient_norms", "public data", "fashion-mnist"}},
        Mistake{"LossesOfPrivateData",
                4,
                "  dataset: fashion-mnist\n  evaluate: {raw_losses: true}",
                5,
                {"defaults.evaluate.raw_losses", "public data", "fashion-mnist"}},
        Mistake{"TheTrainingSplitOfPrivateData",
                4,
                "  dataset: fashion-mnist\n  evaluate: {training_split: true}",
                5,
                {"defaults.evaluate.training_split", "public data", "fashion-mnist"}},
        Mistake{"ClassesOfTokens",
                18,
                "    rows: default\n    dataset: synthetic-tokens\n    model: {name: gpt2, width: 32, depth: "
                "2, heads: 4}\n"
                "    evaluate: {by_class: true}",
                21,
                {"panels[0].evaluate.by_class", "one class each"}},
        Mistake{"TextsWithoutATokenizer",
                18,
                "    rows: default\n    dataset: synthetic-tokens\n    model: {name: gpt2, width: 32, depth: "
                "2, heads: 4}\n"
                "    evaluate: {written: {}}",
                21,
                {"panels[0].evaluate.written", "needs a dataset with 'tokenizer'"}},
        Mistake{"TextsOfClasses",
                4,
                "  dataset: fashion-mnist\n  evaluate: {written: {}}",
                5,
                {"defaults.evaluate.written", "is for language models"}},
        Mistake{"TextsByAnUnknownWay",
                4,
                "  dataset: fashion-mnist\n  evaluate: {written: {decoding: beams}}",
                5,
                {"defaults.evaluate.written.decoding", "Did you mean 'beam'?"}},
        Mistake{"OnlyInfWithoutArm",
                14,
                "  - {method: dp-hyper, epsilon: [inf]}",
                14,
                {"rows[0].epsilon", "non-private arm"}},
        Mistake{"DuplicateKey", 2, "name: again", 2, {"'name' twice"}},
        Mistake{"DuplicateRow", 15, "  - method: prodigy", 15, {"second row 'prodigy'", "'id'"}},
        Mistake{"DuplicatePanel", 18, "  - id: one", 18, {"panels[1].id", "'one'"}},
        Mistake{"BadIdentifier", 17, "  - id: a/b", 17, {"panels[0].id", "'a/b'"}},
        Mistake{"BadName", 1, "name: ../x", 1, {"name", "'../x'"}},
        Mistake{"NoMethod", 14, "  - id: nothing", 14, {"'method'"}},
        Mistake{"NoName", 1, "title: test", 1, {"'name'"}}, Mistake{"NoSteps", 11, "", 10, {"'steps'"}},
        Mistake{"EmptyNoiseSeed", 2, "noise_seed: \"\"", 2, {"noise_seed", "empty"}}),
    [](const auto& mistake) { return mistake.param.name; });

TEST_F(SpecFile, NoPanelIsRefused) {
  const auto spec = load("name: test\npanels: []\n");
  ASSERT_FALSE(spec);
  EXPECT_THAT(spec.error().message, AllOf(HasSubstr(":2: panels"), HasSubstr("at least one panel")));
}

TEST_F(SpecFile, AMissingFileIsNamed) {
  const auto spec = load_spec("/nonexistent/spec.yaml");
  ASSERT_FALSE(spec);
  EXPECT_THAT(spec.error().message, HasSubstr("/nonexistent/spec.yaml"));
}

}  // namespace spec_mistakes_test
}  // namespace hyfreedp::runner
