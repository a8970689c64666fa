// What libFuzzer's targets and the short fuzz test run: each function reads an input as the program
// would and returns whether it was read. It aborts where a reader does what it must not: throws, or
// gives what breaks its own promise. libFuzzer finds inputs by coverage (*_fuzz.cpp, by hand); the
// test mutates a few known ones (fuzz_test.cpp, in every run).
#pragma once

#include <SQLiteCpp/SQLiteCpp.h>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

#include "harness/runner/spec/plan.h"
#include "harness/trial/trial_config.h"
#include "harness/trial/worker_protocol.h"
#include "results/store/records.h"
#include "results/table/table_model.h"
#include "tests/results/small_database.h"

namespace hyfreedp::fuzz {

[[noreturn]] inline void broken(const std::string& what) {
  std::fprintf(stderr, "fuzz: %s\n", what.c_str());
  std::abort();
}

// The path of a file in memory that holds `text`.
inline std::string file_of(std::string_view text) {
  static const int file = ::memfd_create("fuzz", 0);
  if (::ftruncate(file, 0) != 0 || ::pwrite(file, text.data(), text.size(), 0) < 0) broken("no memory");
  return "/proc/self/fd/" + std::to_string(file);
}

// A spec: read, and planned where it has few studies.
inline bool read_spec(std::string_view text) {
  constexpr std::size_t kMostPlanned = 200;
  const auto spec = runner::load_spec(file_of(text));
  if (!spec) {
    if (spec.error().message.empty()) broken("a spec is refused without a reason");
    return false;
  }
  std::size_t studies = 0;
  for (const auto& panel : spec->content.panels) {
    for (const auto& row : panel.rows) studies += row.epsilons.size() * row.seeds.size();
  }
  if (runner::is_runnable(*spec) && studies <= kMostPlanned) static_cast<void>(runner::plan(*spec));
  // What the database will hold of it.
  const auto json = as_json(spec->content);
  const auto again = from_json<spec::Spec>(parse_json(canonical_json(json), "spec").value(), "spec");
  if (!again) broken("a spec's own JSON cannot be read: " + again.error().message);
  if (canonical_json(as_json(*again)) != canonical_json(json))
    broken("a spec's JSON changes when it is read");
  return true;
}

// A line of the worker protocol, in either direction.
inline bool read_message(std::string_view line) {
  const auto message = trial::parse_message(line, "line");
  if (!message) return false;
  for (const char* text : {"type", "trial", "journal", "key", "checkpoints", "weights", "commit", "version",
                           "state", "kind", "message", "weights_problem", "checkpoint_problem"}) {
    static_cast<void>(string_or(*message, text, ""));
  }
  for (const char* whole : {"attempts", "step", "steps"}) static_cast<void>(int_or(*message, whole, 0));
  for (const char* number : {"checkpoint_seconds", "seconds", "cpu_seconds", "peak_bytes"}) {
    static_cast<void>(double_or(*message, number, 0));
  }
  const auto* config = message->if_contains("config");
  if (config == nullptr) return true;
  const auto read = trial::TrialConfig::from_json(*config, "config");
  if (read) static_cast<void>(read->id());
  return true;
}

// The database of small_database.h with a folder of its own, whose cells an input changes.
class Database {
 public:
  Database() {
    std::string pattern = "/tmp/hyfreedp-fuzz-XXXXXX";
    folder_ = ::mkdtemp(pattern.data());
    const auto path = folder_ + "/hyfreedp.sqlite";
    {
      auto store = results::Store::open(path, results::Store::Mode::read_write).value();
      small::fill(*store).value();
      store
          ->put_retired({.id = "r", .spec = "small", .method = "prodigy", .composition = {}, .trials = {"t"}})
          .value();
    }
    writer_ = std::make_unique<SQLite::Database>(path, SQLite::OPEN_READWRITE);
    // What is undone after each input need not be safe from a loss of power.
    writer_->exec("PRAGMA synchronous = OFF");
    writer_->exec("PRAGMA ignore_check_constraints = ON");
    reader_ = results::Store::open(path, results::Store::Mode::read_only).value();
    keep();
  }
  ~Database() {
    reader_.reset();
    writer_.reset();
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  static constexpr std::size_t kColumns = 30;
  static std::size_t column_of(std::string_view table, std::string_view column) {
    for (std::size_t i = 0; i < kColumns; ++i) {
      if (table == kCells[i].table && column == kCells[i].column) return i;
    }
    broken("no such column");
  }

  // A line of the input is a letter that chooses a column and what all its cells become. Returns
  // whether all could be read.
  bool read(std::string_view text) {
    while (!text.empty()) {
      const auto line = text.substr(0, text.find('\n'));
      text.remove_prefix(std::min(line.size() + 1, text.size()));
      if (!line.empty()) set(line.front(), line.substr(1));
    }
    const bool all_read = read_all();
    restore();
    return all_read;
  }

 private:
  struct Cell {
    const char* table;
    const char* column;
  };
  static constexpr Cell kCells[kColumns] = {
      {"specs", "resolved"},    {"trials", "config"},          {"trials", "state"},
      {"trials", "notes"},      {"trials", "counts"},          {"trials", "fingerprint"},
      {"trials", "events"},     {"trials", "builds"},          {"trials", "charged"},
      {"trials", "attempts"},   {"trials", "seconds"},         {"trials", "begun_after"},
      {"trials", "peak_bytes"}, {"studies", "state"},          {"studies", "composition"},
      {"studies", "flags"},     {"studies", "footnotes"},      {"studies", "total"},
      {"studies", "training"},  {"studies", "epsilon_target"}, {"studies", "claimed_epsilon"},
      {"studies", "delta"},     {"studies", "seed"},           {"studies", "method"},
      {"studies", "label"},     {"metrics", "value"},          {"metrics", "visibility"},
      {"steps", "scalars"},     {"retired_studies", "trials"}, {"retired_studies", "composition"}};

  void set(char letter, std::string_view value) {
    const auto& cell = kCells[static_cast<unsigned char>(letter) % kColumns];
    SQLite::Statement update(*writer_, std::string("UPDATE ") + cell.table + " SET " + cell.column + " = ?");
    update.bind(1, std::string(value));
    // A column of numbers refuses other texts.
    static_cast<void>(update.tryExecuteStep());
  }

  bool read_all() {
    bool all = true;
    const auto take = [&](const auto& read) { return all = all && read.has_value(), read.has_value(); };
    const auto specs = reader_->specs();
    if (take(specs)) {
      for (const auto& spec : *specs) take(results::spec_of(spec));
    }
    const auto trials = reader_->trials();
    if (take(trials)) {
      for (const auto& trial : *trials) static_cast<void>(canonical_json(results::to_json(trial)));
      for (const auto& trial : *trials) static_cast<void>(results::builds_of(trial));
    }
    take(reader_->all_studies());
    take(reader_->retired_studies());
    for (const auto& id : ids_) {
      take(reader_->trial(id));
      take(reader_->metrics(id, true));
      take(reader_->steps(id));
    }
    take(results::build_table(*reader_, "small"));
    take(results::build_table(*reader_, "small", {.confidential = true}));
    return all;
  }

  void keep() {
    SQLite::Statement tables(*writer_, "SELECT name FROM sqlite_master WHERE type = 'table'");
    for (const auto& cell : kCells) {
      const std::string table = cell.table;
      if (std::ranges::count(tables_, table) == 0) tables_.push_back(table);
    }
    writer_->exec("ATTACH ':memory:' AS kept");
    for (const auto& table : tables_)
      writer_->exec("CREATE TABLE kept." + table + " AS SELECT * FROM main." + table);
    ids_ = reader_->trial_ids("small").value();
    ids_.resize(std::min<std::size_t>(ids_.size(), 3));
  }

  void restore() {
    SQLite::Transaction transaction(*writer_);
    for (const auto& table : tables_) {
      writer_->exec("REPLACE INTO main." + table + " SELECT * FROM kept." + table);
    }
    transaction.commit();
  }

  std::string folder_;
  std::unique_ptr<SQLite::Database> writer_;
  std::unique_ptr<results::Store> reader_;
  std::vector<std::string> tables_;
  std::vector<std::string> ids_;
};

inline bool read_database(std::string_view text) {
  static Database database;
  return database.read(text);
}

}  // namespace hyfreedp::fuzz
