// One contract for every storage: in memory, in a file, and in a file that is closed and opened
// before each read.
#include "results/store/store.h"

#include <cmath>
#include <filesystem>
#include <gtest/gtest.h>
#include <limits>

#include "results/store/records.h"
#include "tests/results/small_database.h"
#include "tests/trial/fixtures.h"

namespace hyfreedp::results {
namespace store_test {

using trial::TrialState;

enum class Storage { memory, file, reopened };

class StoreContract : public testing::TestWithParam<Storage> {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / ("hyfreedp-store-" + std::to_string(::getpid()) + "-" +
                                                        std::to_string(static_cast<int>(GetParam())));
    std::filesystem::remove_all(folder_);
    open();
    ASSERT_TRUE(writer().put_spec(small::spec()));
  }
  void TearDown() override {
    store_.reset();
    std::filesystem::remove_all(folder_);
  }

  Store& writer() { return *store_; }
  // The store after whatever was written.
  Store& reader() {
    if (GetParam() == Storage::reopened) {
      store_.reset();
      open();
    }
    return *store_;
  }

 private:
  void open() {
    auto opened = GetParam() == Storage::memory
                      ? Store::in_memory()
                      : Store::open((folder_ / "hyfreedp.sqlite").string(), Store::Mode::read_write);
    ASSERT_TRUE(opened) << opened.error().message;
    store_ = std::move(*opened);
  }
  std::filesystem::path folder_;
  std::unique_ptr<Store> store_;
};

TEST_P(StoreContract, AnEmptyStoreHasNothing) {
  EXPECT_FALSE(reader().trial("x")->has_value());
  EXPECT_FALSE(reader().study("x")->has_value());
  EXPECT_FALSE(reader().spec("x")->has_value());
  EXPECT_TRUE(reader().studies("small")->empty());
  EXPECT_TRUE(reader().metrics("x")->empty());
  EXPECT_TRUE(reader().steps("x")->empty());
}

TEST_P(StoreContract, ATrialReadsBackAsWritten) {
  const auto record = small::trial("t");
  ASSERT_TRUE(writer().put_trial(record, small::steps(), small::metrics(0.8)));
  const auto read = reader().trial("t");
  ASSERT_TRUE(read && *read);
  EXPECT_EQ(canonical_json(to_json(**read)), canonical_json(to_json(record)));
  const auto steps = reader().steps("t");
  ASSERT_TRUE(steps);
  ASSERT_EQ(steps->size(), 2u);
  EXPECT_EQ((*steps)[1].hash, "h1");
  EXPECT_EQ((*steps)[1].scalars.at("d"), 2e-6);
}

TEST_P(StoreContract, NonFiniteValuesReadBack) {
  auto metrics = small::metrics(std::numeric_limits<double>::quiet_NaN());
  metrics[2].value = std::numeric_limits<double>::infinity();
  const std::vector<trial::StepRecord> steps = {{0, "h", {{"eta", std::numeric_limits<double>::infinity()}}}};
  ASSERT_TRUE(writer().put_trial(small::trial("t"), steps, metrics));
  for (const auto& metric : *reader().metrics("t")) {
    if (metric.step == 10 && metric.split == "test" && metric.name == "accuracy") {
      EXPECT_TRUE(std::isnan(metric.value));
    }
    if (metric.name == "loss") {
      EXPECT_TRUE(std::isinf(metric.value));
    }
  }
  EXPECT_TRUE(std::isinf((*reader().steps("t"))[0].scalars.at("eta")));
}

TEST_P(StoreContract, ConfidentialMetricsAreReadOnlyWhenAskedFor) {
  ASSERT_TRUE(writer().put_trial(small::trial("t"), {}, small::metrics(0.8)));
  EXPECT_EQ(reader().metrics("t")->size(), 4u);
  for (const auto& metric : *reader().metrics("t"))
    EXPECT_NE(metric.visibility, trial::Visibility::confidential);
  EXPECT_EQ(reader().metrics("t", true)->size(), 5u);
}

TEST_P(StoreContract, ARunningTrialMayChange) {
  auto record = small::trial("t");
  record.state = TrialState::running;
  ASSERT_TRUE(writer().put_trial(record, small::steps(), small::metrics(0.1)));
  record.state = TrialState::finished;
  ASSERT_TRUE(writer().put_trial(record, {}, small::metrics(0.8)));
  EXPECT_EQ((**reader().trial("t")).state, TrialState::finished);
  EXPECT_TRUE(reader().steps("t")->empty()) << "earlier steps must be replaced";
}

TEST_P(StoreContract, KeepsTheMemoryThatATrialTook) {
  auto record = small::trial("t");
  record.peak_bytes = 412'000'000;
  record.device_peak_bytes = 3'140'000'000;
  ASSERT_TRUE(writer().put_trial(record, {}, {}));
  EXPECT_EQ((**reader().trial("t")).peak_bytes, 412'000'000);
  EXPECT_EQ((**reader().trial("t")).device_peak_bytes, 3'140'000'000);
}

TEST_P(StoreContract, AFinishedTrialIsImmutable) {
  auto record = small::trial("t");
  ASSERT_TRUE(writer().put_trial(record, small::steps(), small::metrics(0.8)));
  EXPECT_TRUE(writer().put_trial(record, small::steps(), small::metrics(0.8)))
      << "the same again is no change";
  record.seconds = 99;
  record.peak_bytes = 1;
  EXPECT_TRUE(writer().put_trial(record, small::steps(), small::metrics(0.8))) << "times may differ";
  EXPECT_EQ((**reader().trial("t")).seconds, 0.5) << "but the first stay";
  EXPECT_FALSE(writer().put_trial(record, small::steps(), small::metrics(0.81)));
  record.events.clear();
  EXPECT_FALSE(writer().put_trial(record, small::steps(), small::metrics(0.8)));
  record = small::trial("t");
  record.state = TrialState::running;
  EXPECT_FALSE(writer().put_trial(record, {}, {}));
  EXPECT_EQ((**reader().trial("t")).state, TrialState::finished);
}

TEST_P(StoreContract, AFailedTrialMayBeTriedAgainOnlyWhereTheMachineWasAtFault) {
  for (const auto& [kind, again] :
       {std::pair{"killed", true}, std::pair{"out-of-memory", true}, std::pair{"internal", true},
        std::pair{"hung", true}, std::pair{"over-time", true}, std::pair{"diverged", false},
        std::pair{"invalid-config", true}}) {
    auto record = small::trial(kind);
    record.state = TrialState::failed;
    record.failure_kind = kind;
    ASSERT_TRUE(writer().put_trial(record, {}, {}));
    EXPECT_EQ(writer().put_trial(small::trial(kind), {}, {}).has_value(), again) << kind;
  }
}

TEST_P(StoreContract, AStudyReadsBackAsWritten) {
  auto record = small::study("a", "prodigy", 1.0, 2);
  record.state = StudyState::concluded;
  record.reported_trial = "t1";
  record.composition = {.rule = trial::Composition::Rule::trial};
  record.label = "end-to-end DP";
  record.flags = {"f, \"g\""};
  record.footnotes = {"n"};
  record.claimed_epsilon = 0.5;
  record.total = small::spent(0.9, "pld");
  record.training = small::spent(0.8, "rdp");
  record.trials = {"t2", "t1"};
  record.seconds = 3;
  ASSERT_TRUE(writer().put_study(record));
  const auto read = reader().study(record.id);
  ASSERT_TRUE(read && *read);
  EXPECT_EQ(canonical_json(as_json(**read)), canonical_json(as_json(record)));
  EXPECT_EQ(reader().studies("small")->size(), 1u);
}

TEST_P(StoreContract, AConcludedStudyIsImmutableAndAFailedOneIsNot) {
  auto record = small::study("a", "prodigy", 1.0, 0);
  ASSERT_TRUE(writer().put_study(record));
  record.state = StudyState::failed;
  record.failure_kind = "killed";
  ASSERT_TRUE(writer().put_study(record));
  record.state = StudyState::concluded;
  record.failure_kind.clear();
  record.total = small::spent(1, "pld");
  ASSERT_TRUE(writer().put_study(record));
  EXPECT_TRUE(writer().put_study(record));
  record.total->noise_accountant = "pld";  // which older programs did not record
  EXPECT_TRUE(writer().put_study(record));
  record.label = "oracle";
  EXPECT_FALSE(writer().put_study(record));
  record.state = StudyState::open;
  EXPECT_FALSE(writer().put_study(record));
  EXPECT_EQ((**reader().study(record.id)).state, StudyState::concluded);
}

TEST_P(StoreContract, AStudyNeedsItsSpec) {
  auto record = small::study("a", "prodigy", 1.0, 0);
  record.spec = "nobody";
  EXPECT_FALSE(writer().put_study(record));
}

TEST_P(StoreContract, AnotherSpecOfTheSameNameIsRefusedUnlessReplaced) {
  ASSERT_TRUE(small::fill(writer()));
  EXPECT_TRUE(writer().put_spec(small::spec())) << "the same spec again";
  auto other = small::spec();
  other.hash = "other";
  const auto refused = writer().put_spec(other);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("--replace"), std::string::npos);
  EXPECT_EQ(reader().studies("small")->size(), 15u);
  ASSERT_TRUE(writer().put_spec(other, true));
  EXPECT_TRUE(reader().studies("small")->empty());
  EXPECT_TRUE(reader().trial("trial-study-a-1-0-0")->has_value()) << "trained runs are not thrown away";
}

// The rows that a copy in memory keeps would hide those of the spec that took their place.
TEST(ScratchStore, DropsTheRowsOfASpecThatIsReplaced) {
  const trial::TemporaryFolder folder;
  const auto path = folder.file("hyfreedp.sqlite");
  {
    const auto store = Store::open(path, Store::Mode::read_write).value();
    ASSERT_TRUE(store->put_spec(small::spec()));
    ASSERT_TRUE(small::fill(*store));
  }
  const auto scratch = Store::open(path, Store::Mode::scratch).value();
  auto other = small::spec();
  other.hash = "other";
  ASSERT_TRUE(scratch->put_spec(other, true));
  EXPECT_TRUE(scratch->studies("small")->empty());
  auto orphan = small::study("a", "prodigy", 1.0, 0);
  orphan.spec = "nobody";
  EXPECT_FALSE(scratch->put_study(orphan));
  EXPECT_EQ(Store::open(path, Store::Mode::read_only).value()->studies("small")->size(), 15u);
}

TEST_P(StoreContract, RowsComeInOneOrderHoweverTheyWereWritten) {
  for (const int seed : {2, 0, 1}) {
    ASSERT_TRUE(writer().put_study(small::study("b", "m", std::nullopt, seed)));
    ASSERT_TRUE(writer().put_study(small::study("b", "m", 1.0, seed)));
    ASSERT_TRUE(writer().put_study(small::study("a", "m", 1.0, seed)));
  }
  std::vector<std::string> ids;
  for (const auto& study : *reader().studies("small")) ids.push_back(study.id);
  EXPECT_EQ(ids, (std::vector<std::string>{"study-a-1-0", "study-a-1-1", "study-a-1-2", "study-b-1-0",
                                           "study-b-1-1", "study-b-1-2", "study-b-inf-0", "study-b-inf-1",
                                           "study-b-inf-2"}));
}

TEST_P(StoreContract, TrialsOfASpecAreThoseItsStudiesAskedFor) {
  ASSERT_TRUE(small::fill(writer()));
  ASSERT_TRUE(writer().put_trial(small::trial("stranger"), {}, {}));
  const auto ids = reader().trial_ids("small");
  ASSERT_TRUE(ids);
  EXPECT_EQ(ids->size(), 3u + 3u + 2u + 12u);
  EXPECT_EQ(std::count(ids->begin(), ids->end(), "stranger"), 0);
}

std::string name_of(const testing::TestParamInfo<Storage>& info) {
  if (info.param == Storage::memory) return "memory";
  return info.param == Storage::file ? "file" : "reopened";
}

TEST_P(StoreContract, TheLastMetricsAreThoseOfTheEnd) {
  using trial::Visibility;
  std::vector<trial::MetricRecord> metrics;
  for (int step = 0; step < 20; ++step) {
    metrics.push_back({step, "test", "accuracy", 0.01 * step, Visibility::test});
    metrics.push_back({step, "test", "loss", 1.0 * step, Visibility::test});
    metrics.push_back({step, "private_validation", "accuracy", 0.5, Visibility::confidential});
  }
  ASSERT_TRUE(writer().put_trial(small::trial("a"), {}, metrics));
  ASSERT_TRUE(writer().put_trial(small::trial("b"), {}, {{99, "test", "accuracy", 1, Visibility::test}}));
  const auto last = reader().last_metrics("a", "test", "accuracy", 3).value();
  ASSERT_EQ(last.size(), 3U);
  EXPECT_EQ(last.front().step, 17);
  EXPECT_EQ(last.back().step, 19);
  EXPECT_EQ(last.back().value, 0.19);
  EXPECT_EQ(reader().last_metrics("a", "test", "accuracy", 100)->size(), 20U);
  EXPECT_TRUE(reader().last_metrics("a", "test", "score", 1)->empty());
  EXPECT_TRUE(reader().last_metrics("none", "test", "accuracy", 1)->empty());
  EXPECT_TRUE(reader().last_metrics("a", "private_validation", "accuracy", 1)->empty());
  EXPECT_EQ(reader().last_metrics("a", "private_validation", "accuracy", 1, true)->size(), 1U);
}

// One transaction, of which each change still is a whole, and nothing is lost by an error after it.
TEST_P(StoreContract, WhatIsWrittenTogetherIsThere) {
  const auto written = writer().write_together([&]() -> Result<void> {
    if (auto put = writer().put_trial(small::trial("a"), small::steps(), small::metrics(0.5)); !put)
      return put;
    auto orphan = small::study("a", "prodigy", 1.0, 0);
    orphan.spec = "nobody's";
    EXPECT_FALSE(writer().put_study(orphan));
    return writer().put_study(small::study("a", "prodigy", 1.0, 1));
  });
  ASSERT_TRUE(written) << written.error().message;
  EXPECT_EQ(reader().metrics("a")->size(), 4U);
  EXPECT_EQ(reader().studies("small")->size(), 1U);
  const auto failed = writer().write_together([&]() -> Result<void> {
    if (auto put = writer().put_trial(small::trial("b"), {}, {}); !put) return put;
    return error("that far");
  });
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().message, "that far");
  EXPECT_TRUE(reader().trial("b")->has_value());
  // And each alone, as before.
  ASSERT_TRUE(writer().put_trial(small::trial("c"), {}, {}));
  EXPECT_TRUE(reader().trial("c")->has_value());
}

INSTANTIATE_TEST_SUITE_P(Storages, StoreContract,
                         testing::Values(Storage::memory, Storage::file, Storage::reopened), name_of);

}  // namespace store_test
}  // namespace hyfreedp::results
