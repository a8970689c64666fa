// A folder that loses files and gets older copies of them back, for tests of what is charged then.
#pragma once

#include <filesystem>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <string>

#include "harness/runner/execute/asked_runs.h"
#include "harness/runner/execute/study_request.h"
#include "harness/runner/odometer/release_record.h"
#include "harness/runner/odometer/restored_releases.h"
#include "results/store/states.h"
#include "tests/runner/release_records.h"

namespace hyfreedp::runner::lost_files {

namespace fs = std::filesystem;

inline std::string fixed(const std::string& rate, const std::string& name, const std::string& head = "") {
  return spec_of(fmt::format("      - {{id: fixed, method: fixed-rate, options: {{lr: {}}}}}\n", rate), name,
                 head);
}
inline const std::string kSel = spec_of(kSelection, "sel");

class LostFiles : public ::testing::Test {
 protected:
  World world{World::Database::in_folder};

  std::string kept() const { return world.out().root + ".kept"; }
  void keep_database() {
    world.close_database();
    fs::copy_file(world.out().database(), kept(), fs::copy_options::overwrite_existing);
    world.reopen_database();
  }
  void put_database_back() {
    world.close_database();
    fs::copy_file(kept(), world.out().database(), fs::copy_options::overwrite_existing);
    world.reopen_database();
  }
  void lose(const std::string& folder, const std::string& ending) {
    std::error_code absent;
    for (const auto& entry : fs::directory_iterator(folder, absent)) {
      const auto name = entry.path().filename().string();
      if (name.ends_with(ending) && name.find(".draws.") == std::string::npos) fs::remove(entry.path());
    }
  }
  void lose_journals() { lose(world.out().journals(), ".jsonl"); }
  void lose_keys_of_runs() { lose(world.out().keys(), ".key"); }

  // A copy of the folder as it is.
  std::string copied() {
    const auto copy = world.out().root + ".copy";
    world.close_database();
    fs::copy(world.out().root, copy, fs::copy_options::recursive);
    world.reopen_database();
    return copy;
  }
  // Goes on in another folder in the place of this one, which it names.
  std::string change_to(const std::string& folder) {
    auto mine = world.out().root + ".mine";
    world.close_database();
    fs::rename(world.out().root, mine);
    fs::rename(folder, world.out().root);
    world.reopen_database();
    return mine;
  }

  void run(const std::string& yaml, bool replace = false) {
    FakeExecutor executor;
    world.run(world.read(yaml), executor, kNever, false, {}, {}, replace);
  }
  // Why it cannot be run.
  std::string refusal(const std::string& yaml) {
    auto spec = world.read(yaml);
    const auto entered = enter_spec(world.store(), world.out(), spec, false, false);
    return entered ? "" : entered.error().message;
  }
  results::StudyRecord selection() { return world.store().studies("sel").value().at(0); }
  // Kept as it is before its first run, and stopped after that; anew until one draws several, so
  // that it is open.
  void stop_selection(Fate fate = Fate::finish, const std::string& yaml = kSel) {
    do {
      world.forget_database();
      fs::remove_all(world.out().journals());
      fs::remove_all(world.out().keys());
      FakeExecutor none;
      world.run(yaml, none, [] { return true; });
      keep_database();
      stop_again(fate, yaml);
    } while (results::is_answered(selection()));
  }
  void stop_again(Fate fate, const std::string& yaml = kSel) {
    FakeExecutor executor;
    executor.fate = [&](const auto&) { return fate; };
    world.run(yaml, executor, [&] { return executor.ended >= 1; });
  }
  // All at once, after the record was written by the clock.
  void kill_with_coordinator(const std::string& yaml) {
    FakeExecutor executor;
    executor.fate = [](const auto&) { return Fate::crash; };
    const auto spec = world.read(yaml);
    EXPECT_FALSE(world.try_run(spec, executor, kNever, false));
    ASSERT_TRUE(update_release_record(world.store(), world.out(), spec.content.name));
  }
  void lose_journals_and_keys() {
    lose_journals();
    lose_keys_of_runs();
  }
  // Cancels the row, and returns what it is charged.
  double cancelled(const std::string& study) {
    const StudyRequest request{.kind = StudyRequest::Kind::cancel, .studies = {study}};
    world.close_database();
    EXPECT_TRUE(hand_in(world.out(), request, std::chrono::seconds(1)));
    world.reopen_database();
    const auto total = world.store().study(study).value().value().total;
    return total ? total->epsilon : 0;
  }
  // Of the folder, as `hyfreedp odometer` reads it.
  double epsilon() {
    world.close_database();
    const auto copy = copy_of_folder(world.out()).value();
    const auto odometer = odometer_of(*copy.store, world.out()).value();
    world.reopen_database();
    EXPECT_EQ(odometer.data.size(), 1u);
    return read_odometer(odometer.data.at(0), 1e-5).value().total.epsilon;
  }
};

}  // namespace hyfreedp::runner::lost_files
