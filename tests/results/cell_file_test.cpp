// A cell's file is found out where anything in it is changed, checksum included.
#include "results/provenance/cell_file.h"

#include <cmath>
#include <functional>
#include <gtest/gtest.h>

#include "harness/accounting/accountant.h"
#include "harness/base/files.h"
#include "harness/mechanism/releases.h"
#include "harness/trial/trial_config.h"
#include "results/store/records.h"
#include "results/table/statistics.h"

namespace hyfreedp::results {
namespace cell_file_test {

constexpr double kDelta = 1e-5;

trial::TrialConfig config(std::int64_t seed) {
  trial::TrialConfig config;
  config.dataset = {"synthetic", json::object{}};
  config.model = {"linear", json::object{}};
  config.optimizer = {"adamw", json::object{}};
  config.controller = {"constant", {{"lr", 0.1}}};
  config.privacy.population = 1000;
  config.privacy.batch_size = 100;
  config.privacy.sample_rate = 0.1;
  config.privacy.gradient_noise = 1.5;
  config.steps = 10;
  config.seed = seed;
  return config;
}

json::object seed_object(std::int64_t seed, double accuracy, const std::string& rule) {
  const auto run = config(seed);
  const auto training = mechanism::events(run);
  auto total = training;
  json::object composition{{"rule", rule}};
  if (rule == "sum") {
    composition["trials"] = json::array{run.id(), "another"};
    total.push_back(accounting::poisson_gaussian(0.1, 2.5, 10));
  } else if (rule == "selection") {
    composition["selection"] = {{"distribution", "truncated-negative-binomial"}, {"eta", 1.0}, {"mean", 4.0}};
    auto base = training;  // its split is the selection's
    for (auto& event : base) event.split.clear();
    total = {{accounting::Selection{.eta = 1, .mean = 4, .base = base}, trial::kTrainSplit}};
  } else {
    composition["trials"] = json::array{run.id()};
  }
  return {{"seed", seed},
          {"study", "study"},
          {"state", "concluded"},
          {"failure", ""},
          {"label", "end-to-end DP"},
          {"flags", json::array{}},
          {"footnotes", json::array{}},
          {"claimed_epsilon", nullptr},
          {"value", 100 * accuracy},
          {"trial", run.id()},
          {"config", run.to_json()},
          {"fingerprint", {{"device", "cpu"}}},
          {"test", {{5, 0.5}, {10, accuracy}}},
          {"training_events", accounting::events_to_json({.events = training})},
          {"composition", composition},
          {"events", accounting::events_to_json({.events = total})},
          {"total", as_json(*accounting::report_epsilon({.events = total}, kDelta))},
          {"training", as_json(*accounting::report_epsilon({.events = training}, kDelta))}};
}

json::object cell_file(const std::string& rule = "trial") {
  const std::vector<double> values{100 * 0.81, 100 * 0.84};
  json::array seeds{seed_object(0, 0.81, rule), seed_object(1, 0.84, rule)};
  const auto epsilon = seeds[0].at("total").at("epsilon");
  json::object file{
      {"format", kCellFormat},
      {"format_version", kCellFormatVersion},
      {"program", "0.4.0"},
      {"comparability", 4},
      {"ran_by", "0.4.0"},
      {"spec", {{"name", "small"}, {"title", "Small"}, {"hash", "feed"}}},
      {"panel", {{"id", "p"}, {"delta", kDelta}, {"seeds", {0, 1}}}},
      {"row",
       {{"id", "a"},
        {"label", "end-to-end DP"},
        {"epsilons", {8, "inf"}},
        {"seeds", {0, 1}},
        {"footnotes", json::array{}}}},
      {"column", 8},
      {"metric", {{"name", "accuracy"}, {"split", "test"}, {"unit", "percent"}, {"checkpoints", 1}}},
      {"neighbouring", "add-remove"},
      {"delta", kDelta},
      {"cell",
       {{"mean", mean(values)},
        {"sd", *sample_sd(values)},
        {"n", 2},
        {"epsilon", epsilon},
        {"epsilon_least", epsilon}}},
      {"seeds", seeds}};
  seal_cell(file);
  return file;
}

std::string failures_of(const json::value& file) {
  const auto verification = verify_cell(file);
  if (!verification) return verification.error().message;
  std::string failures;
  for (const auto& check : verification->checks) {
    if (!check.agrees) failures += check.what + ": " + check.claimed + " v. " + check.derived + "\n";
  }
  EXPECT_EQ(failures.empty(), verification->agrees());
  return failures;
}

// Every leaf of the value, by its path.
void visit_leaves(json::value& value, const std::string& path,
                  const std::function<void(json::value&, const std::string&)>& visit) {
  if (value.is_object()) {
    for (auto& member : value.get_object())
      visit_leaves(member.value(), path + "/" + std::string(member.key()), visit);
  } else if (value.is_array()) {
    std::size_t i = 0;
    for (auto& element : value.get_array()) visit_leaves(element, path + "/" + std::to_string(i++), visit);
  } else {
    visit(value, path);
  }
}

json::value changed(const json::value& value) {
  if (value.is_int64()) return value.get_int64() + 1;
  if (value.is_double()) return value.get_double() * (1 + 1e-6) + (value.get_double() == 0 ? 1e-6 : 0);
  if (value.is_bool()) return !value.get_bool();
  if (value.is_null()) return 1.0;
  return json::value(json::string(std::string(value.get_string()) + "x"));
}

class CellFile : public testing::TestWithParam<std::string> {};

TEST_P(CellFile, AnHonestFileAgrees) {
  EXPECT_EQ(failures_of(cell_file(GetParam())), "");
  const auto text = verification_text(*verify_cell(cell_file(GetParam())));
  for (const char* part : {"small / p / a / 8", "mean: 82.5", "verdict      agrees", "Not to be known"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
}

// Read back from the text that a file holds.
TEST_P(CellFile, ItSurvivesTheFile) {
  EXPECT_EQ(failures_of(*parse_json(pretty_json(cell_file(GetParam())), "file")), "");
}

TEST_P(CellFile, WhiteSpaceIsFreeAndDigitsAreNot) {
  const auto file = cell_file(GetParam());
  EXPECT_TRUE(verify_cell_text(canonical_json(file), "file")->agrees());
  auto text = pretty_json(file);
  EXPECT_TRUE(verify_cell_text(text, "file")->agrees());
  const std::string mean = "\"mean\": 82.5";
  const auto at = text.find(mean);
  ASSERT_NE(at, std::string::npos) << text;
  text.insert(at + mean.size(), 1, '0');  // the same number, written otherwise
  EXPECT_FALSE(verify_cell_text(text, "file")->agrees());
  EXPECT_FALSE(verify_cell_text("{", "file"));
}

TEST_P(CellFile, EveryChangedLeafIsFoundByTheChecksum) {
  json::value honest = cell_file(GetParam());
  int leaves = 0;
  visit_leaves(honest, "", [&](json::value& leaf, const std::string& path) {
    const auto kept = leaf;
    leaf = changed(kept);
    EXPECT_NE(failures_of(honest), "") << path;
    leaf = kept;
    ++leaves;
  });
  EXPECT_GT(leaves, 100);
  EXPECT_EQ(failures_of(honest), "");
}

// Whoever changes a number can make a new checksum; what is derived from the rest still finds it.
// Left over is what nothing depends on: names, labels, notes, the machine.
TEST_P(CellFile, AChangedNumberIsFoundUnderANewChecksumToo) {
  const std::vector<std::string> free = {
      "/program",     "/comparability", "/ran_by",         "/spec/",        "/panel/id",
      "/panel/seeds", "/row/id",        "/row/epsilons/1", "/metric/split", "/metric/unit",
      "/study",       "/state",         "/failure",        "/fingerprint",  "/composition/trials",
      "/test/0/",     "/note",          "/rdp_order",      "/checksum",     "/purpose",
      "/delta"};
  json::value honest = cell_file(GetParam());
  int found = 0;
  visit_leaves(honest, "", [&](json::value& leaf, const std::string& path) {
    const auto is_free = [&](const std::string& part) { return path.find(part) != std::string::npos; };
    if (path != "/delta" && std::any_of(free.begin(), free.end(), is_free)) return;
    const auto kept = leaf;
    leaf = changed(kept);
    auto forged = honest.as_object();
    seal_cell(forged);
    EXPECT_NE(failures_of(forged), "") << path;
    leaf = kept;
    ++found;
  });
  EXPECT_GT(found, 50);
}

INSTANTIATE_TEST_SUITE_P(Rules, CellFile, testing::Values("trial", "sum", "selection"));

TEST(CellFileMetric, TheLastCheckpointsAreAveraged) {
  auto file = cell_file();
  file["metric"].as_object()["checkpoints"] = 2;
  auto& cell = file["cell"].as_object();
  std::vector<double> values;
  for (auto& seed : file["seeds"].as_array()) {
    values.push_back((50 + seed.at("value").as_double()) / 2);
    seed.as_object()["value"] = values.back();
  }
  cell["mean"] = mean(values);
  cell["sd"] = *sample_sd(values);
  seal_cell(file);
  EXPECT_EQ(failures_of(file), "");
  file["metric"].as_object()["checkpoints"] = 1;
  seal_cell(file);
  EXPECT_NE(failures_of(file).find("seed 0: test accuracy"), std::string::npos);
}

TEST(CellFileMetric, ALossIsNoPercentage) {
  auto file = cell_file();
  file["metric"].as_object()["name"] = "loss";
  auto& cell = file["cell"].as_object();
  for (auto& seed : file["seeds"].as_array()) seed.as_object()["value"] = seed.at("value").as_double() / 100;
  cell["mean"] = cell["mean"].as_double() / 100;
  cell["sd"] = cell["sd"].as_double() / 100;
  seal_cell(file);
  EXPECT_EQ(failures_of(file), "");
  file["metric"].as_object()["name"] = "seconds";
  EXPECT_FALSE(verify_cell(file));
}

TEST(CellFileForgery, LessNoiseInEventsAndConfigAlikeChangesEpsilon) {
  auto file = cell_file();
  for (auto& seed : file["seeds"].as_array()) {
    auto cheaper = config(seed.at("seed").as_int64());
    cheaper.privacy.gradient_noise = 3;
    auto& object = seed.as_object();
    object["config"] = cheaper.to_json();
    object["trial"] = cheaper.id();
    object["events"] = object["training_events"] =
        accounting::events_to_json({.events = mechanism::events(cheaper)});
  }
  seal_cell(file);
  const auto failures = failures_of(file);
  EXPECT_NE(failures.find("seed 0: epsilon, total"), std::string::npos) << failures;
  EXPECT_NE(failures.find("epsilon, largest over seeds"), std::string::npos) << failures;
}

TEST(CellFileForgery, ARunLeftOutOfASumIsFound) {
  auto file = cell_file("sum");
  auto& seed = file["seeds"].as_array()[0].as_object();
  seed["events"] = seed["training_events"];  // the search is forgotten
  seal_cell(file);
  EXPECT_NE(failures_of(file).find("seed 0: epsilon, total"), std::string::npos);
}

TEST(CellFileForgery, ARowCalledNonPrivateStillHasToTouchNothing) {
  auto file = cell_file();
  auto& seed = file["seeds"].as_array()[0].as_object();
  seed["composition"] = {{"rule", "none"}, {"trials", json::array{}}};
  seal_cell(file);
  EXPECT_NE(failures_of(file).find("composition, none"), std::string::npos);
}

void forge_seeds(json::object& file, const std::function<void(json::object&)>& change) {
  for (auto& seed : file["seeds"].as_array()) change(seed.as_object());
}

std::string failures_after(json::object file) {
  seal_cell(file);
  return failures_of(file);
}

// Mean and spread of what is left agree with themselves; the row's list of seeds does not.
TEST(CellFileForgery, ASeedLeftOutIsFound) {
  auto file = cell_file();
  file["seeds"].as_array().erase(file["seeds"].as_array().begin());
  file["cell"].as_object()["mean"] = 84.0;
  file["cell"].as_object()["sd"] = nullptr;
  file["cell"].as_object()["n"] = 1;
  EXPECT_EQ(failures_after(file), "seeds, those that the row asks for: 1 v. 0, 1\n");
  file["row"].as_object()["seeds"] = json::array{1};  // and from the row: the panel still has two
  EXPECT_EQ(failures_after(file), "seeds, fewer than the panel's: not said v. a footnote of the row\n");
}

TEST(CellFileForgery, TheFlagFollowsTheNoiseSeed) {
  auto file = cell_file();
  forge_seeds(file, [](json::object& seed) {
    auto seeded = config(seed.at("seed").as_int64());
    seeded.noise_seed = "text";
    seed["config"] = seeded.to_json();
    seed["trial"] = seeded.id();
    seed["flags"] = json::array{"reproducible noise: not a private release"};
  });
  EXPECT_EQ(failures_after(file), "");
  file["seeds"].as_array()[1].as_object()["flags"] = json::array{};
  EXPECT_EQ(failures_after(file), "seed 1: flag of reproducible noise: no v. yes\n");
}

TEST(CellFileForgery, AColumnHoldsWhatIsSpent) {
  auto file = cell_file();
  file["column"] = 1;
  EXPECT_NE(failures_after(file).find("column, one of the row's"), std::string::npos);
  const double spent = file["cell"].at("epsilon").as_double();
  file["row"].as_object()["epsilons"] = {spent, spent / 2};
  file["column"] = spent;
  EXPECT_EQ(failures_after(file), "");
  file["column"] = spent / 2;
  EXPECT_NE(failures_after(file).find("seed 0: epsilon within the column's"), std::string::npos);
  // A claim or the paper's accounting says so itself.
  forge_seeds(file, [&](json::object& seed) { seed["claimed_epsilon"] = spent / 2; });
  EXPECT_EQ(failures_after(file), "");
  file["row"].as_object()["epsilons"] = {spent, "inf"};
  file["column"] = "inf";
  EXPECT_NE(failures_after(file).find("seed 0: run of this column"), std::string::npos);
}

TEST(CellFileForgery, LabelsAgreeWithTheRowAndWithTheRuns) {
  auto file = cell_file();
  forge_seeds(file, [](json::object& seed) { seed["label"] = "simulated"; });
  EXPECT_NE(failures_after(file).find("seed 0: label: simulated v. end-to-end DP"), std::string::npos);
  file["row"].as_object()["label"] = "simulated";  // without what a simulation claims
  EXPECT_NE(failures_after(file).find("seed 0: claimed epsilon, the column's: none v. 8"), std::string::npos);
  auto oracle = cell_file();
  forge_seeds(oracle, [](json::object& seed) {
    auto peeks = config(seed.at("seed").as_int64());
    peeks.evaluation.oracle_validation = true;
    seed["config"] = peeks.to_json();
    seed["trial"] = peeks.id();
  });
  EXPECT_NE(failures_after(oracle).find("released un-noised accuracy"), std::string::npos);
}

TEST(CellFileForgery, AClaimIsTheColumns) {
  auto file = cell_file();
  forge_seeds(file, [](json::object& seed) { seed["claimed_epsilon"] = 3; });
  EXPECT_NE(failures_after(file).find("seed 0: claimed epsilon, the column's: 3 v. 8"), std::string::npos);
  forge_seeds(file, [](json::object& seed) { seed["claimed_epsilon"] = 8; });
  EXPECT_EQ(failures_after(file), "");
  forge_seeds(
      file, [](json::object& seed) { seed["flags"] = json::array{"paper accounting: epsilon understated"}; });
  EXPECT_NE(failures_after(file).find("flag of an understated epsilon: yes v. no"), std::string::npos);
}

TEST(CellFileForgery, OtherFilesAreErrors) {
  EXPECT_FALSE(verify_cell(json::array{}));
  EXPECT_FALSE(verify_cell(json::object{}));
  auto other = cell_file();
  other["format_version"] = 2;
  seal_cell(other);
  const auto refused = verify_cell(other);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("version 2"), std::string::npos);
  for (const auto& member : cell_file()) {  // each needed member missing, and of another kind
    auto missing = cell_file();
    missing.erase(member.key());
    EXPECT_NE(failures_of(missing), "") << member.key();
    auto strange = cell_file();
    strange[member.key()] = json::object{{"strange", true}};
    EXPECT_NE(failures_of(strange), "") << member.key();
  }
}

}  // namespace cell_file_test
}  // namespace hyfreedp::results
