// Output folders of specs with a noise_seed, with rows of four kinds, of which files get lost.
#pragma once

#include <SQLiteCpp/SQLiteCpp.h>
#include <algorithm>
#include <boost/algorithm/string/replace.hpp>
#include <filesystem>
#include <gmock/gmock.h>
#include <string>
#include <vector>

#include "harness/runner/odometer/odometer.h"
#include "results/store/states.h"
#include "tests/runner/lost_files.h"

namespace hyfreedp::runner::seeded_record {

using namespace lost_files;

inline const std::string kFixedRow = "      - {id: fixed, method: fixed-rate, options: {lr: 1e-2}}\n";

struct Rows {
  std::string name;
  std::string other;
};
inline void PrintTo(const Rows& rows, std::ostream* out) { *out << rows.name; }
inline const Rows kRows[] = {
    {"fixed", "{id: other, method: fixed-rate, options: {lr: 1e-3}}"},
    {"searched", "{id: other, method: linear-scaling, options: {t_min: 2, t_max: 6, r_max: 8}}"},
    {"searched_alike",  // each of whose runs has the same noise
     "{id: other, method: linear-scaling, options: {batch: sampled, decompose: fixed-t, t_max: 6, eta_max: "
     "3.2, r_max: 8}}"},
    {"selected",
     "{id: other, method: dp-hyper, options: {grid: [1e-3, 1e-2], mean_runs: 3, score_noise: 300}}"},
};

class SeededRecord : public LostFiles, public testing::WithParamInterface<Rows> {
 protected:
  static std::string with_seeds(const std::string& seeds, const std::string& noise_seed = "s") {
    const auto head = noise_seed.empty() ? "" : "noise_seed: " + noise_seed + "\n";
    const auto rows = kFixedRow + "      - " + GetParam().other + "\n";
    return boost::replace_all_copy(spec_of(rows, "q", head), "seeds: [0, 1]", "seeds: " + seeds);
  }
  // It ends before its eighth seed, and has booked all of them.
  static std::string comparison() {
    return with_seeds("{until: paired interval of fixed - other is narrower than 1000, from: 2, to: 8}");
  }
  std::vector<results::StudyRecord> rows() { return world.store().studies("q").value(); }
  bool all_are_answered() {
    return std::ranges::all_of(rows(), results::is_answered) &&
           std::ranges::none_of(rows(), results::is_lost);
  }
  void cancel_open_rows() {
    for (const auto& row : rows()) {
      if (!results::is_answered(row)) cancelled(row.id);
    }
  }
  void begin_anew() {
    world.forget_database();
    fs::remove_all(world.out().root);
    fs::create_directories(world.out().root);
    world.reopen_database();
  }
  void change_database(const std::string& sql) {
    world.close_database();
    SQLite::Database(world.out().database(), SQLite::OPEN_READWRITE).exec(sql);
    world.reopen_database();
  }
  // All is killed while it makes a run.
  void crash_on(const std::string& machine, const std::string& yaml) {
    FakeExecutor killed;
    killed.machine = machine;
    killed.fate = [](const auto&) { return Fate::crash; };
    EXPECT_FALSE(world.try_run(world.read(yaml), killed, kNever, false));
  }
  Odometer odometer() {
    world.close_database();
    const auto store = results::Store::open(world.out().database(), results::Store::Mode::scratch).value();
    EXPECT_TRUE(restore_from_records(*store, world.out()));
    auto found = odometer_of(*store, world.out()).value();
    world.reopen_database();
    return found;
  }
  // Of the folder, of which all runs are known and belong to rows.
  double spent() {
    const auto all = odometer();
    EXPECT_THAT(all.unreadable, testing::IsEmpty());
    EXPECT_FALSE(all.data.at(0).has_unknown_selection);
    return epsilon();
  }
};

}  // namespace hyfreedp::runner::seeded_record
