// An observer sees what was released, and changes nothing.
#include "harness/mechanism/release/observer.h"

#include <gtest/gtest.h>

#include "harness/mechanism/release/noised_vector.h"
#include "tests/training/fixtures.h"

namespace hyfreedp::training {
namespace observer_test {

class Recorder : public mechanism::Observer {
 public:
  void vector_released(const mechanism::VectorSeen& seen) override {
    flush();
    EXPECT_EQ(seen.step, static_cast<std::int64_t>(hashes.size()));
    EXPECT_EQ(seen.origin.weights->numel(), seen.released.numel());
    gradient_ = seen.released.clone();
    pending_ = true;
  }
  void values_released(const mechanism::ValuesSeen& seen) override {
    EXPECT_TRUE(pending_) << "a probe comes after its step's gradient";
    EXPECT_EQ(seen.origin.abscissas.size(), seen.released.size());
    EXPECT_GT(seen.sensitivity, 0);
    losses_.assign(seen.released.begin(), seen.released.end());
    separate = seen.origin.rows->batch == mechanism::kProbeBatch;
    ++probes;
  }
  void run_ended(const torch::Tensor& weights) override {
    flush();
    final_weights = weights.clone();
  }

  std::vector<std::string> hashes;
  std::int64_t probes = 0;
  bool separate = false;
  torch::Tensor final_weights;

 private:
  void flush() {
    if (pending_) hashes.push_back(release_hash(gradient_, losses_));
    pending_ = false;
    losses_.clear();
  }

  torch::Tensor gradient_;
  std::vector<double> losses_;
  bool pending_ = false;
};

mechanism::Journal journal_under(const trial::TrialConfig& config, const std::string& path,
                                 mechanism::Observer* observer) {
  auto journal = mechanism::JournalWriter::open(path, config, fingerprint(config.device)).value();
  const auto dataset = data_of(config);
  const auto end = train({.config = config,
                          .dataset = dataset,
                          .key = run_key(config, "", *journal).value(),
                          .journal = *journal,
                          .observer = observer});
  EXPECT_TRUE(end) << end.error().message;
  return mechanism::read_journal(path).value();
}

// The journal's hashes are over what optimizer and controller were handed, so equal hashes say that
// the observer was shown the same numbers.
TEST(Observer, SeesWhatTheJournalHashesAndChangesNothing) {
  for (const auto& config : {small_config(), probing_config(false), probing_config(true), exact_config()}) {
    const TemporaryFolder folder;
    Recorder recorder;
    const auto seen = journal_under(config, folder.file("a.jsonl"), &recorder);
    const auto unseen = journal_under(config, folder.file("b.jsonl"), nullptr);
    EXPECT_EQ(hashes_of(seen), hashes_of(unseen));
    EXPECT_EQ(hashes_of(seen), recorder.hashes);
    EXPECT_EQ(metric_of(seen, "test", "loss"), metric_of(unseen, "test", "loss"));
    EXPECT_EQ(recorder.probes, config.privacy.probe ? 3 : 0);
    EXPECT_EQ(recorder.separate, config.privacy.probe && config.privacy.probe->separate_batch);
    EXPECT_TRUE(recorder.final_weights.defined());
  }
}

}  // namespace observer_test
}  // namespace hyfreedp::training
