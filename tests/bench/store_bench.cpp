// How fast the database takes metrics in, and how fast commands and views read a large one. See
// README.md beside this file.
//   store_bench DIR [SPECS [SEEDS [METRICS]]]
// makes DIR/hyfreedp.sqlite if it is not there: that many specs (default 100), each of 50 * SEEDS
// (50) studies whose runs have METRICS values each (2000). Then it times what reads it.
#include <SQLiteCpp/SQLiteCpp.h>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fmt/format.h>
#include <functional>
#include <sstream>

#include "harness/cli/commands.h"
#include "harness/mechanism/journal.h"
#include "harness/runner/progress/snapshot.h"
#include "tests/results/small_database.h"

namespace hyfreedp {
namespace {

constexpr int kRows = 25;  // of a spec, each with epsilon 1 and none

struct Shape {
  int specs = 100, seeds = 1, metrics = 2000;
  std::int64_t studies() const { return std::int64_t{2} * kRows * specs * seeds; }
};

double processor_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

double seconds_of(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

std::string spec_name(int spec) { return fmt::format("spec-{}", spec); }
std::string row_name(int row) { return fmt::format("row-{}", row); }

results::SpecRecord spec_of(int spec, const Shape& shape) {
  auto record = small::spec();
  record.name = record.hash = spec_name(spec);
  record.resolved["name"] = record.name;
  auto& panel = record.resolved.at("panels").as_array().at(0).as_object();
  json::array seeds;
  for (int seed = 0; seed < shape.seeds; ++seed) seeds.emplace_back(seed);
  auto row = panel.at("rows").as_array().at(0).as_object();
  row["seeds"] = panel["seeds"] = seeds;
  json::array rows;
  for (int i = 0; i < kRows; ++i) {
    row["id"] = row["title"] = row_name(i);
    rows.push_back(row);
  }
  panel["rows"] = rows;
  return record;
}

// Half of them accuracies, half losses, as evaluations give.
std::vector<trial::MetricRecord> metrics_of(const Shape& shape) {
  std::vector<trial::MetricRecord> metrics;
  for (int i = 0; i < shape.metrics / 2; ++i) {
    const double value = 1 - 1.0 / (2 + i);
    metrics.push_back({i, "test", "accuracy", value, trial::Visibility::test});
    metrics.push_back({i, "test", "loss", 1 - value, trial::Visibility::test});
  }
  return metrics;
}

void check(const Result<void>& outcome) {
  if (outcome) return;
  fmt::print(stderr, "store_bench: {}\n", outcome.error().message);
  std::exit(1);
}

void fill(const std::string& path, const Shape& shape) {
  const auto store = results::Store::open(path, results::Store::Mode::read_write).value();
  const auto metrics = metrics_of(shape);
  double taken_in = 0;
  double processor = 0;
  for (int spec = 0; spec < shape.specs; ++spec) {
    check(store->put_spec(spec_of(spec, shape)));
    for (int study = 0; study < 2 * kRows * shape.seeds; ++study) {
      const bool is_private = study % 2 == 0;
      auto record = small::study(row_name(study / 2 % kRows), "prodigy",
                                 is_private ? std::optional(1.0) : std::nullopt, study / 2 / kRows);
      record.spec = spec_name(spec);
      record.id = fmt::format("{}-{}", record.spec, study);
      record.trials = {"trial-" + record.id};
      record.reported_trial = record.trials.front();
      record.state = results::StudyState::concluded;
      record.label = is_private ? "end-to-end DP" : "non-private";
      using Rule = trial::Composition::Rule;
      record.composition = {.rule = is_private ? Rule::trial : Rule::none, .trials = {record.reported_trial}};
      if (is_private) record.total = record.training = small::spent(0.99, "pld");
      processor -= processor_seconds();
      taken_in +=
          seconds_of([&] { check(store->put_trial(small::trial(record.reported_trial), {}, metrics)); });
      processor += processor_seconds();
      check(store->put_study(record));
    }
  }
  const auto count = static_cast<double>(shape.studies()) * shape.metrics;
  fmt::print("{:<40} {:>9.0f} rows/s, {:.0f} a second of processor time ({:.0f} rows, {:.1f} s)\n",
             "metrics taken in", count / taken_in, count / processor, count, taken_in);
}

void command(const std::vector<std::string>& arguments, const std::string& folder) {
  auto all = arguments;
  all.insert(all.end(), {"--out", folder});
  std::ostringstream out, err;
  int code = 0;
  const auto seconds = seconds_of([&] { code = cli::dispatch(all, out, err); });
  fmt::print("{:<40} {:>9.3f} s{}\n", "hyfreedp " + arguments.front(), seconds,
             code == 0 ? "" : ", failed: " + err.str());
}

void query(const std::string& path, const std::string& title, const std::string& text) {
  SQLite::Database database(path, SQLite::OPEN_READONLY);
  std::int64_t rows = 0;
  const auto seconds = seconds_of([&] {
    SQLite::Statement select(database, text);
    while (select.executeStep()) ++rows;
  });
  fmt::print("{:<40} {:>9.3f} s ({} lines)\n", title, seconds, rows);
}

// Two runs under way, each with as many steps behind it.
void watch_long_runs(const std::string& root, std::int64_t steps) {
  const runner::OutFolder folder{root + "/long"};
  runner::Board board{.phase = "training", .cells = 2, .runs = 2, .left = 1};
  for (const int run : {0, 1}) {
    trial::TrialConfig config;
    config.dataset = {"fashion-mnist", {}};
    config.model = {"linear", {}};
    config.optimizer = {"adamw", {}};
    config.controller = {"constant", {{"lr", 1e-3 * (run + 1)}}};
    config.privacy = {.is_private = true,
                      .population = 50000,
                      .batch_size = 1000,
                      .sample_rate = 0.02,
                      .gradient_noise = 1.5};
    config.steps = 2 * steps;
    config.noise_seed = "bench";
    const auto path = folder.journal(config.id());
    std::filesystem::remove(path);
    const auto writer =
        mechanism::JournalWriter::open(path, config, {}, {}, {}, [](int) { return 0; }).value();
    for (std::int64_t step = 0; step < steps; ++step) {
      check(writer->ensure_booked(step));
      check(writer->step({step, std::string(64, 'a'), {{"eta", 0.1}, {"private_loss", 1.0 / (1.0 + step)}}},
                         {"gradient"}));
      if (step % 100 == 99) check(writer->metric({step, "test", "accuracy", 0.5, trial::Visibility::test}));
    }
    board.running[run] = {.trial = config.id(), .title = "a long run", .delta = 1e-5, .steps = config.steps};
  }
  const auto lock = runner::FolderLock::acquire(folder).value();
  runner::SnapshotWriter snapshot(folder, "long");
  snapshot.board(board);
  fmt::print("two journals of {} steps:\n", steps);
  command({"watch", "--once"}, folder.root);
}

int run(const std::vector<std::string>& arguments) {
  if (arguments.empty()) {
    fmt::print(stderr, "store_bench DIR [SPECS [SEEDS [METRICS]]]\n");
    return 2;
  }
  Shape shape;
  if (arguments.size() > 1) shape.specs = std::stoi(arguments[1]);
  if (arguments.size() > 2) shape.seeds = std::stoi(arguments[2]);
  if (arguments.size() > 3) shape.metrics = std::stoi(arguments[3]);
  const auto& folder = arguments.front();
  const auto path = folder + "/hyfreedp.sqlite";
  if (!std::filesystem::exists(path)) fill(path, shape);
  fmt::print("{:<40} {:>9.0f} MB\n", "file", static_cast<double>(std::filesystem::file_size(path)) / 1e6);
  for (int round = 0; round < 2; ++round) {
    command({"status"}, folder);
    command({"watch", "--once", spec_name(0)}, folder);
    command({"table", spec_name(0)}, folder);
    command({"export", "values", spec_name(0)}, folder);
    query(path, "view cells of a spec", fmt::format("SELECT * FROM cells WHERE spec = '{}'", spec_name(0)));
    query(path, "view cells", "SELECT * FROM cells");
    query(path, "view epsilon", "SELECT * FROM epsilon");
    query(path, "view run_metrics of a spec",
          fmt::format("SELECT * FROM run_metrics WHERE spec = '{}'", spec_name(0)));
    query(path, "view run_events of a spec",
          fmt::format("SELECT * FROM run_events WHERE spec = '{}'", spec_name(0)));
  }
  watch_long_runs(folder, 100000);
  return 0;
}

}  // namespace
}  // namespace hyfreedp

int main(int count, char** values) { return hyfreedp::run({values + 1, values + count}); }
