// Reading specs: what is resolved, and what is refused. Single mistakes: spec_mistakes_test.cpp.
#include <cmath>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <gmock/gmock.h>

#include "tests/datasets/scratch.h"
#include "tests/in_project_folder.h"
#include "tests/runner/small_spec.h"

namespace hyfreedp::runner {
namespace spec_test {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

using namespace small_spec;

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
  EXPECT_EQ(per_layer.clipping.groups, trial::ClippingGroups::per_layer);
  EXPECT_EQ(per_layer.clipping.shares, trial::GroupShares::size);
  EXPECT_EQ(per_layer.clipping.sensitivity(), 1);

  const auto adaptive = load(with_line(10, "    clipping: adaptive\n    sample_rate: 0.1"));
  ASSERT_TRUE(adaptive) << adaptive.error().message;
  const auto studies = plan(*adaptive).value();
  const auto& privacy = studies.front().cell.base.privacy;
  ASSERT_TRUE(privacy.clipping.adaptive);
  EXPECT_EQ(privacy.clipping.constant, 0.1);
  EXPECT_EQ(privacy.clipping.adaptive->quantile, 0.5);
  EXPECT_EQ(privacy.clipping.adaptive->rate, 0.2);
  // B / 20 samples over the sensitivity 1/2
  EXPECT_DOUBLE_EQ(privacy.clipping.adaptive->count_noise, 10);
  EXPECT_EQ(studies.back().cell.base.privacy.clipping.rule, trial::ClippingRule::none);
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
  EXPECT_EQ(arm(studies, "prodigy").clipping.rule, trial::ClippingRule::auto_s);
  EXPECT_EQ(arm(studies, "prodigy").sampler, trial::Sampler::poisson);
  EXPECT_EQ(arm(studies, "grid").clipping.rule, trial::ClippingRule::none);
  EXPECT_EQ(arm(usual, "prodigy").clipping.rule, trial::ClippingRule::none);
  EXPECT_EQ(spec->content.panels.at(0).rows.at(0).footnotes.at(0),
            "Non-private: batches drawn and clipped as in the private columns, without noise.");

  const auto none = plan(*load(with_line(10, "    control: none\n    sample_rate: 0.1"))).value();
  EXPECT_EQ(arm(none, "grid").sampler, trial::Sampler::shuffle);
  EXPECT_EQ(arm(none, "grid").clipping.rule, trial::ClippingRule::none);
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
