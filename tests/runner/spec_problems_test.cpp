// All mistakes of a spec at once, each with its line, its key path and an example; what may be left
// out; files that are no specs.
#include <map>
#include <sstream>

#include "harness/runner/spec/mistakes/spec_examples.h"
#include "spec_file.h"
#include "tests/datasets/scratch.h"

namespace hyfreedp::runner {
namespace spec_problems_test {

using testing::AllOf;
using testing::ContainsRegex;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

// The least that a spec must say.
const std::string kLeast = R"(name: least
dataset: synthetic
model: linear
seeds: [0]
epsilon: 3
train: {sample_rate: 0.05, steps: 10, optimizer: adamw}
rows: [prodigy]
)";

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

class SpecProblems : public WrittenSpec {
 protected:
  // What is wrong, less the path of the file.
  std::vector<std::string> problems(const std::string& yaml, const std::string& preset = "") const {
    auto text = refusal(yaml, preset);
    for (auto at = text.find(path()); at != std::string::npos; at = text.find(path(), at)) {
      text.replace(at, path().size(), "spec.yaml");
    }
    return lines_of(text);
  }
};

TEST_F(SpecProblems, AllAreSaidAtOnceInTheOrderOfTheirLines) {
  const auto said = problems(R"(name: a/b
colour: red
panels:
  - id: one
    dataset: syntetic
    model: {name: mlp, hiden: [8]}
    seeds: [0, one]
    train: {sample_rate: 0.05, steps: many, optimizer: adam-w, augmentations: x}
    rows:
      - prodgy
      - {method: fixed-rate, options: {lr: -1}, steps: 0}
  - {id: two, epsilon: [0]}
figures: [{kind: curve}]
)");
  ASSERT_FALSE(said.empty());
  EXPECT_THAT(
      said,
      ElementsAre(
          "spec.yaml has 19 mistakes:", AllOf(StartsWith("spec.yaml:1: name must"), HasSubstr("'a/b'")),
          StartsWith("spec.yaml:2: unknown key 'colour'."),
          StartsWith("spec.yaml:4: panels[0]: 'epsilon' is missing. Example: `epsilon: ["),
          AllOf(StartsWith("spec.yaml:5: panels[0].dataset:"), HasSubstr("'synthetic'")),
          AllOf(StartsWith("spec.yaml:6: panels[0].model: unknown key 'hiden'."),
                HasSubstr("Did you mean 'hidden'?"), HasSubstr("Example: `hidden: ["), EndsWith("`.")),
          "spec.yaml:7: panels[0].seeds[1] must be a whole number, not 'one'. Example: `seeds: [0, 1, 2]`.",
          AllOf(StartsWith("spec.yaml:8: panels[0].train.steps must be a number"),
                EndsWith("Example: `steps: 100`.")),
          AllOf(StartsWith("spec.yaml:8: panels[0].train.optimizer:"), HasSubstr("'adamw'"),
                EndsWith("Example: `optimizer: adamw`.")),
          AllOf(StartsWith("spec.yaml:8: panels[0].train.augmentations must"),
                EndsWith("Example: `augmentations: 0`.")),
          AllOf(StartsWith("spec.yaml:10: panels[0].rows[0]: 'prodgy' is not a method."),
                HasSubstr("Did you mean 'prodigy'?")),
          StartsWith("spec.yaml:11: panels[0].rows[1].options.lr must be"),
          StartsWith("spec.yaml:11: panels[0].rows[1].steps must be at least 1."),
          StartsWith("spec.yaml:12: panels[1]: 'dataset' is missing. Example: `dataset: "),
          StartsWith("spec.yaml:12: panels[1]: 'model' is missing. Example: `model: linear`."),
          StartsWith("spec.yaml:12: panels[1]: 'train' is missing. Example: `train: {"),
          StartsWith("spec.yaml:12: panels[1]: 'seeds' is missing."),
          StartsWith("spec.yaml:12: panels[1].epsilon[0] must be positive"),
          StartsWith("spec.yaml:12: panels[1]: 'rows' is missing. Example: `rows: ["),
          AllOf(StartsWith("spec.yaml:13: figures[0].kind:"), HasSubstr("'curves'"))));
}

TEST_F(SpecProblems, OfAnEmptySpecAllThatIsMissing) {
  EXPECT_THAT(
      problems("title: nothing\n"),
      ElementsAre(
          "spec.yaml has 7 mistakes:", "spec.yaml:1: 'name' is missing. Example: `name: my-table`.",
          StartsWith("spec.yaml:1: 'dataset' is missing. Example: `dataset:"),
          StartsWith("spec.yaml:1: 'model' is missing."), StartsWith("spec.yaml:1: 'train' is missing."),
          StartsWith("spec.yaml:1: 'seeds' is missing."), StartsWith("spec.yaml:1: 'epsilon' is missing."),
          StartsWith("spec.yaml:1: 'rows' is missing.")));
}

TEST_F(SpecProblems, OneOfASharedRowIsSaidOnce) {
  const auto said = problems(kHead + R"(rows:
  - {method: fixed-rate, options: {lr: -1}}
panels: [{id: one}, {id: two}, {id: three, rows: [fixed-rate]}]
)");
  EXPECT_THAT(said, ElementsAre(StartsWith("spec.yaml:10: rows[0].options.lr must be")));
}

// One mistake is one line: what follows from it is not said.
TEST_F(SpecProblems, WhatFollowsFromAMistakeIsNotSaid) {
  for (const auto& [from, to] :
       {std::pair{"dataset: synthetic", "dataset: syntetic"},
        std::pair{"dataset: synthetic", "datset: synthetic"}, std::pair{"model: linear", "model: linar"},
        std::pair{"sample_rate", "sampel_rate"}, std::pair{"steps: 10", "steps: many"},
        std::pair{"steps: 10", "step: 10"}, std::pair{"optimizer: adamw", "optimiser: adamw"},
        std::pair{"epsilon: 3", "epsilon: [3, x]"}, std::pair{"rows: [prodigy]", "rows: [prodgy]"},
        std::pair{"rows: [prodigy]", "rows: prodigy"}, std::pair{"rows: [prodigy]", "row: [prodigy]"}}) {
    EXPECT_EQ(problems(replaced(kLeast, from, to)).size(), 1U) << to << '\n'
                                                               << refusal(replaced(kLeast, from, to));
  }
}

// Nor is it said that the level where the key belongs lacks it.
TEST_F(SpecProblems, AKeyOfAnotherLevelIsSentThere) {
  const auto row = [](const std::string& text) { return replaced(kLeast, "[prodigy]", "[{" + text + "}]"); };
  const auto under_train = replaced(kLeast, "seeds: [0]\n", "");
  for (const auto& [yaml, said] : {
           std::pair{replaced(kLeast, ", steps: 10", "") + "steps: 10\n",
                     "spec.yaml:8: 'steps' belongs under 'train'. Example: `train: {"},
           {kLeast + "every: 5\n",
            "spec.yaml:8: 'every' belongs under 'evaluate'. Example: `evaluate: {every: 25}`."},
           {kLeast + "method: dog\n", "spec.yaml:8: 'method' belongs under 'rows'. Example: `rows: ["},
           {kLeast + "defaults: {clipping: auto-s}\n",
            "spec.yaml:8: defaults: 'clipping' belongs under 'train'."},
           {kLeast + "presets:\n  small: {steps: 5}\n",
            "spec.yaml:9: presets.small: 'steps' belongs under 'train'. Example: `train: {"},
           {replaced(under_train, "steps: 10", "steps: 10, seeds: [0]"),
            "spec.yaml:5: train: 'seeds' belongs beside 'train', not under it. Example: `seeds: ["},
           {row("method: fixed-rate, lr: 1"),
            "spec.yaml:7: rows[0]: 'lr' belongs under 'options'. Example: `options: {"},
           {row("method: dog, optimizer: sgd"), "spec.yaml:7: rows[0]: 'optimizer' belongs under 'train'."},
           {row("method: dog, train: {steps: 5}"),
            "spec.yaml:7: rows[0].train: 'steps' belongs beside 'train', not under it. Example: `steps: "
            "50`."},
           {row("method: dog, sample_rate: 0.1"),
            "spec.yaml:7: rows[0]: 'sample_rate' belongs under the 'train' beside 'rows'"},
           {row("method: dog, delta: 1e-5"),
            "spec.yaml:7: rows[0]: 'delta' belongs beside 'rows', not under it. Example: `delta: N^-1.1`."},
       }) {
    EXPECT_THAT(problems(yaml), ElementsAre(StartsWith(said))) << yaml;
  }
}

TEST_F(SpecProblems, AMistakeOfTheFiguresIsSaidBesideOneOfARow) {
  const auto said =
      problems(replaced(kLeast, "[prodigy]", "[prodgy]") + "figures: [{kind: curves, row: [x]}]\n" +
               "table: {rank: true}\nregress: {powr: 0.5}\n");
  ASSERT_EQ(said.size(), 5U);
  EXPECT_THAT(said[1], HasSubstr("'prodgy'"));
  EXPECT_THAT(said[2], HasSubstr("figures[0]: unknown key 'row'"));
  EXPECT_THAT(said[3], HasSubstr("table: unknown key 'rank'"));
  EXPECT_THAT(said[4], HasSubstr("regress: unknown key 'powr'"));
}

TEST_F(SpecProblems, AQuotedValueCannotBreakALine) {
  const auto said = problems(replaced(kLeast, "name: least", "name: \"a\\nb\\u0007\""));
  ASSERT_EQ(said.size(), 1U);
  EXPECT_THAT(said[0], HasSubstr("'a\\x0ab\\x07'"));
}

TEST_F(SpecProblems, VeryManyAreCounted) {
  std::string rows = "rows:\n";
  for (int i = 0; i < 50; ++i) rows += fmt::format("  - {{id: r{}, method: none-{}}}\n", i, i);
  const auto said = problems(replaced(kLeast, "rows: [prodigy]\n", rows));
  ASSERT_EQ(said.size(), 22U);
  EXPECT_EQ(said.front(), "spec.yaml has 50 mistakes:");
  EXPECT_EQ(said.back(), "... and 30 more.");
}

// Of a user's own files a list is cut before the spec's is.
TEST_F(SpecProblems, BrokenFilesAndRowsAreCountedToo) {
  const datasets::ScopedVariable state("XDG_STATE_HOME", (folder_ / "state").string());
  const auto put = [&](const std::string& name, const std::string& text) {
    std::filesystem::create_directories((folder_ / name).parent_path());
    write(name, text);
  };
  for (int i = 0; i < 100; ++i) put(fmt::format("photos/{}/{}.ppm", i % 2, i), "P6 1 1 255\nabc");
  for (int i = 0; i < 41; ++i) put(fmt::format("photos/0/text{}.jpg", i), "no image");
  for (int i = 0; i < 100; ++i) put(fmt::format("flat/{}/{}.ppm", i % 2, i), "P6 1 1 255\nabc");
  for (int i = 0; i < 270; ++i) put(fmt::format("flat/{}.ppm", i), "P6 1 1 255\nabc");
  std::string rows = "x,label\n";
  for (int i = 0; i < 400; ++i) rows += fmt::format("{},maybe\n", i);
  put("rows.csv", rows);
  const auto at = [&](const char* name) { return (folder_ / name).string(); };
  const auto photos = "{name: image-folder, side: 8, path: " + at("photos") + "}";
  for (const auto& [dataset, count] : std::vector<std::pair<std::string, int>>{
           {photos, 41},
           {"{name: image-folder, side: 8, path: " + at("flat") + "}", 270},
           {"{name: table-file, labels: \"no, yes\", path: " + at("rows.csv") + "}", 400}}) {
    const auto said = problems(replaced(kLeast, "dataset: synthetic", "dataset: " + dataset));
    ASSERT_EQ(said.size(), 22U) << dataset;
    EXPECT_EQ(said.front(), fmt::format("spec.yaml has {} mistakes:", count));
    EXPECT_EQ(said.back(), fmt::format("... and {} more.", count - 20));
  }
  // What else is wrong counts once more, and one dataset of two panels once.
  const auto two = problems("name: a/b\ndefaults: {dataset: " + photos +
                            ", model: linear, seeds: [0], epsilon: 3, train: {sample_rate: 0.05, steps: 10, "
                            "optimizer: adamw}}\npanels:\n  - {id: one, rows: [prodigy]}\n"
                            "  - {id: two, rows: [prodigy]}\n");
  ASSERT_EQ(two.size(), 22U);
  EXPECT_EQ(two.front(), "spec.yaml has 42 mistakes:");
}

// What the messages show is right: every example at its place gives a spec that loads.
TEST_F(SpecProblems, EveryExampleLoads) {
  const auto head = [](const std::string& without) {
    std::string text;
    for (const auto& line : lines_of(kLeast)) {
      if (!line.starts_with(without + ":")) text += line + "\n";
    }
    return text;
  };
  std::size_t tried = 0;
  for (const auto& [place, example] : spec_examples()) {
    std::string yaml;
    const auto dot = place.find('.');
    const auto outer = place.substr(0, dot);
    const auto inner = dot == std::string::npos ? "" : place.substr(dot + 1);
    if (place == "paper" || outer == "paper" || outer == "reproduces") {
      yaml = kHead +
             "panels: [{id: one, paper: {row: [\"{epsilon}\", \"{row}\"], columns: [ViT, CIFAR10]}, "
             "rows: [{method: nondp-gs, paper: Grid, epsilon: [1]}]}]\n";
      if (place == "reproduces") yaml += example + "\n";
      if (place == "reproduces.paper") yaml += "reproduces: {" + example + ", id: table 2}\n";
      if (place == "reproduces.id") yaml += "reproduces: {paper: hyfreedp, " + example + "}\n";
      if (outer == "paper") continue;  // what a paper's tables have cannot be shown in general
    } else if (place == "panels" || place == "id") {
      yaml = kHead + "rows: [prodigy]\n" +
             (inner.empty() && place == "id" ? "panels: [{" + example + "}]\n" : example + "\n");
    } else if (inner.empty()) {
      const std::map<std::string, std::string> in_place_of = {{"noise_multiplier", "epsilon"},
                                                              {"defaults", "seeds"}};
      const auto other = in_place_of.find(place);
      yaml = head(other == in_place_of.end() ? place : other->second) + example + "\n";
    } else if (outer == "train") {
      const auto nested = inner.find('.') == std::string::npos ? example : "optimizer: {" + example + "}";
      yaml = head("train") + "train:\n  " + nested + "\n";
      if (!inner.starts_with("steps")) yaml += "  steps: 10\n";
      if (!inner.starts_with("optimizer")) yaml += "  optimizer: adamw\n";
      if (inner != "sample_rate" && inner != "batch_size") yaml += "  sample_rate: 0.05\n";
    } else if (outer == "rows") {
      const auto nested = inner.find('.') == std::string::npos ? example : "train: {" + example + "}";
      const bool names = inner == "method" || inner == "use";
      const auto row = "{" + nested + (names ? "" : ", method: fixed-rate") +
                       (inner == "options" || names ? "" : ", options: {lr: 1}") + "}";
      yaml = inner == "use" ? kHead + "panels: [{id: one, rows: [" + row + "]}]\n"
                            : head("rows") + "rows: [" + row + "]\n";
    } else if (outer == "dataset" || outer == "model" || outer == "evaluate") {
      yaml = head(outer) + outer + ": {" + example + "}\n";
    } else if (outer == "seeds") {
      yaml = replaced(head("seeds"), "[prodigy]", "[prodigy, hyfreedp]") + "seeds: {" + example;
      for (const std::string key : {"until", "from", "to"}) {
        if (inner != key) yaml += ", " + spec_examples().at("seeds." + key);
      }
      yaml += "}\n";
    } else if (outer == "ood_test") {
      const auto set = inner == "id"        ? example + ", dataset: synthetic"
                       : inner == "dataset" ? "id: one, " + example
                                            : "id: one, dataset: {" + example + "}";
      yaml = kLeast + "ood_test: [{" + set + "}]\n";
    } else if (outer == "figures") {
      yaml = kLeast + "figures: [{" + example + (inner == "kind" ? "" : ", kind: curves") + "}]\n";
    } else if (outer == "not_runnable") {
      yaml = kLeast + "not_runnable: {" + example + ", datasets: [imagenet]}\n";
    } else {
      yaml = kLeast + outer + ": {" + example + "}\n";
    }
    EXPECT_EQ(refusal(yaml), "") << place << '\n' << yaml;
    ++tried;
  }
  EXPECT_GT(tried, 50U);
}

TEST_F(SpecProblems, LittleHasToBeSaid) {
  const auto spec = load(kLeast);
  ASSERT_TRUE(spec) << spec.error().message;
  const auto& panel = spec->content.panels.at(0);
  EXPECT_EQ(panel.id, "main");
  EXPECT_EQ(panel.title, "synthetic, linear");
  EXPECT_DOUBLE_EQ(panel.delta, std::pow(static_cast<double>(panel.population), -1.1));
  ASSERT_EQ(panel.rows.size(), 1U);
  EXPECT_EQ(panel.rows[0].id, "prodigy");
  const auto studies = plan(*spec);
  ASSERT_TRUE(studies) << studies.error().message;
  EXPECT_EQ(studies->size(), 1U);
}

// The same panel, said in either way, is trained in the same way.
TEST_F(SpecProblems, TheOnlyPanelIsAPanelLikeOthers) {
  const auto only = resolved(kLeast).at("panels").as_array().at(0).as_object();
  auto other = resolved(R"(name: least
defaults: {dataset: synthetic, model: linear, seeds: [0], epsilon: 3, delta: N^-1.1}
rows: [{id: prodigy, method: prodigy}]
panels:
  - {id: main, title: "synthetic, linear", train: {sample_rate: 0.05, steps: 10, optimizer: adamw}}
)")
                   .at("panels")
                   .as_array()
                   .at(0)
                   .as_object();
  EXPECT_EQ(canonical_json(only), canonical_json(other));
}

TEST_F(SpecProblems, DefaultsLieBelowTheOnlyPanel) {
  const auto spec = resolved("defaults: {seeds: [7], delta: 1e-5}\n" + replaced(kLeast, "seeds: [0]\n", ""));
  EXPECT_EQ(spec.at("panels").at(0).at("seeds").at(0).as_int64(), 7);
  EXPECT_EQ(spec.at("panels").at(0).at("delta").as_double(), 1e-5);
}

TEST_F(SpecProblems, KeysOfAPanelBesidePanelsAreRefused) {
  EXPECT_THAT(problems(kHead + "seeds: [4]\npanels: [{id: one, rows: [prodigy]}]\n"),
              ElementsAre("spec.yaml:9: seeds is not read beside 'panels'; put it under 'defaults'."));
}

TEST_F(SpecProblems, ANameOfAPanelsRowsIsASharedRowOrAMethod) {
  const auto spec = resolved(
      kHead +
      R"(rows: [{id: mine, method: fixed-rate, options: {lr: 1}}, {method: prodigy, options: {d_coef: 2}}]
panels: [{id: one, rows: [mine, prodigy, dog]}]
)");
  const auto& rows = spec.at("panels").at(0).at("rows").as_array();
  EXPECT_EQ(rows.at(0).at("method").as_string(), "fixed-rate");
  EXPECT_EQ(rows.at(1).at("options").at("d_coef").to_number<double>(), 2);  // the shared one
  EXPECT_EQ(rows.at(2).at("method").as_string(), "dog");
}

// Of a delta under which an epsilon promises nothing.
// Such runs would begin, spend, and end without a score.
TEST_F(SpecProblems, AMethodThatChoosesByAScoreIsRefusedWhereARecordHasManyPredictions) {
  const std::string tokens = R"(name: tokens
dataset: {name: synthetic-tokens, train: 400, validation: 100, test: 100}
model: {name: gpt2, width: 16, depth: 1, heads: 2}
seeds: [0]
epsilon: 8
train: {sample_rate: 0.1, steps: 4, optimizer: adamw}
rows:
  - {method: nondp-gs, options: {grid: [0.001, 0.01]}}
  - {method: dp-hyper, options: {grid: [0.001, 0.01]}}
  - {method: linear-scaling, options: {t_min: 2, t_max: 4, r_max: 4}}
  - {method: subset-tuning, options: {grid: [0.001, 0.01], share: 0.3}}
  - {method: random-search, options: {runs: 2}}
  - {id: one, method: random-search, options: {runs: 1}}
  - {method: dp-hyper-simulated, options: {grid: [0.001, 0.01]}}
  - {method: hyfreedp}
)";
  const auto said = problems(tokens);
  ASSERT_EQ(said.size(), 5U) << "a head line and four methods";
  for (int i = 1; i <= 4; ++i) {
    EXPECT_THAT(said[i],
                AllOf(HasSubstr(fmt::format("rows[{}].method chooses among runs", i)),
                      HasSubstr("'synthetic-tokens' has sequences"), HasSubstr("'score_loss_bound'")));
  }
  // A record has one mean loss, however many predictions it has.
  auto by_loss = tokens.substr(0, tokens.find("rows:"));
  by_loss += "rows:\n";
  for (const std::string row :
       {"dp-hyper, options: {grid: [0.001, 0.01]", "linear-scaling, options: {t_min: 2, t_max: 4, r_max: 4",
        "subset-tuning, options: {grid: [0.001, 0.01], share: 0.3", "random-search, options: {runs: 2",
        "dpsgd, options: {tuning: composed, rates: [0.1, 0.2]"})
    by_loss += "  - {method: " + row + ", score_loss_bound: 3}}\n";
  const auto spec = resolved(by_loss);
  for (const auto& row : spec.at("panels").at(0).at("rows").as_array()) {
    EXPECT_EQ(row.at("footnotes").at(0).as_string(),
              "Runs are chosen by noised means of validation losses, each clipped at 3.");
  }
}

TEST_F(SpecProblems, ALargeDeltaIsWarnedOf) {
  const auto with = [&](const std::string& dataset, const std::string& delta) {
    return load(replaced(kLeast, "dataset: synthetic\n", "dataset: " + dataset + "\n" + delta));
  };
  const auto tiny = with("{name: synthetic, train: 100}", "");
  ASSERT_TRUE(tiny) << tiny.error().message;
  ASSERT_EQ(tiny->warnings.size(), 1U);
  EXPECT_THAT(tiny->warnings[0],
              AllOf(StartsWith(path() + ":1: delta = 0.0063 is large, since N = 100 is small"),
                    HasSubstr("one time in 158")));
  const auto above = with("{name: synthetic, train: 2000}", "delta: 6e-4\n");
  ASSERT_EQ(above->warnings.size(), 1U);
  EXPECT_THAT(above->warnings[0], HasSubstr(":3: delta = 0.0006 is not below 1/N"));
  EXPECT_TRUE(with("{name: synthetic, train: 2000}", "")->warnings.empty());
  EXPECT_TRUE(load(replaced(replaced(kLeast, "epsilon: 3", "epsilon: inf"), "synthetic",
                            "{name: synthetic, train: 100}"))
                  ->warnings.empty());
  // N^-1.1 of one example is 1, which is refused as a written 1 is.
  for (const char* delta : {"", "delta: N^-1.1\n", "delta: 1\n"}) {
    const auto one = with("{name: synthetic, train: 1}", delta);
    ASSERT_FALSE(one) << delta;
    EXPECT_THAT(one.error().message, HasSubstr("must lie between 0 and 1, not 1")) << delta;
  }
}

// A key that says something of cells of which the spec has none.
TEST_F(SpecProblems, WhatNoCellReadsIsWarnedOf) {
  const auto with = [&](const std::string& epsilon, const std::string& more) {
    const auto spec =
        load(replaced(replaced(kLeast, "epsilon: 3", "epsilon: " + epsilon), "steps: ", more + "steps: "));
    EXPECT_TRUE(spec) << spec.error().message;
    return spec ? spec->warnings : std::vector<std::string>();
  };
  EXPECT_THAT(with("[3, inf]", "control: clip-only, clipping: abadi, clipping_constant: 1, "), IsEmpty());
  EXPECT_THAT(
      with("3", "control: clip-only, "),
      ElementsAre(HasSubstr("control has no effect: it is of cells of epsilon inf, and there is none.")));
  EXPECT_THAT(with("inf", "clipping: abadi, clipping_constant: 1, "),
              ElementsAre(HasSubstr("clipping has no effect: it is of private cells, and every cell is of"),
                          HasSubstr("clipping_constant has no effect")));
  EXPECT_THAT(with("inf", "control: clip-only, clipping: abadi, clipping_constant: 1, "), IsEmpty());
}

// The weights need not be here to know what they were trained on.
TEST_F(SpecProblems, WeightsThatDoNotFitTheirImagesAreWarnedOf) {
  const auto with = [&](const std::string& dataset, const std::string& weights) {
    auto spec = load(replaced(replaced(kLeast, "dataset: synthetic", "dataset: " + dataset), "model: linear",
                              "model: " + weights));
    EXPECT_TRUE(spec) << spec.error().message;
    return spec ? spec->warnings : std::vector<std::string>();
  };
  const std::string vit = "{name: vit, weights: vit-small-patch16-224}";
  const std::string beit = "{name: beit, weights: beitv2-large-patch16-224}";
  EXPECT_THAT(with("{name: cifar10, side: 224}", vit), IsEmpty());
  EXPECT_THAT(with("{name: cifar10, side: 224}", beit),
              ElementsAre(AllOf(StartsWith(path() + ":2"),
                                HasSubstr("'beitv2-large-patch16-224' were trained on images with normalise: "
                                          "imagenet; the dataset gives them with normalise: half."))));
  EXPECT_THAT(with("{name: cifar10, side: 224, normalise: imagenet}", beit), IsEmpty());
  EXPECT_THAT(with("{name: cifar10, side: 224, normalise: clip}", beit),
              ElementsAre(HasSubstr("the dataset gives them with normalise: clip.")));
  EXPECT_THAT(with("{name: cifar10, side: 224, normalise: none}", beit), IsEmpty()) << "it was chosen";
  EXPECT_THAT(with("{name: stl10, side: 224}", vit),
              ElementsAre(AllOf(StartsWith(path() + ":2"), HasSubstr("STL-10 are part of ImageNet"))));
  const auto resnet = [](const char* dataset) {
    return fmt::format(
        "{{name: {}, normalise: cifar100, features: network, network: resnet-imagenet, "
        "weights: cifar100-resnet20}}",
        dataset);
  };
  EXPECT_THAT(with(resnet("cifar10"), "linear"), IsEmpty());
  EXPECT_THAT(
      with(resnet("cifar100"), "linear"),
      ElementsAre(AllOf(StartsWith(path() + ":2"),
                        HasSubstr("'cifar100-resnet20' were trained on the records of CIFAR-100: ε does "
                                  "not cover"))));
}

TEST_F(SpecProblems, BytesThatAreNotUtf8AreRefusedWithLineAndColumn) {
  EXPECT_THAT(problems(replaced(kLeast, "name: least", "name: least\ntitle: h\xC3\xA9 caf\xE9 au lait")),
              ElementsAre(AllOf(StartsWith("spec.yaml:2:14: the byte 0xE9"), HasSubstr("Latin-1: \xC3\xA9"),
                                HasSubstr("`iconv -f latin1 -t utf-8 spec.yaml > fixed.yaml`"))));
  for (const std::string bad : {"\xFF", "\xC0\x80", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xE2\x82", "\x80"}) {
    EXPECT_THAT(problems(kLeast + "# " + bad + "\n"), ElementsAre(HasSubstr("spec.yaml:8:3: the byte")));
  }
  for (const std::string good : {"\xC3\xA9", "\xE2\x82\xAC", "\xF0\x9F\x98\x80", "\xEF\xBB\xBF"}) {
    EXPECT_EQ(refusal(kLeast + "# " + good + "\n"), "");
  }
  // What YAML writes as an escape is a character, not a byte.
  EXPECT_EQ(resolved(kLeast + "title: \"caf\\xE9\"\n").at("title").as_string(), "caf\xC3\xA9");
}

TEST_F(SpecProblems, TabsAreNamed) {
  for (const std::string text : {"train:\n\tsteps: 5\n", "train:\n  steps: 5\n\trate: 3\n", "\tname: x\n"}) {
    EXPECT_THAT(problems(text), ElementsAre(AllOf(ContainsRegex("^spec.yaml:[123]: "),
                                                  HasSubstr("tabs are not allowed in YAML"))));
  }
  EXPECT_EQ(refusal(replaced(kLeast, "name: least", "name:\tleast\t# a note")), "");
}

TEST_F(SpecProblems, AFolderIsNoSpec) {
  write("one.yaml", kLeast);
  write("two.yaml", kLeast);
  const auto spec = load_spec(folder_.string());
  ASSERT_FALSE(spec);
  EXPECT_THAT(spec.error().message, AllOf(HasSubstr("is a folder, not a spec"), HasSubstr("/one.yaml, "),
                                          HasSubstr("/two.yaml; "), HasSubstr("`hyfreedp list specs`")));
}

TEST_F(SpecProblems, TheNearestFileIsNamed) {
  write("adult-long.yaml", kLeast);
  write("quick.yaml", kLeast);
  const auto wrong = [&](const std::string& name) {
    return load_spec((folder_ / name).string()).error().message;
  };
  EXPECT_THAT(wrong("qiuck.yaml"), HasSubstr("did you mean " + (folder_ / "quick.yaml").string() + "?"));
  EXPECT_THAT(wrong("quick"), HasSubstr("did you mean " + (folder_ / "quick.yaml").string() + "?"));
  EXPECT_THAT(wrong("zzzzzzzzz.yaml"), AllOf(HasSubstr("there is no file"), Not(HasSubstr("did you mean"))));
}

}  // namespace spec_problems_test
}  // namespace hyfreedp::runner
