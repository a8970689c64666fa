// A spec whose programs are killed, stopped and interrupted at random moments until it is complete:
// its rows, metrics, events and weights are those of an undisturbed run, bit for bit.
//
// HYFREEDP_KILLS sets how many disturbances each test makes (default 6).
#include <cmath>
#include <random>
#include <sqlite3.h>

#include "tests/end_to_end/program.h"

namespace hyfreedp::end_to_end {
namespace random_kills_test {

using ::testing::HasSubstr;
using ::testing::Not;

int wanted_kills() {
  const char* text = std::getenv("HYFREEDP_KILLS");
  return text != nullptr ? std::max(1, std::atoi(text)) : 4;
}

// Searches, a private selection, probes, an average and evaluations on the way.
std::string spec_of(const std::string& head) {
  return "name: kills\ntitle: killed at random\n" + head + R"(
panels:
  - id: small
    dataset: {name: synthetic, train: 4000, validation: 500, test: 500, classes: 3, features: 64}
    model: mlp
    seeds: [0]
    epsilon: [3]
    delta: N^-1.1
    train: {sample_rate: 0.05, steps: 1200, optimizer: adamw, average: ema}
    evaluate: {every: 300}
    rows:
      - {method: hyfreedp-plus}
      - {method: dpadamwosm}
      - {method: nondp-gs, options: {grid: [1e-3, 1e-2]}}
      - {method: dp-hyper, options: {grid: [1e-3, 1e-2]}}
)";
}

class RandomKills : public Program {
 protected:
  void SetUp() override {
    Program::SetUp();
    draw_no_pictures();
  }

  // The weights that seeded rows report are confidential.
  static std::vector<std::string> command(const std::string& spec, const std::string& out) {
    return {"run",
            spec,
            "--out",
            out,
            "--quiet",
            "--checkpoint-minutes",
            "0.001",
            "--keep-weights",
            "--confidential",
            "--hang-minutes",
            "0.05"};
  }

  // What happens to a run at a random moment; it has ended when this returns.
  void disturb(Running& running) {
    const auto workers = running.workers();
    const int worker = workers.empty() ? 0 : workers[random_() % workers.size()];
    const auto kind = random_() % 7;
    ++happened_[kind];
    switch (kind) {
      case 0:
        running.kill();
        break;
      case 1:  // the rest goes on without it
        if (worker != 0) ::kill(worker, SIGKILL);
        break;
      case 2:
        if (worker != 0) ::kill(worker, SIGKILL);
        running.kill();
        break;
      case 3:
        running.interrupt();
        break;
      case 4:  // a machine that stands still for a moment
        if (worker != 0) ::kill(worker, SIGSTOP);
        std::this_thread::sleep_for(std::chrono::milliseconds(200));
        if (worker != 0) ::kill(worker, SIGCONT);
        running.kill();
        break;
      case 5:  // hangs, and the run finds it and kills it
        if (worker != 0) ::kill(worker, SIGSTOP);
        break;
      default:  // hangs until all is killed
        if (worker != 0) ::kill(worker, SIGSTOP);
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        running.kill();
    }
  }

  // Until the spec is complete, `kills` times disturbed or fewer; returns the last run's end.
  Ended run_disturbed(const std::string& spec, const std::string& out, int kills, int& made) {
    std::uniform_real_distribution<double> moment(0, 3);
    for (; made < kills; ++made) {
      auto running = start(command(spec, out));
      std::this_thread::sleep_for(std::chrono::duration<double>(moment(random_)));
      if (!running.is_running()) return running.wait();
      disturb(running);
      running.wait();
    }
    return run(command(spec, out));
  }

  void expect_sound_database(const std::string& out) {
    sqlite3* database = nullptr;
    ASSERT_EQ(sqlite3_open((folder_ / out / "hyfreedp.sqlite").c_str(), &database), SQLITE_OK);
    std::string answer;
    const auto take = [](void* text, int, char** values, char**) {
      *static_cast<std::string*>(text) += values[0];
      return 0;
    };
    EXPECT_EQ(sqlite3_exec(database, "PRAGMA integrity_check", take, &answer, nullptr), SQLITE_OK);
    EXPECT_EQ(answer, "ok");
    sqlite3_close(database);
  }

  // Names and checksums of all weights.
  std::string weights(const std::string& out) {
    std::map<std::string, std::string> sums;
    for (const auto& entry : fs::recursive_directory_iterator(folder_ / out / "kills")) {
      if (entry.path().extension() != ".safetensors") continue;
      sums[fs::relative(entry.path(), folder_ / out).string()] =
          sha256_of_file(entry.path().string()).value();
    }
    std::string text;
    for (const auto& [name, sum] : sums) text += name + " " + sum + "\n";
    return text;
  }

  std::size_t lines_with(const std::string& out, const std::string& what) {
    std::size_t count = 0;
    for (const auto& entry : fs::directory_iterator(folder_ / out / "journals")) {
      if (entry.path().extension() != ".jsonl") continue;
      const auto text = read_file(entry.path().string()).value();
      for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++count;
    }
    return count;
  }

  std::size_t runs_with(const std::string& out, const std::string& what) {
    std::size_t count = 0;
    for (const auto& entry : fs::directory_iterator(folder_ / out / "journals"))
      if (entry.path().extension() == ".jsonl" &&
          read_file(entry.path().string()).value().find(what) != std::string::npos)
        ++count;
    return count;
  }

  std::mt19937 random_{20261124};
  std::map<unsigned long, int> happened_;
};

TEST_F(RandomKills, LeaveTheRowsAndWeightsOfAnUndisturbedRun) {
  const auto spec = write("seeded.yaml", spec_of("noise_seed: kills-1\n"));
  const auto clean = run(command(spec, "clean"));
  ASSERT_EQ(clean.code, 0) << clean.out << clean.err;
  const auto wanted = rows("kills", "clean");
  const auto wanted_weights = weights("clean");
  EXPECT_THAT(wanted_weights, HasSubstr("safetensors"));
  std::size_t resumed = 0;
  int made = 0;
  for (int round = 0; made < wanted_kills(); ++round) {
    const auto out = "out-" + std::to_string(round);
    // Several rounds, since a round ends when its rows are there.
    auto ended = run_disturbed(spec, out, std::min(wanted_kills(), made + 10), made);
    for (int again = 0; ended.code != 0 && again < 3; ++again) ended = run(command(spec, out));
    ASSERT_EQ(ended.code, 0) << ended.out << ended.err;
    EXPECT_EQ(rows("kills", out), wanted);
    EXPECT_EQ(weights(out), wanted_weights);
    expect_sound_database(out);
    EXPECT_FALSE(fs::exists(folder_ / out / "checkpoints"));
    resumed += lines_with(out, "\"from\":");
    fs::remove_all(folder_ / out);
  }
  EXPECT_GT(resumed, 0U) << "no run went on from a checkpoint";
  std::cout << made << " disturbances (";
  for (const auto& [kind, count] : happened_) std::cout << " " << kind << ":" << count;
  std::cout << " ), " << resumed << " runs went on from a checkpoint\n";
}

// On one machine every run of an unseeded spec is one attempt, is charged once, and leaves no key.
// The exception is a run whose coordinator is killed in the milliseconds between its record that a
// worker gets the run and the worker's first line.
TEST_F(RandomKills, MakeNoFurtherAttemptOfAnUnseededSpec) {
  const auto spec = write("unseeded.yaml", spec_of(""));
  int made = 0;
  while (made < wanted_kills()) {
    auto ended = run_disturbed(spec, "out", std::min(wanted_kills(), made + 10), made);
    for (int again = 0; ended.code != 0 && again < 3; ++again) ended = run(command(spec, "out"));
    ASSERT_EQ(ended.code, 0) << ended.out << ended.err;
    const auto new_attempts = runs_with("out", "\"attempt\":1,");
    EXPECT_LE(new_attempts, 1U) << "new attempts on the same machine";
    EXPECT_EQ(runs_with("out", "\"attempt\":2,"), 0U);
    if (new_attempts == 0) {
      EXPECT_THAT(rows("kills"), Not(HasSubstr("interrupted")));
    }
    EXPECT_THAT(weights("out"), HasSubstr("safetensors"));
    EXPECT_TRUE(fs::is_empty(folder_ / "out/keys"));
    EXPECT_FALSE(fs::exists(folder_ / "out/checkpoints"));
    expect_sound_database("out");
    fs::remove_all(folder_ / "out");
  }
  std::cout << made << " disturbances\n";
}

}  // namespace random_kills_test
}  // namespace hyfreedp::end_to_end
