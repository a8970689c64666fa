// Reading specs: the shipped ones load, and every mistake is one sentence with file, line, key path
// and a way out.
#include <cmath>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "harness/runner/spec/plan.h"
#include "tests/datasets/scratch.h"
#include "tests/in_project_folder.h"

namespace hyfreedp::runner {
namespace spec_test {

using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

// A complete small spec; each mistake replaces one line of it.
const std::vector<std::string> kLines = {
    "name: test",                                                 // 1
    "noise_seed: seed",                                           // 2
    "defaults:",                                                  // 3
    "  dataset: {name: synthetic, train: 1000}",                  // 4
    "  model: linear",                                            // 5
    "  seeds: [0, 1, 2]",                                         // 6
    "  epsilon: [1, inf]",                                        // 7
    "  delta: N^-1.1",                                            // 8
    "  train:",                                                   // 9
    "    sample_rate: 0.1",                                       // 10
    "    steps: 20",                                              // 11
    "    optimizer: {name: adamw, weight_decay: 0.02}",           // 12
    "rows:",                                                      // 13
    "  - method: prodigy",                                        // 14
    "  - {id: grid, method: nondp-gs, options: {grid: [1e-3]}}",  // 15
    "panels:",                                                    // 16
    "  - id: one",                                                // 17
    "    rows: default",                                          // 18
};

std::string with_line(std::size_t line, const std::string& text) {
  std::string yaml;
  for (std::size_t i = 0; i < kLines.size(); ++i) yaml += (i + 1 == line ? text : kLines[i]) + "\n";
  return yaml;
}

class SpecFile : public testing::Test {
 protected:
  SpecFile()
      : folder_(std::filesystem::temp_directory_path() / ("hyfreedp_spec_test." + std::to_string(getpid()))) {
    std::filesystem::create_directories(folder_);
  }
  ~SpecFile() override { std::filesystem::remove_all(folder_); }

  std::string path() const { return (folder_ / "spec.yaml").string(); }
  Result<Spec> load(const std::string& yaml) const {
    std::ofstream(path()) << yaml;
    return load_spec(path());
  }
  json::object panel(const std::string& yaml) const {
    const auto spec = load(yaml);
    if (!spec) {
      ADD_FAILURE() << spec.error().message;
      return {};
    }
    return as_json(spec->content.panels.at(0));
  }

 private:
  std::filesystem::path folder_;
};

TEST_F(SpecFile, EveryDefaultIsResolved) {
  const auto panel = this->panel(with_line(0, ""));
  EXPECT_EQ(panel.at("population").as_int64(), 1000);
  EXPECT_EQ(panel.at("batch_size").as_double(), 100);
  EXPECT_EQ(panel.at("clipping").as_string(), "auto-s");
  EXPECT_EQ(panel.at("clipping_constant").as_double(), 0.01);
  EXPECT_EQ(panel.at("title").as_string(), "one");
  EXPECT_EQ(panel.at("dimension").as_int64(), (16 + 1) * 3);
  EXPECT_NEAR(panel.at("delta").as_double(), std::pow(1000, -1.1), 1e-12);
  EXPECT_EQ(panel.at("dataset").at("options").at("features").as_int64(), 16);
  EXPECT_EQ(panel.at("optimizer").at("options").at("weight_decay").as_double(), 0.02);
  EXPECT_EQ(panel.at("optimizer").at("options").at("beta1").as_double(), 0.9);
  const auto& row = panel.at("rows").as_array().at(0).as_object();
  EXPECT_EQ(row.at("id").as_string(), "prodigy");
  EXPECT_EQ(row.at("title").as_string(), "Prodigy");
  EXPECT_EQ(row.at("label").as_string(), "end-to-end DP");
  EXPECT_EQ(row.at("steps").as_int64(), 20);
  EXPECT_EQ(row.at("options").at("weight_decay").as_double(), 0.01);
  EXPECT_EQ(json::serialize(row.at("epsilons")), R"([1E0,"inf"])");
}

TEST_F(SpecFile, ShiftSetsAreTestSplitsAlone) {
  const auto panel = this->panel(
      with_line(5,
                "  ood_test: [{id: near, dataset: {name: synthetic, separation: 1.0, test: 30}}]\n"
                "  model: linear"));
  const auto& set = panel.at("ood_test").as_array().at(0).as_object();
  EXPECT_EQ(set.at("id").as_string(), "near");
  const auto& options = set.at("dataset").at("options").as_object();
  EXPECT_EQ(options.at("train").as_int64(), 0);
  EXPECT_EQ(options.at("validation").as_int64(), 0);
  EXPECT_EQ(options.at("test").as_int64(), 30);
  EXPECT_FALSE(this->panel(with_line(0, "")).contains("ood_test"));
  const auto planned = plan(load_spec(path()).value()).value();
  EXPECT_FALSE(planned.front().cell.base.to_json().contains("ood_test"));
}

TEST_F(SpecFile, AnOptionThatAnotherLeavesUnreadIsRefusedWhereItStands) {
  const auto spec = load(with_line(14, "  - {method: hyfreedp-plus, options: {eta0: 0.3}}"));
  ASSERT_FALSE(spec);
  EXPECT_THAT(spec.error().message, HasSubstr("rows[0].options.eta0 is read only with 'eta0_rule: fixed'."));
  EXPECT_TRUE(load(with_line(14, "  - {method: hyfreedp-plus, options: {eta0: 0.3, eta0_rule: fixed}}")));
}

// It would end within the run, as if the program were broken.
TEST_F(SpecFile, APairedReleaseWithoutABoundIsRefused) {
  const auto refusal = [&](const std::string& method, const std::string& options) {
    const auto spec =
        load(with_line(14, "  - {id: paired, method: " + method + ", options: " + options + "}"));
    return spec ? std::string() : spec.error().message;
  };
  for (const std::string method : {"hyfreedp", "hyfreedp-plus"}) {
    EXPECT_THAT(refusal(method, "{release: paired, difference_share: 2, R_l0: 1.7e308}"),
                HasSubstr("R_l0 of 1.7e+308 times difference_share of 2 is too large"));
    EXPECT_THAT(refusal(method, "{release: paired, difference_share: 1e-300, R_l0: 1e-300}"),
                HasSubstr("is too small"));
    EXPECT_THAT(refusal(method, "{release: paired, R_l_floor: 1e-300}"), HasSubstr("R_l_floor"));
    EXPECT_THAT(refusal(method, "{release: paired, R_l0: 100}"),
                ::testing::Not(HasSubstr("difference_share")));
    EXPECT_THAT(refusal(method, "{R_l0: 1.7e308}"), ::testing::Not(HasSubstr("difference_share")));
  }
}

TEST_F(SpecFile, ShiftSetsThatDoNotFitAreRefused) {
  const auto refusal = [&](const std::string& sets) {
    const auto spec = load(with_line(5, "  ood_test: " + sets + "\n  model: linear"));
    return spec ? std::string() : spec.error().message;
  };
  EXPECT_THAT(refusal("[{id: a, dataset: {name: synthetic, classes: 4}}]"),
              AllOf(HasSubstr("spec.yaml:5: defaults.ood_test[0].dataset"),
                    HasSubstr("'a' has 4 classes, and what is trained on has 3")));
  EXPECT_THAT(refusal("[{id: a, dataset: {name: synthetic, features: 20}}]"),
              HasSubstr("has 20 features (no images), and what is trained on has 16"));
  EXPECT_THAT(refusal("[{id: a, dataset: {name: synthetic, train: 20}}]"),
              HasSubstr("dataset.train has no effect in 'ood_test'"));
  EXPECT_THAT(refusal("[{id: a, dataset: adult}]"),
              HasSubstr("'adult' has no option 'train', so its test split cannot be loaded"));
  EXPECT_THAT(refusal("[{id: a, dataset: synthetic}, {id: a, dataset: synthetic}]"),
              HasSubstr("is a second set 'a'"));
  EXPECT_THAT(refusal("[{id: a:b, dataset: synthetic}]"), HasSubstr("must be a name of letters"));
  EXPECT_THAT(refusal("[{dataset: synthetic}]"), HasSubstr("'id' is missing"));
  EXPECT_THAT(refusal("[{id: a, dataset: synthetic, train: 3}]"), HasSubstr("train"));
  EXPECT_THAT(refusal("{id: a}"), HasSubstr("must be a list"));
  // Numbers that stand for other images than the head was trained on would give some accuracy, too.
  const auto of_images = [&](const std::string& option) {
    const auto spec = load(
        with_line(4, "  dataset: cifar10\n  ood_test: [{id: a, dataset: {name: cifar10-1" + option + "}}]"));
    return spec ? std::string("taken") : spec.error().message;
  };
  EXPECT_EQ(of_images(""), "taken");
  EXPECT_THAT(of_images(", normalise: imagenet"),
              HasSubstr("with the same 'normalise', 'interpolation', 'layer'"));
  const auto trained = load(with_line(4, "  dataset: cifar10-1"));
  ASSERT_TRUE(trained.has_error());
  EXPECT_THAT(
      trained.error().message,
      HasSubstr("defaults.dataset is cifar10-1, which is a test set alone; train on another dataset"));
}

// The problem is in the files, so an example of another dataset would not help.
TEST_F(SpecFile, FilesThatAreNotHereAreNamedWithoutAnExample) {
  const auto spec = load(with_line(4, "  dataset: {name: table-file, path: nowhere.csv}"));
  ASSERT_TRUE(spec.has_error());
  EXPECT_THAT(
      spec.error().message,
      AllOf(HasSubstr("spec.yaml:4: defaults.dataset: table-file: path 'nowhere.csv': there is no such"),
            Not(HasSubstr("Example"))));
}

TEST_F(SpecFile, ARowMayChangeASharedOne) {
  const auto panel = this->panel(with_line(
      18, "    rows: [prodigy, {use: prodigy, id: long, steps: 40, seeds: [7], options: {d_coef: 2}}]"));
  const auto& rows = panel.at("rows").as_array();
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[1].at("id").as_string(), "long");
  EXPECT_EQ(rows[1].at("method").as_string(), "prodigy");
  EXPECT_EQ(rows[1].at("steps").as_int64(), 40);
  EXPECT_EQ(rows[1].at("options").at("d_coef").as_double(), 2);
  EXPECT_EQ(rows[0].at("options").at("d_coef").as_double(), 1);
}

TEST_F(SpecFile, AnOverrideKeepsTheOtherOptionsOfASharedRow) {
  const auto panel = this->panel(with_line(14, "  - {method: prodigy, options: {d_coef: 3, d0: 1e-5}}") +
                                 "  - id: two\n    rows: [{use: prodigy, options: {d_coef: 2}}]\n");
  const auto spec = load_spec(path());
  const auto& options = spec->content.panels.at(1).rows.at(0).options;
  EXPECT_EQ(options.at("d_coef").as_double(), 2);
  EXPECT_EQ(options.at("d0").as_double(), 1e-5);
}

// A panel's own keys win over the defaults, inside `train` too.
TEST_F(SpecFile, APanelChangesTheDefaults) {
  const auto panel =
      this->panel(with_line(18, "    seeds: [4]\n    train: {steps: 5}\n    evaluate: {every: 2}"));
  EXPECT_EQ(panel.at("steps").as_int64(), 5);
  EXPECT_EQ(panel.at("sample_rate").as_double(), 0.1);
  EXPECT_EQ(panel.at("evaluate_every").as_int64(), 2);
  EXPECT_EQ(json::serialize(panel.at("seeds")), "[4]");
}

TEST_F(SpecFile, FewerSeedsThanThePanelAreNeverSilent) {
  const auto noted = this->panel(with_line(14, "  - {method: prodigy, seeds: [0]}"));
  EXPECT_EQ(noted.at("rows").as_array().at(0).at("footnotes").as_array().at(0).as_string(),
            "1 seed instead of 3.");
  const auto own = this->panel(with_line(14, "  - {method: prodigy, seeds: [0], footnote: Too slow.}"));
  EXPECT_EQ(own.at("rows").as_array().at(0).at("footnotes").as_array().at(0).as_string(), "Too slow.");
}

TEST_F(SpecFile, MethodsWithoutANonPrivateArmLeaveItOut) {
  const auto panel = this->panel(with_line(14, "  - method: dp-hyper"));
  EXPECT_EQ(json::serialize(panel.at("rows").as_array().at(0).at("epsilons")), "[1E0]");
}

// How a search is charged is an option, and with it the label.
TEST_F(SpecFile, ALabelFollowsTheOptionThatDecidesIt) {
  for (const auto& [tuning, label] :
       {std::pair{"oracle", "oracle"}, std::pair{"composed", "end-to-end DP"}}) {
    const auto panel =
        this->panel(with_line(14, fmt::format("  - {{method: dpadam, options: {{tuning: {}}}}}", tuning)));
    EXPECT_EQ(panel.at("rows").as_array().at(0).at("label").as_string(), label);
  }
  for (const auto& [score, label] :
       {std::pair{"train-unpriced", "oracle"}, std::pair{"released", "end-to-end DP"}}) {
    const auto panel = this->panel(
        with_line(14, fmt::format("  - {{method: linear-scaling, options: {{score: {}}}}}", score)));
    EXPECT_EQ(panel.at("rows").as_array().at(0).at("label").as_string(), label);
  }
}

TEST_F(SpecFile, ClippingOptionsReachThePlan) {
  const auto usual = this->panel(with_line(0, ""));
  for (const char* key : {"clipping_groups", "clipping_shares", "adaptive", "gradient_norms",
                          "released_norms", "noise_residual"}) {
    EXPECT_FALSE(usual.contains(key)) << key;
  }
  const auto layered = load(with_line(10,
                                      "    clipping: abadi\n    clipping_groups: per-layer\n    "
                                      "clipping_shares: size\n    sample_rate: 0.1"));
  ASSERT_TRUE(layered) << layered.error().message;
  const auto per_layer = plan(*layered).value().front().cell.base.privacy;
  EXPECT_EQ(per_layer.groups, trial::ClippingGroups::per_layer);
  EXPECT_EQ(per_layer.shares, trial::GroupShares::size);
  EXPECT_EQ(per_layer.sensitivity(), 1);

  const auto adaptive = load(with_line(10, "    clipping: adaptive\n    sample_rate: 0.1"));
  ASSERT_TRUE(adaptive) << adaptive.error().message;
  const auto studies = plan(*adaptive).value();
  const auto& privacy = studies.front().cell.base.privacy;
  ASSERT_TRUE(privacy.adaptive);
  EXPECT_EQ(privacy.clipping_constant, 0.1);
  EXPECT_EQ(privacy.adaptive->quantile, 0.5);
  EXPECT_EQ(privacy.adaptive->rate, 0.2);
  EXPECT_DOUBLE_EQ(privacy.adaptive->count_noise, 10);  // B / 20 samples over the sensitivity 1/2
  EXPECT_EQ(studies.back().cell.base.privacy.clipping, trial::Clipping::none);
}

TEST_F(SpecFile, AFeatureMeanReachesThePlan) {
  EXPECT_FALSE(this->panel(with_line(0, "")).contains("feature_mean"));
  const auto spec =
      load(with_line(10, "    feature_mean_noise: 40\n    feature_mean_norm: 3\n    sample_rate: 0.1"));
  ASSERT_TRUE(spec) << spec.error().message;
  const auto studies = plan(*spec).value();
  for (const auto& study : studies) {
    const trial::FeatureMean expected{.norm = 3, .noise = study.cell.epsilon ? 40.0 : 0.0};
    EXPECT_EQ(study.cell.base.privacy.asked.feature_mean, expected);
  }
  EXPECT_NE(json::serialize(as_json(spec->content.panels.at(0).footnotes)).find("Features less a mean"),
            std::string::npos);
}

TEST_F(SpecFile, ControlArmsSayWhatTheyKeep) {
  const auto usual = plan(*load(with_line(0, ""))).value();
  const auto arm = [](const std::vector<PlannedStudy>& studies, const std::string& row) {
    for (const auto& study : studies) {
      if (study.cell.row == row && !study.cell.epsilon) return study.cell.base.privacy;
    }
    throw std::runtime_error("no non-private cell");
  };
  const auto spec = load(with_line(14, "  - {method: prodigy, control: clip-only}"));
  ASSERT_TRUE(spec) << spec.error().message;
  const auto studies = plan(*spec).value();
  EXPECT_EQ(arm(studies, "prodigy").clipping, trial::Clipping::auto_s);
  EXPECT_EQ(arm(studies, "prodigy").sampler, trial::Sampler::poisson);
  EXPECT_EQ(arm(studies, "grid").clipping, trial::Clipping::none);
  EXPECT_EQ(arm(usual, "prodigy").clipping, trial::Clipping::none);
  EXPECT_EQ(spec->content.panels.at(0).rows.at(0).footnotes.at(0),
            "Non-private: batches drawn and clipped as in the private columns, without noise.");

  const auto none = plan(*load(with_line(10, "    control: none\n    sample_rate: 0.1"))).value();
  EXPECT_EQ(arm(none, "grid").sampler, trial::Sampler::shuffle);
  EXPECT_EQ(arm(none, "grid").clipping, trial::Clipping::none);
  // The arm by its name is the one without: the same trials, and the table says which.
  const auto named = load(with_line(10, "    control: sampling-only\n    sample_rate: 0.1"));
  const auto named_studies = plan(*named).value();
  for (std::size_t i = 0; i < usual.size(); ++i) EXPECT_EQ(named_studies[i].id, usual[i].id);
  for (const auto& study : studies) EXPECT_TRUE(study.cell.epsilon || !study.cell.base.privacy.is_private);
}

TEST_F(SpecFile, GradientNormsOfPublicDataReachTheTrial) {
  const auto spec = load(with_line(5, "  model: linear\n  evaluate: {gradient_norms: true}"));
  ASSERT_TRUE(spec) << spec.error().message;
  EXPECT_TRUE(plan(*spec).value().front().cell.base.evaluation.recorded.gradient_norms);
}

TEST_F(SpecFile, ValuesThatAreRecordedReachTheTrialAndArePublicDatas) {
  const auto spec = load(with_line(5,
                                   "  model: linear\n  evaluate: {raw_losses: true, training_split: true, "
                                   "distance: true, by_class: true}"));
  ASSERT_TRUE(spec) << spec.error().message;
  const auto& recorded = plan(*spec).value().front().cell.base.evaluation.recorded;
  EXPECT_TRUE(recorded.raw_losses && recorded.training_split && recorded.distance && recorded.by_class);
}

// What a method brings itself, a row cannot say: the table would show what was not trained.
TEST_F(SpecFile, ARowsOwnSettingsThatChangeNothingAreRefused) {
  const auto said = [&](const std::string& row) {
    const auto spec = load(with_line(14, row));
    return spec ? std::string() : spec.error().message;
  };
  EXPECT_THAT(said("  - {method: prodigy, train: {optimizer: sgd}}"),
              AllOf(HasSubstr("prodigy: the row's own 'train.optimizer' has no effect"),
                    HasSubstr("hyfreedp list methods prodigy")));
  EXPECT_THAT(said("  - {method: dpsgd, train: {clipping_constant: 0.3}}"),
              HasSubstr("train.clipping_constant"));
  EXPECT_EQ(
      said("  - {method: fixed-rate, options: {lr: 0.1}, train: {optimizer: {name: sgd, momentum: 0.5}}}"),
      "");
  EXPECT_EQ(said("  - {method: prodigy, steps: 7}"), "");
}

TEST_F(SpecFile, QuotedScalarsAreText) {
  const auto spec = load(with_line(2, "noise_seed: \"17\""));
  ASSERT_TRUE(spec) << spec.error().message;
  EXPECT_EQ(spec->content.noise_seed, "17");
}

TEST_F(SpecFile, TheHashFollowsWhatIsResolvedNotHowItIsWritten) {
  const auto one = load(with_line(0, ""));
  const auto same = load("# a comment\n" + with_line(7, "  epsilon: [1.0, .inf]"));
  const auto other = load(with_line(11, "    steps: 21"));
  EXPECT_EQ(one->hash(), same->hash());
  EXPECT_NE(one->hash(), other->hash());
}

// Options that came later are stored only where they are not the default, so that ids of older
// trials stay.
TEST_F(SpecFile, LaterOptionsOfAModelAreStoredOnlyWhereTheyDiffer) {
  const auto options = [&](const std::string& model) {
    return panel(with_line(5, "  model: " + model)).at("model").at("options").as_object();
  };
  EXPECT_EQ(options("{name: mlp, trainable: full}").size(), 3U);
  EXPECT_EQ(options("{name: mlp, trainable: head}").at("trainable").as_string(), "head");
}

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

// Arbitrary cuts of a valid file are errors or specs, never crashes.
TEST_F(SpecFile, AnyPrefixOfASpecIsReadOrRefused) {
  const auto whole = with_line(0, "");
  for (std::size_t length = 0; length < whole.size(); length += 3) {
    const auto spec = load(whole.substr(0, length));
    if (!spec) {
      EXPECT_THAT(spec.error().message, HasSubstr(path()));
    }
  }
}

// The example that experiments/README.md shows.
TEST_F(SpecFile, TheDocumentedExampleLoads) {
  std::ifstream readme(HYFREEDP_SOURCE_DIR "/experiments/README.md");
  const std::string text{std::istreambuf_iterator<char>(readme), {}};
  const std::string opening = "```yaml\n";
  const auto begin = text.find(opening, text.find("## What a spec says"));
  ASSERT_NE(begin, std::string::npos);
  const auto first = begin + opening.size();
  const auto spec = load(text.substr(first, text.find("```", first) - first));
  ASSERT_TRUE(spec) << spec.error().message;
  EXPECT_EQ(spec->content.panels.at(1).rows.size(), 3u);
}

}  // namespace spec_test
}  // namespace hyfreedp::runner
