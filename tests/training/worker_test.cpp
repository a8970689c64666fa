// The worker as a process, driven over its pipes.
#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>

#include "tests/training/fixtures.h"

namespace hyfreedp::training {
namespace worker_test {

class Worker {
 public:
  explicit Worker(std::vector<std::string> arguments = {}) {
    int input[2], output[2], problems[2];
    if (::pipe2(input, O_CLOEXEC) != 0 || ::pipe2(output, O_CLOEXEC) != 0 ||
        ::pipe2(problems, O_CLOEXEC) != 0) {
      std::abort();
    }
    const std::string program = std::string(HYFREEDP_BIN_DIR) + "/hyfreedp-worker";
    process_ = ::fork();
    if (process_ == 0) {
      ::dup2(input[0], STDIN_FILENO);
      ::dup2(output[1], STDOUT_FILENO);
      ::dup2(problems[1], STDERR_FILENO);
      std::vector<char*> words = {const_cast<char*>(program.c_str())};
      for (auto& argument : arguments) words.push_back(argument.data());
      words.push_back(nullptr);
      ::execv(program.c_str(), words.data());
      ::_exit(127);
    }
    for (const int unused : {input[0], output[1], problems[1]}) ::close(unused);
    input_ = input[1];
    output_ = ::fdopen(output[0], "r");
    problems_ = ::fdopen(problems[0], "r");
  }
  ~Worker() {
    if (process_ > 0) {
      kill(SIGKILL);
      wait();
    }
    close_input();
    std::fclose(output_);
    std::fclose(problems_);
  }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  void send_line(const std::string& line) {
    const auto text = line + "\n";
    EXPECT_EQ(::write(input_, text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  void send(const json::object& message) { send_line(canonical_json(message)); }
  void run(const trial::TrialConfig& config, const std::string& journal, const std::string& key = "") {
    send({{"type", "run"},
          {"trial", config.id()},
          {"config", config.to_json()},
          {"journal", journal},
          {"key", key}});
  }
  // An empty object at the end of the output.
  json::object receive() {
    const auto line = read_line(output_);
    return line.empty() ? json::object{} : parse_json(line, "worker").value().as_object();
  }
  // Also at the end of a run, after which nothing else comes.
  json::object receive(const std::string& type) {
    for (;;) {
      auto message = receive();
      const auto found = string_or(message, "type", "");
      if (message.empty() || found == type) return message;
      if (found == "done") return {};
    }
  }
  std::string everything() { return rest_of(output_); }
  std::string complaints() { return rest_of(problems_); }
  void kill(int signal) { ::kill(process_, signal); }
  void close_input() {
    if (input_ >= 0) ::close(input_);
    input_ = -1;
  }
  // The exit status, or minus the signal.
  int wait() {
    int status = 0;
    ::waitpid(process_, &status, 0);
    process_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }

 private:
  static std::string read_line(FILE* file) {
    std::string line;
    for (int c = std::fgetc(file); c != EOF && c != '\n'; c = std::fgetc(file)) line += static_cast<char>(c);
    return line;
  }
  static std::string rest_of(FILE* file) {
    std::string text;
    for (int c = std::fgetc(file); c != EOF; c = std::fgetc(file)) text += static_cast<char>(c);
    return text;
  }

  pid_t process_ = -1;
  int input_ = -1;
  FILE* output_ = nullptr;
  FILE* problems_ = nullptr;
};

// Waits until the journal has so many step lines.
void wait_for_steps(const std::string& path, std::size_t steps) {
  for (int tries = 0; tries < 6000; ++tries) {
    if (std::filesystem::exists(path)) {
      const auto journal = mechanism::read_journal(path);
      if (journal && journal->steps.size() >= steps) return;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  FAIL() << path << " never came to " << steps << " steps";
}

trial::TrialConfig long_config() { return probing_config(true, 4000); }

TEST(Worker, HelpAndVersion) {
  Worker help({"--help"});
  const auto text = help.everything();
  EXPECT_NE(text.find("worker_protocol.h"), std::string::npos);
  EXPECT_NE(text.find("Example:"), std::string::npos);
  EXPECT_EQ(help.wait(), 0);
  Worker version({"--version"});
  EXPECT_NE(version.everything().find("LibTorch 2."), std::string::npos);
  EXPECT_EQ(version.wait(), 0);
  Worker wrong({"--hlep"});
  EXPECT_NE(wrong.complaints().find("--hlep"), std::string::npos);
  EXPECT_EQ(wrong.wait(), 2);
}

TEST(Worker, TrainsAndReports) {
  const TemporaryFolder folder;
  Worker worker;
  const auto hello = worker.receive();
  EXPECT_EQ(hello.at("type").as_string(), "hello");
  EXPECT_TRUE(hello.at("fingerprint").as_object().contains("cpu"));

  const auto config = small_config(40);
  worker.send(
      {{"type", "prepare"},
       {"dataset", json::object{{"name", config.dataset.name}, {"options", config.dataset.options}}}});
  EXPECT_FALSE(worker.receive("prepared").empty());
  worker.run(config, folder.file("a.jsonl"));
  const auto done = worker.receive("done");
  EXPECT_EQ(done.at("state").as_string(), "finished");
  EXPECT_EQ(done.at("trial").as_string(), config.id());
  const auto journal = mechanism::read_journal(folder.file("a.jsonl"));
  ASSERT_TRUE(journal) << journal.error().message;
  EXPECT_EQ(journal->steps.size(), 40U);
  EXPECT_TRUE(journal->finish.has_value());

  // Asked again, it answers from the journal.
  worker.run(config, folder.file("a.jsonl"));
  EXPECT_EQ(worker.receive("done").at("state").as_string(), "finished");
  EXPECT_EQ(mechanism::read_journal(folder.file("a.jsonl"))->valid_bytes, journal->valid_bytes);
  worker.send({{"type", "stop"}});
  EXPECT_EQ(worker.wait(), 0);
}

// Once a second while it trains; nothing while it waits for work.
TEST(Worker, SaysThatItsWorkGoesOn) {
  const TemporaryFolder folder;
  Worker worker;
  worker.receive("hello");
  worker.run(probing_config(true, 400000), folder.file("a.jsonl"));
  auto before = worker.receive("heartbeat");
  ASSERT_FALSE(before.empty());
  for (int i = 0; i < 2; ++i) {
    const auto next = worker.receive("heartbeat");
    ASSERT_FALSE(next.empty()) << "the run was over too early";
    EXPECT_GT(int_or(next, "moves", 0), int_or(before, "moves", 0));
    EXPECT_EQ(int_or(next, "device_bytes", -1), 0);
    before = next;
  }
  worker.send({{"type", "stop"}});
  EXPECT_EQ(worker.wait(), 0);
  Worker idle;
  idle.receive("hello");
  std::this_thread::sleep_for(std::chrono::milliseconds(1300));
  idle.send({{"type", "stop"}});
  EXPECT_EQ(idle.everything(), "");
}

TEST(Worker, LoadsTheTestSplitOfEachShiftSet) {
  const TemporaryFolder folder;
  auto config = small_config(5);
  auto set = config.dataset;
  set.options["train"] = set.options["validation"] = 0;
  set.options["separation"] = 20.0;
  config.ood_test = {{"far", set}};
  Worker worker;
  worker.run(config, folder.file("a.jsonl"));
  EXPECT_EQ(worker.receive("done").at("state").as_string(), "finished");
  const auto journal = mechanism::read_journal(folder.file("a.jsonl")).value();
  EXPECT_GT(metric_of(journal, "ood_test:far", "accuracy"), metric_of(journal, "test", "accuracy"));
  config.ood_test[0].dataset.options["train"] = 10;
  worker.run(config, folder.file("b.jsonl"));
  const auto refused = worker.receive("done");
  EXPECT_EQ(refused.at("kind").as_string(), "invalid-config");
}

TEST(Worker, KilledInTheMiddleAndRunAgainGivesTheSameRow) {
  const TemporaryFolder folder;
  const auto config = long_config();
  Worker whole;
  whole.run(config, folder.file("whole.jsonl"));
  ASSERT_EQ(whole.receive("done").at("state").as_string(), "finished");
  for (const std::size_t steps : {1U, 700U}) {
    const auto path = folder.file("killed" + std::to_string(steps) + ".jsonl");
    {
      Worker killed;
      killed.run(config, path);
      wait_for_steps(path, steps);
      killed.kill(SIGKILL);
      EXPECT_EQ(killed.wait(), -SIGKILL);
    }
    EXPECT_FALSE(mechanism::read_journal(path)->finish.has_value());
    Worker again;
    again.run(config, path);
    ASSERT_EQ(again.receive("done").at("state").as_string(), "finished");
    const auto expected = mechanism::read_journal(folder.file("whole.jsonl")).value();
    const auto journal = mechanism::read_journal(path).value();
    EXPECT_EQ(journal.attempt, 0);
    EXPECT_EQ(hashes_of(journal), hashes_of(expected));
    EXPECT_EQ(metric_of(journal, "test", "loss"), metric_of(expected, "test", "loss"));
    EXPECT_EQ(journal.executed.size(), expected.executed.size());
  }
}

TEST(Worker, ProgressShowsReleasedValuesOnly) {
  const TemporaryFolder folder;
  Worker worker;
  auto config = long_config();
  config.model = model_named("mlp");
  worker.run(config, folder.file("a.jsonl"));
  // The first tells that something is about to be booked.
  const auto first = worker.receive("progress");
  ASSERT_FALSE(first.empty());
  EXPECT_EQ(first.at("step").to_number<std::int64_t>(), 0);
  EXPECT_TRUE(first.at("scalars").as_object().empty());
  const auto progress = worker.receive("progress");
  ASSERT_FALSE(progress.empty());
  EXPECT_EQ(progress.at("trial").as_string(), config.id());
  EXPECT_EQ(progress.at("steps").to_number<std::int64_t>(), 4000);
  const auto& scalars = progress.at("scalars").as_object();
  EXPECT_TRUE(scalars.contains("eta"));
  EXPECT_TRUE(scalars.contains("private_loss"));
  EXPECT_FALSE(scalars.contains("loss"));
}

TEST(Worker, StopsBetweenStepsOnEverySign) {
  const TemporaryFolder folder;
  const auto config = long_config();
  const auto stopped_by = [&](const std::string& name, const std::function<void(Worker&)>& sign) {
    const auto path = folder.file(name);
    Worker worker;
    worker.run(config, path);
    wait_for_steps(path, 20);
    sign(worker);
    EXPECT_TRUE(worker.receive("done").empty()) << name;
    EXPECT_EQ(worker.wait(), 0) << name;
    const auto journal = mechanism::read_journal(path).value();
    EXPECT_FALSE(journal.finish.has_value()) << name;
    EXPECT_LT(journal.steps.size(), 4000U) << name;
  };
  stopped_by("terminate", [](Worker& worker) { worker.kill(SIGTERM); });
  stopped_by("interrupt", [](Worker& worker) { worker.kill(SIGINT); });
  stopped_by("hang-up", [](Worker& worker) { worker.kill(SIGHUP); });
  stopped_by("user", [](Worker& worker) { worker.kill(SIGUSR1); });
  stopped_by("message", [](Worker& worker) { worker.send({{"type", "stop"}}); });
  stopped_by("end", [](Worker& worker) { worker.close_input(); });
}

TEST(Worker, UnseededRunKeepsItsKeyOnlyWhileItNeedsIt) {
  const TemporaryFolder folder;
  auto config = long_config();
  config.noise_seed.reset();
  const auto journal = folder.file("a.jsonl");
  const auto key = folder.file("keys/a");
  {
    Worker killed;
    killed.run(config, journal, key);
    wait_for_steps(journal, 30);
    killed.kill(SIGKILL);
    killed.wait();
  }
  struct stat status {};
  ASSERT_EQ(::stat(key.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600U);
  const auto before = hashes_of(mechanism::read_journal(journal).value());
  Worker again;
  again.run(config, journal, key);
  EXPECT_EQ(again.receive("done").at("state").as_string(), "finished");
  EXPECT_FALSE(std::filesystem::exists(key));
  const auto finished = mechanism::read_journal(journal).value();
  EXPECT_EQ(finished.attempt, 0);
  const auto after = hashes_of(finished);
  EXPECT_TRUE(std::equal(before.begin(), before.end(), after.begin()));

  // Another run of the same config draws other noise.
  again.run(config, folder.file("b.jsonl"), folder.file("keys/b"));
  EXPECT_EQ(again.receive("done").at("state").as_string(), "finished");
  EXPECT_NE(hashes_of(mechanism::read_journal(folder.file("b.jsonl")).value()), after);
}

std::int64_t charged_steps(const mechanism::Journal& journal) {
  std::int64_t steps = 0;
  for (const auto& event : journal.executed) {
    const auto& batch = std::get<accounting::Batch>(event.what);
    if (batch.releases.at(0).purpose == "gradient") steps += batch.count;
  }
  return steps;
}

// Whoever moves a journal away while its key is there gets other noise, and pays for both.
TEST(Worker, AnUnseededRunThatLostItsJournalDrawsAnewAndIsChargedForBoth) {
  const TemporaryFolder folder;
  auto config = long_config();
  config.noise_seed.reset();
  const auto journal = folder.file("a.jsonl");
  const auto key = folder.file("keys/a");
  {
    Worker killed;
    killed.run(config, journal, key);
    wait_for_steps(journal, 30);
    killed.kill(SIGKILL);
    killed.wait();
  }
  const auto before = mechanism::read_journal(journal).value();
  std::filesystem::rename(journal, folder.file("moved"));
  Worker again;
  again.run(config, journal, key);
  EXPECT_EQ(again.receive("done").at("state").as_string(), "finished");
  EXPECT_FALSE(std::filesystem::exists(key));
  const auto finished = mechanism::read_journal(journal).value();
  EXPECT_NE(finished.nonce, before.nonce);
  EXPECT_EQ(finished.attempt, 1);
  EXPECT_EQ(finished.lost, 1);
  EXPECT_EQ(charged_steps(finished), 2 * 4000);
  for (std::size_t step = 0; step < 30; ++step) {
    EXPECT_NE(finished.steps.at(step).hash, before.steps.at(step).hash) << step;
  }
}

// What was released so far is only the same release again under the same key.
TEST(Worker, AStoppedUnseededRunKeepsItsKey) {
  const TemporaryFolder folder;
  auto config = long_config();
  config.noise_seed.reset();
  const auto key = folder.file("keys/a");
  Worker worker;
  worker.run(config, folder.file("a.jsonl"), key);
  wait_for_steps(folder.file("a.jsonl"), 20);
  worker.kill(SIGTERM);
  EXPECT_EQ(worker.wait(), 0);
  EXPECT_FALSE(mechanism::read_journal(folder.file("a.jsonl"))->finish.has_value());
  EXPECT_TRUE(std::filesystem::exists(key));
}

TEST(Worker, ATrialThatFailedIsTriedAgain) {
  const TemporaryFolder folder;
  const auto config = small_config();
  {
    const auto journal =
        mechanism::JournalWriter::open(folder.file("a.jsonl"), config, fingerprint(config.device)).value();
    ASSERT_TRUE(journal->finish({.state = trial::TrialState::failed, .kind = "out-of-memory"}));
  }
  Worker worker;
  worker.run(config, folder.file("a.jsonl"));
  EXPECT_EQ(worker.receive("done").at("state").as_string(), "finished");
  EXPECT_EQ(mechanism::read_journal(folder.file("a.jsonl"))->steps.size(), 12U);
}

TEST(Worker, FailuresAreTyped) {
  const TemporaryFolder folder;
  Worker worker;
  auto config = small_config();
  config.device = "cuda";
  if (!at::hasCUDA()) {
    worker.run(config, folder.file("a.jsonl"));
    EXPECT_EQ(worker.receive("done").at("kind").as_string(), "device-unavailable");
  }
  config = small_config();
  config.dataset.name = "fashion-mnits";
  const auto key = folder.file("b.key");
  ASSERT_TRUE(random::replace_key(
      key,
      {.nonce = mechanism::kSeededNonce, .trial = config.id(), .attempt = 0, .config = config.to_json()}));
  worker.run(config, folder.file("b.jsonl"), key);
  const auto missing = worker.receive("done");
  EXPECT_EQ(missing.at("kind").as_string(), "missing-data");
  EXPECT_NE(missing.at("message").as_string().find("fashion-mnist"), std::string::npos);
  EXPECT_EQ(mechanism::read_journal(folder.file("b.jsonl"))->finish->kind, "missing-data");
  EXPECT_TRUE(std::filesystem::exists(key)) << "the next run goes on with the attempt that it names";

  worker.send({{"type", "run"},
               {"trial", "0000"},
               {"config", small_config().to_json()},
               {"journal", folder.file("c")}});
  EXPECT_EQ(worker.receive("done").at("kind").as_string(), "invalid-config");
  worker.send(
      {{"type", "run"}, {"trial", "0000"}, {"config", json::object{}}, {"journal", folder.file("c")}});
  EXPECT_EQ(worker.receive("done").at("kind").as_string(), "invalid-config");
  worker.send(
      {{"type", "prepare"}, {"dataset", json::object{{"name", "nothing"}, {"options", json::object{}}}}});
  EXPECT_FALSE(worker.receive("error").empty());
}

TEST(Worker, BadInputEndsItWithAReason) {
  for (const auto& [line, says] : std::vector<std::pair<std::string, std::string>>{
           {"hello", "standard input"},
           {"[1,2]", "must be a JSON object"},
           {"{}", "type"},
           {R"({"type":"dance"})", "dance"},
           {R"({"type":"run"})", "trial"},
           {R"({"type":"run","trial":7})", "'trial' must be text"},
           {R"({"type":"stop","key":[]})", "'key' must be text"},
           {R"({"type":"prepare"})", "dataset"}}) {
    Worker worker;
    worker.receive();
    worker.send_line(line);
    EXPECT_NE(worker.complaints().find(says), std::string::npos) << line;
    EXPECT_EQ(worker.wait(), 2) << line;
  }
}

}  // namespace worker_test
}  // namespace hyfreedp::training
