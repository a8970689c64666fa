// Which weights a run publishes, where they lie meanwhile, and what their metadata say. The
// dataset's name is one with private training examples; nothing is loaded.
#include "harness/runner/execute/kept_weights.h"

#include <filesystem>
#include <gmock/gmock.h>
#include <regex>
#include <sys/stat.h>

#include "harness/runner/lineage/initial_weights.h"
#include "tests/datasets/scratch.h"
#include "tests/runner/fake_world.h"
#include "tests/runner/zero_weights.h"

namespace hyfreedp::runner {
namespace kept_weights_test {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::string spec_of(const std::string& rows, const std::string& head = "",
                    const std::string& epsilons = "[3]") {
  return "name: kept\ntitle: kept\n" + head +
         "panels:\n  - id: small\n    dataset: adult\n    model: linear\n    seeds: [0]\n    epsilon: " +
         epsilons +
         "\n    delta: N^-1.1\n    train: {sample_rate: 0.1, steps: 6, optimizer: adamw}\n    rows: " + rows +
         "\n";
}
const std::string kFixed = "[{method: fixed-rate, options: {lr: 1e-2}}]";
const std::string kMixed =
    "[{method: fixed-rate, options: {lr: 1e-2}}, {method: nondp-gs, options: {grid: [1e-2, 1e-1]}}, "
    "{method: dp-hyper, options: {runs: poisson, mean_runs: 20, score_noise: 300}}]";

class Kept : public testing::Test {
 protected:
  Kept() {
    executor_.keep_weights = [this](const std::string& folder, const trial::TrialConfig& config) {
      const auto staging = fs::path(folder).parent_path();
      struct stat status {};
      EXPECT_EQ(::stat(staging.c_str(), &status), 0);
      EXPECT_EQ(status.st_mode & 0777, 0700U) << "others can count the staged runs";
      staged_.insert(config.id());
      write_file_atomically(folder + "/model.safetensors", "weights of " + config.id()).value();
      write_file_atomically(
          folder + "/kept.json",
          pretty_json(json::object{{"values", "of the last step"}, {"attempt", attempt_}, {"network", true}}))
          .value();
      return std::string();
    };
  }

  RunReport run(
      const std::string& yaml, bool confidential = false,
      const std::function<bool()>& stop = [] { return false; }) {
    return world_.run(world_.read(yaml), executor_, stop, false,
                      KeptWeights(world_.out(), "kept", confidential));
  }
  fs::path root() const { return world_.out().root; }
  fs::path weights(const std::string& place) const { return root() / "kept/weights/small" / place; }
  json::object metadata(const fs::path& folder) const {
    return read_json_file((folder / "trial.json").string()).value().as_object();
  }
  // Files below the output folder, journals aside, that hold the text.
  std::vector<std::string> files_with(const std::string& text) const {
    std::vector<std::string> found;
    for (const auto& entry : fs::recursive_directory_iterator(root())) {
      if (!entry.is_regular_file() || entry.path().parent_path() == root() / "journals") continue;
      if (read_file(entry.path().string())->find(text) != std::string::npos) found.push_back(entry.path());
    }
    return found;
  }

  World world_;
  const datasets::ScopedVariable state_{"XDG_STATE_HOME",
                                        (root() / "state").string()};  // not this user's key
  FakeExecutor executor_;
  std::set<std::string> staged_;
  std::int64_t attempt_ = 0;
};

TEST_F(Kept, APrivateRowsWeightsArePublishedWithItsEpsilon) {
  const auto report = run(spec_of(kFixed));
  const auto folder = weights("fixed-rate.eps-3.seed-0");
  EXPECT_THAT(report.weights.folders, ElementsAre(folder.string()));
  EXPECT_THAT(report.weights.lost, IsEmpty());
  EXPECT_TRUE(report.weights.confidential.empty());
  const auto study = world_.store().studies("kept")->front();
  EXPECT_EQ(read_file((folder / "model.safetensors").string()).value(), "weights of " + study.reported_trial);
  EXPECT_FALSE(fs::exists(folder / "kept.json"));
  EXPECT_FALSE(fs::exists(root() / "staged-weights"));
  const auto told = metadata(folder);
  EXPECT_EQ(string_or(told, "trial", ""), study.reported_trial);
  EXPECT_EQ(string_or(told, "spec_hash", ""), world_.store().spec("kept").value()->hash);
  EXPECT_EQ(int_or(told.at("dataset").as_object(), "classes", 0), 2);
  EXPECT_EQ(string_or(told.at("model").as_object(), "weights", ""), "FOLDER");
  const auto privacy = told.at("privacy").as_object();
  EXPECT_EQ(double_or(privacy, "epsilon", 0), study.total->epsilon);
  EXPECT_EQ(double_or(privacy, "delta", 0), study.delta);
  EXPECT_EQ(string_or(privacy, "label", ""), "end-to-end DP");
  EXPECT_THAT(string_or(privacy, "statement", ""), HasSubstr("epsilon 3.00"));
  EXPECT_FALSE(told.contains("watermark"));
  EXPECT_TRUE(told.at("test").as_object().contains("accuracy"));
  EXPECT_FALSE(canonical_json(told).find("private_validation") != std::string::npos);
}

// config.json has no place for it.
TEST_F(Kept, TheEntryOfABertHasItsPool) {
  run("name: kept\ntitle: kept\ndataset: {name: synthetic-tokens, classes: 3}\n"
      "model: {name: bert, width: 8, heads: 2, depth: 1, pool: mean}\nseeds: [0]\nepsilon: [3]\n"
      "train: {sample_rate: 0.1, steps: 6, optimizer: adamw}\nrows: " +
      kFixed + "\n");
  const auto entry = metadata(root() / "kept/weights/main/fixed-rate.eps-3.seed-0").at("model").as_object();
  EXPECT_EQ(string_or(entry, "pool", ""), "mean");
  EXPECT_EQ(string_or(entry, "head", ""), "file");
}

// The number of runs of a private selection, and all of its runs but one, stay secret.
TEST_F(Kept, OfAPrivateSelectionOnlyTheWinnersAreEverPublished) {
  const auto report =
      run(spec_of("[{method: dp-hyper, options: {runs: poisson, mean_runs: 20, score_noise: 300}}]"));
  const auto study = world_.store().studies("kept")->front();
  ASSERT_EQ(study.state, results::StudyState::concluded) << study.failure_message;
  ASSERT_GT(staged_.size(), 2U) << "this seed draws too few runs to test with";
  EXPECT_THAT(report.weights.folders, SizeIs(1));
  EXPECT_THAT(files_with("weights of "), SizeIs(1));
  EXPECT_THAT(files_with("weights of " + study.reported_trial), SizeIs(1));
  EXPECT_FALSE(fs::exists(root() / "staged-weights"));
  const auto text = canonical_json(metadata(report.weights.folders.front()));
  for (const auto& id : staged_) {
    EXPECT_EQ(text.find(id) != std::string::npos, id == study.reported_trial);
  }
  EXPECT_EQ(text.find("seconds"), std::string::npos);
  EXPECT_EQ(text.find("attempt"), std::string::npos);
}

// Runs of a selection do not stay behind for the sake of a row whose weights cannot be had any
// more.
TEST_F(Kept, LosersAreNotStagedForTheSakeOfALostRow) {
  const auto keep = executor_.keep_weights;
  executor_.keep_weights = [&](const std::string& folder, const trial::TrialConfig& config) {
    return staged_.empty() && staged_.insert(config.id()).second ? std::string("No space left on device")
                                                                 : keep(folder, config);
  };
  const auto report =
      run(spec_of("[{method: fixed-rate, options: {lr: 1e-2}}, {method: dp-hyper, options: {runs: poisson, "
                  "mean_runs: 20, score_noise: 300}}]"));
  EXPECT_THAT(report.weights.lost, ElementsAre(HasSubstr("fixed-rate")));
  EXPECT_GT(staged_.size(), 2U);
  EXPECT_FALSE(fs::exists(root() / "staged-weights"));
}

// A copy made at the end does not tell when, among how many, the winner ran.
TEST_F(Kept, PublishedFilesHaveTheTimeOfTheirPublication) {
  const auto keep = executor_.keep_weights;
  const auto past = fs::file_time_type::clock::now() - std::chrono::hours(1);
  executor_.keep_weights = [&](const std::string& folder, const trial::TrialConfig& config) {
    auto problem = keep(folder, config);
    fs::last_write_time(folder + "/model.safetensors", past);
    return problem;
  };
  run(spec_of(kFixed));
  EXPECT_GT(fs::last_write_time(weights("fixed-rate.eps-3.seed-0") / "model.safetensors"),
            past + std::chrono::minutes(30));
}

TEST_F(Kept, WhatIsNoReleaseIsNeitherStagedNorPublishedButNamed) {
  const auto report = run(spec_of(kMixed, "", "[3, inf]"));
  EXPECT_THAT(report.weights.folders, SizeIs(2));  // fixed-rate and dp-hyper at epsilon 3
  ASSERT_THAT(report.weights.confidential, SizeIs(2));
  for (const auto& [why, rows] : report.weights.confidential) {
    if (why.find("without noise") != std::string::npos) {
      EXPECT_THAT(rows, ::testing::UnorderedElementsAre("small, fixed-rate", "small, nondp-gs")) << why;
    } else {
      EXPECT_THAT(why, HasSubstr("oracle"));
      EXPECT_THAT(rows, ElementsAre("small, nondp-gs"));
    }
  }
  for (const auto& trial : world_.store().trials().value()) {
    const bool oracle = trial.config.at("evaluation").at("oracle_validation").as_bool();
    const bool is_private = trial.config.at("privacy").at("is_private").as_bool();
    EXPECT_EQ(staged_.contains(trial.id), is_private && !oracle) << canonical_json(trial.config);
  }
}

// How many runs there were, others could count from their files' names.
TEST_F(Kept, JournalsAndKeysAreNobodyElsesToCount) {
  std::set<std::string> looked_at;
  const auto keep = executor_.keep_weights;
  executor_.keep_weights = [&](const std::string& folder, const trial::TrialConfig& config) {
    for (const auto& place : {world_.out().journals(), world_.out().keys()}) {
      if (!fs::exists(place)) continue;
      EXPECT_EQ(fs::status(place).permissions() & fs::perms::mask, fs::perms::owner_all) << place;
      looked_at.insert(place);
    }
    return keep(folder, config);
  };
  fs::create_directories(world_.out().journals());  // of an earlier version: open to all
  fs::permissions(world_.out().journals(), fs::perms(0755));
  run(spec_of("[{method: dp-hyper, options: {runs: poisson, mean_runs: 20, score_noise: 300}}]"));
  EXPECT_EQ(looked_at, (std::set{world_.out().journals(), world_.out().keys()}));
}

TEST_F(Kept, AStagingFolderThatIsNotOnesOwnIsRefused) {
  const fs::path staging = world_.out().staged_weights("kept");
  const KeptWeights keeper(world_.out(), "kept", false);
  fs::create_directories(staging.parent_path());
  write_file_atomically(staging.string(), "a file").value();
  EXPECT_THAT(keeper.open().error().message, HasSubstr("another user"));
  fs::remove(staging);
  const fs::path elsewhere = root() / "elsewhere";
  fs::create_directory(elsewhere);
  fs::create_directory_symlink(elsewhere, staging);
  EXPECT_THAT(keeper.open().error().message, HasSubstr("another user"));
  fs::remove(staging);
  fs::create_directory(staging);
  fs::permissions(staging, fs::perms(0755));
  EXPECT_TRUE(keeper.open()) << "one's own is closed to others";
  EXPECT_EQ(fs::status(staging.parent_path()).permissions() & fs::perms::mask, fs::perms::owner_all);
  EXPECT_EQ(fs::status(staging).permissions() & fs::perms::mask, fs::perms::owner_all);
}

// A row that a damaged or older database gives no epsilon for.
TEST_F(Kept, APrivateRowWithoutAPriceIsNotPublished) {
  run(spec_of(kFixed));
  auto study = world_.store().studies("kept")->front();
  study.total.reset();
  const auto spec_record = world_.store().spec("kept").value().value();
  const auto trial = world_.store().trial(study.reported_trial).value().value();
  world_.forget_database();
  world_.store().put_spec(spec_record).value();
  world_.store().put_trial(trial, {}, {}).value();
  world_.store().put_study(study).value();
  fs::remove_all(root() / "kept/weights");
  const auto spec = world_.read(spec_of(kFixed));
  const auto report = KeptWeights(world_.out(), "kept", false).publish(world_.store(), plan(spec).value());
  EXPECT_THAT(report->folders, IsEmpty());
  ASSERT_THAT(report->confidential, SizeIs(1));
  EXPECT_EQ(report->confidential.begin()->first, "what the row spent is not known");
}

TEST_F(Kept, TheMetadataListThePrivateDataThatTheWeightsHaveSeen) {
  run(spec_of(kFixed));
  const auto folder = weights("fixed-rate.eps-3.seed-0");
  const auto study = world_.store().studies("kept")->front();
  auto seen = metadata(folder).at("private_data");
  for (const char* member : {"marks", "secret"})  // where this user has a key
    seen.at(0).as_object().erase(member);
  EXPECT_EQ(seen, (json::value{{{"dataset", "adult"},
                                {"division", "adult; as published"},
                                {"set_aside", "adult; as published"},
                                {"epsilon", study.total->epsilon},
                                {"delta", study.total->delta}}}));
  EXPECT_EQ(metadata(folder).at("files"),
            (json::value{{"model.safetensors", sha256_hex("weights of " + study.reported_trial)}}));
}

// A spec that begins with a folder, which is made for it.
json::object files_of(const fs::path& start) {
  return {{"model.safetensors", sha256_of_file((start / "model.safetensors").string()).value()}};
}
// The metadata of weights that have seen nothing, without a tag.
void write_plain_metadata(const fs::path& start) {
  const json::object metadata{{"private_data", json::array{}}, {"files", files_of(start)}};
  write_file_atomically((start / "trial.json").string(), json::serialize(metadata)).value();
}

std::string spec_from(const fs::path& start, const std::string& metadata = "") {
  fs::create_directories(start);
  write_linear_weights(start.string());
  if (!metadata.empty()) {
    auto tagged = parse_json(metadata, "metadata").value().as_object();
    tagged["files"] = files_of(start);
    tagged["tag"] = tag_of(tagged).value();
    write_file_atomically((start / "trial.json").string(), pretty_json(tagged)).value();
  }
  auto yaml = spec_of(kFixed);
  const std::string model = "model: linear";
  return yaml.replace(yaml.find(model), model.size(),
                      "model: {name: linear, weights: " + start.string() + "}");
}

TEST_F(Kept, WhatTheirStartHasSeenIsPassedOn) {
  run(spec_from(root() / "start",
                R"({"private_data": [{"dataset": "e2e-dev", "epsilon": 8, "delta": 1e-5}]})"));
  const auto told = metadata(weights("fixed-rate.eps-3.seed-0"));
  const auto& seen = told.at("private_data").as_array();
  ASSERT_EQ(seen.size(), 2U);
  EXPECT_EQ(string_or(seen[0].as_object(), "dataset", ""), "e2e-dev");
  EXPECT_EQ(string_or(seen[1].as_object(), "dataset", ""), "adult");
  EXPECT_THAT(string_or(told.at("privacy").as_object(), "statement", ""),
              HasSubstr("began with weights that have seen more: e2e-dev (epsilon 8.00, delta 1e-05)"));
}

// Nothing is published that cannot say what it has seen; once the start is back, it is.
TEST_F(Kept, ARowWaitsWhereItsStartIsGone) {
  const auto start = root() / "start", away = root() / "away";
  const auto yaml = spec_from(start);
  const auto keep = executor_.keep_weights;
  executor_.keep_weights = [&](const std::string& folder, const trial::TrialConfig& config) {
    fs::rename(start, away);
    return keep(folder, config);
  };
  const auto report = run(yaml);
  EXPECT_THAT(report.weights.folders, IsEmpty());
  EXPECT_THAT(report.weights.lost, ElementsAre(HasSubstr(start.string())));
  fs::rename(away, start);
  EXPECT_THAT(run(yaml).weights.folders, SizeIs(1));
}

// What was edited before is not made authentic by what began with it.
TEST_F(Kept, TheyAreAuthenticWhereTheirStartIs) {
  const auto start = root() / "start";
  run(spec_from(start, R"({"private_data": []})"));
  const auto folder = weights("fixed-rate.eps-3.seed-0");
  auto told = metadata(folder);
  EXPECT_EQ(told.at("tag").as_string(), tag_of(told).value());
  EXPECT_TRUE(private_data_of_start({{"weights", start.string()}}).value().is_known);
}

// Otherwise an edited trial.json would be believed one run later.
TEST_F(Kept, WeightsOfAStartThatIsNotAuthenticHaveNoTag) {
  const auto start = root() / "start";
  auto yaml = spec_from(start);
  write_plain_metadata(start);
  const std::string private_run = "epsilon: [3]";
  yaml.replace(yaml.find(private_run), private_run.size(), "epsilon: [inf]");
  const auto report = run(yaml, true);
  ASSERT_THAT(report.weights.folders, SizeIs(1));
  EXPECT_FALSE(metadata(report.weights.folders.front()).contains("tag"));
}

TEST_F(Kept, ARowWaitsWhereItsStartHasChanged) {
  const auto start = root() / "start";
  const auto yaml = spec_from(start);
  const auto keep = executor_.keep_weights;
  executor_.keep_weights = [&](const std::string& folder, const trial::TrialConfig& config) {
    write_plain_metadata(start);
    return keep(folder, config);
  };
  const auto report = run(yaml);
  EXPECT_THAT(report.weights.folders, IsEmpty());
  EXPECT_THAT(report.weights.lost, SizeIs(1));
}

TEST_F(Kept, ConfidentialWeightsAreApartAndWatermarked) {
  const auto report = run(spec_of(kMixed, "", "[3, inf]"), true);
  const auto mode = fs::status(root() / "kept/weights.confidential").permissions();
  EXPECT_EQ(mode & fs::perms::mask, fs::perms::owner_all);
  EXPECT_THAT(report.weights.folders, SizeIs(5));
  EXPECT_TRUE(report.weights.confidential.empty());
  for (const auto& folder : report.weights.folders) {
    const bool apart = folder.find("/weights.confidential/") != std::string::npos;
    const auto told = metadata(folder);
    EXPECT_EQ(told.contains("watermark"), apart) << folder;
    EXPECT_EQ(apart,
              folder.find("nondp-gs") != std::string::npos || folder.find("non-private") != std::string::npos)
        << folder;
    const auto statement = string_or(told.at("privacy").as_object(), "statement", "");
    EXPECT_EQ(statement.find("confidential: not a release under any epsilon") == 0, apart) << statement;
  }
}

TEST_F(Kept, NoiseThatTheSpecRepeatsIsNoRelease) {
  const auto report = run(spec_of(kFixed, "noise_seed: s\n"));
  EXPECT_THAT(report.weights.folders, IsEmpty());
  EXPECT_THAT(staged_, IsEmpty());
  ASSERT_THAT(report.weights.confidential, SizeIs(1));
  EXPECT_THAT(report.weights.confidential.begin()->first, HasSubstr("noise_seed"));
}

TEST_F(Kept, AnInterruptedSpecPublishesNothingUntilItIsOver) {
  const auto stop = [this] { return executor_.ended > 0; };
  const auto rows = "[{method: fixed-rate, options: {lr: 1e-2}}, {method: prodigy}]";
  const auto first = run(spec_of(rows), false, stop);
  EXPECT_TRUE(first.stopped);
  EXPECT_FALSE(fs::exists(root() / "kept/weights"));
  const auto before = staged_;
  ASSERT_THAT(before, SizeIs(1));
  EXPECT_TRUE(fs::exists(root() / "staged-weights/kept" / *before.begin()));
  executor_.stopped = false;
  const auto second = run(spec_of(rows));
  EXPECT_THAT(second.weights.folders, SizeIs(2));
  EXPECT_THAT(second.weights.lost, IsEmpty());
  EXPECT_FALSE(fs::exists(root() / "staged-weights"));
  // A third run finds them.
  const auto third = run(spec_of(rows));
  EXPECT_EQ(third.weights.folders, second.weights.folders);
  EXPECT_THAT(third.weights.lost, IsEmpty());
}

TEST_F(Kept, WhatIsNotThereIsSaidWithItsReasonAndCostsNoRow) {
  executor_.keep_weights = [](const std::string&, const trial::TrialConfig&) {
    return std::string("No space left on device");
  };
  const auto report = run(spec_of(kFixed));
  EXPECT_THAT(report.weights.lost, ElementsAre(HasSubstr("No space left on device")));
  EXPECT_THAT(report.failed, IsEmpty());
  EXPECT_EQ(world_.store().studies("kept")->front().state, results::StudyState::concluded);
  // Its run is over, and so is the chance.
  const auto again = run(spec_of(kFixed));
  EXPECT_THAT(again.weights.lost, ElementsAre(HasSubstr("--fresh trains anew")));
}

// Weights of an attempt that was begun anew are not those that the row's numbers are of.
TEST_F(Kept, WeightsOfAnotherAttemptAreNotPublished) {
  attempt_ = 1;
  const auto report = run(spec_of(kFixed));
  EXPECT_THAT(report.weights.folders, IsEmpty());
  EXPECT_THAT(report.weights.lost, SizeIs(1));
}

TEST_F(Kept, AFreshReleaseKeepsTheEarlierOnesWeights) {
  run(spec_of(kFixed));
  auto spec = world_.read(spec_of(kFixed));
  const auto report = world_.run(
      std::move(spec), executor_, [] { return false; }, true, KeptWeights(world_.out(), "kept", false));
  EXPECT_THAT(report.weights.folders, ElementsAre(weights("fixed-rate.eps-3.seed-0.release-2").string()));
  EXPECT_TRUE(fs::exists(weights("fixed-rate.eps-3.seed-0")));
}

// The table shows the release without weights, and the folders have the row's name.
TEST_F(Kept, ThoseOfEarlierReleasesAreNamedWhereTheLatestHasNone) {
  const KeptWeights keeper(world_.out(), "kept", false);
  const auto earlier = [&] {
    auto spec = world_.read(spec_of(kFixed));
    set_releases(spec, results::spec_of(*world_.store().spec("kept").value()).value());
    return keeper.of_earlier_releases(plan_release(spec).value());
  };
  run(spec_of(kFixed));
  EXPECT_THAT(earlier(), IsEmpty());
  world_.run(
      world_.read(spec_of(kFixed)), executor_, [] { return false; }, true);
  EXPECT_THAT(earlier(), ElementsAre(weights("fixed-rate.eps-3.seed-0").string()));
}

}  // namespace kept_weights_test
}  // namespace hyfreedp::runner
