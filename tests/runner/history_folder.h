// One output folder of a random history: the operations on it, done by the fake executor, and what
// the reference knows of them. check() compares odometer and rows with the reference.
#pragma once

#include <gmock/gmock.h>
#include <iostream>
#include <random>
#include <set>
#include <utility>

#include "harness/runner/execute/cancelled_study.h"
#include "harness/runner/execute/reopen.h"
#include "harness/runner/execute/study_request.h"
#include "harness/runner/odometer/odometer.h"
#include "harness/runner/upkeep/merge.h"
#include "results/store/states.h"
#include "tests/runner/fake_world.h"
#include "tests/runner/history_reference.h"

namespace hyfreedp::runner::history {

struct Reading {
  Cost single;
  std::vector<Cost> selections;  // the base of each
  auto operator<=>(const Reading&) const = default;
};

inline Cost cost_of(const accounting::Event& event, const std::string& split, bool is_selected = true) {
  if (const auto* repeat = std::get_if<accounting::Repeat>(&event.what)) {
    Cost all;
    for (const auto& one : repeat->base) all = sum(all, cost_of(one, split, is_selected));
    return {all.steps * repeat->count, all.scores * repeat->count};
  }
  const auto& batch = std::get<accounting::Batch>(event.what);
  EXPECT_EQ(batch.releases.size(), 1u);
  const auto& released = batch.releases.at(0);
  if (split == "private_validation") {
    EXPECT_TRUE(is_selected);
    EXPECT_EQ(batch.sample_rate, 1);
    EXPECT_EQ(released.noise_multiplier, kScoreNoise);
    return {0, batch.count * released.count};
  }
  EXPECT_EQ(batch.sample_rate, kRate);
  EXPECT_EQ(released.count, 1);
  if (!is_selected && noise() > 0) {
    EXPECT_EQ(released.noise_multiplier, noise());
  }
  return {batch.count, 0};
}

inline Reading read(World& world) {
  const auto odometer = odometer_of(world.store(), world.out()).value();
  EXPECT_THAT(odometer.unreadable, ::testing::IsEmpty());
  Reading reading;
  if (odometer.data.empty()) return reading;
  EXPECT_THAT(odometer.data, ::testing::SizeIs(1));
  const auto& spending = odometer.data.front();
  EXPECT_FALSE(spending.is_lower_bound());
  EXPECT_FALSE(spending.is_infinite());
  Cost selected;
  for (const auto& [split, tally] : spending.splits) {
    for (const auto& event : tally.events()) {
      const auto* selection = std::get_if<accounting::Selection>(&event.what);
      if (selection == nullptr) {
        reading.single = sum(reading.single, cost_of(event, split, false));
        continue;
      }
      EXPECT_EQ(selection->mean, kMeanRuns);
      for (const auto& one : selection->base) selected = sum(selected, cost_of(one, split));
    }
  }
  if (spending.selections > 0) reading.selections.assign(spending.selections, selected);
  return reading;
}

inline const char* text_of(Fate fate) {
  switch (fate) {
    case Fate::finish:
      return "finishes";
    case Fate::diverge:
      return "diverges";
    case Fate::kill:
      return "is killed";
    case Fate::linger:
      return "is interrupted";
    case Fate::exhausted:
      return "has no memory";
    case Fate::crash:
      return "is killed with the coordinator";
    default:
      return "?";
  }
}

class Folder {
 public:
  Folder(std::uint64_t seed, bool tells) : random_(seed), tells_(tells), world_(World::Database::in_folder) {
    executor_fates();
  }

  std::uint64_t draw(std::uint64_t count) { return random_() % count; }
  bool chance(int percent) { return draw(100) < static_cast<std::uint64_t>(percent); }
  template <typename List>
  auto& any(List& list) {
    return *std::next(list.begin(), static_cast<std::ptrdiff_t>(draw(list.size())));
  }
  void tell(const std::string& what) {
    if (tells_) std::cout << "  " << what << "\n";
    told_ += "\n  " + what;
  }
  const std::string& told() const { return told_; }
  // How often each thing happened, by its name.
  const std::map<std::string, int>& happened() const { return happened_; }

  // `hyfreedp run` of all rows or one, on one of two machines, until it ends, stops or crashes.
  void run(const KnownSpec& known, bool stop_at_once = false, bool undisturbed = false) {
    executor_ = {};
    executor_fates();
    executor_.order = Order::shuffled;
    executor_.states = std::exchange(states_, {});
    undisturbed_ = undisturbed;
    machine_ = executor_.machine = undisturbed || chance(60) ? "one" : "another";
    const auto stop_after = stop_at_once ? 0 : chance(25) && !undisturbed ? draw(4) : 1000;
    const auto spec = world_.read(known.text);
    Only only;
    std::set<std::string> rows;
    if (known.rates.size() > 1 && !undisturbed && !stop_at_once && chance(20)) {
      rows = {chance(50) ? "a" : "b"};
      only = Only::read({"row=" + *rows.begin()}, spec).value();
    }
    tell(fmt::format("run {}{} on {}{}", known.name, rows.empty() ? "" : " --only " + *rows.begin(), machine_,
                     stop_after < 1000 ? fmt::format(", stopped after {}", stop_after) : ""));
    if (known.name == "selection") prepare_draws(known.name);
    was_interrupted_ = false;
    int asked = 0;  // its studies say what they want before it is told to stop
    const auto stop = [&] {
      return was_interrupted_ || (++asked > 1 && (stop_at_once || executor_.ended >= stop_after));
    };
    const auto report = world_.try_run(spec, executor_, stop, false, {}, only);
    states_ = std::exchange(executor_.states, {});
    if (!report) {
      EXPECT_EQ(report.error().message, "The coordinator was killed.");
      tell("  killed");
    }
    opened_.insert(known.name);
    for (std::size_t i = 0; i < known.rates.size(); ++i) {
      const auto row = std::string(1, static_cast<char>('a' + i));
      if (!rows.empty() && !rows.contains(row)) continue;
      asked_.emplace(known.name, row);
      for (std::int64_t seed = 0; known.is_sequential && seed < kSeqTo; ++seed) {
        const std::pair booked(known.rates[i], seed);
        if (!set_aside_.contains(booked)) booked_.insert(booked);
      }
    }
    if (undisturbed) {
      EXPECT_TRUE(report && report->failed.size() == known_failures(known)) << "something was not run again";
    }
    check_rows(known.name);
  }

  void cancel(const KnownSpec& known) {
    auto studies = world_.store().studies(known.name).value();
    std::erase_if(studies, [](const auto& study) { return results::is_answered(study); });
    if (studies.empty()) return;
    const auto& study = any(studies);
    ++happened_["cancel"];
    tell(fmt::format("cancel {} {} seed {}", known.name, study.row, study.seed));
    world_.close_database();
    ASSERT_TRUE(hand_in(world_.out(), {.studies = {study.id}}));
    world_.reopen_database();
    const auto cancelled = world_.store().study(study.id).value().value();
    EXPECT_TRUE(results::is_cancelled(cancelled));
    if (known.name == "selection") {
      EXPECT_TRUE(cancelled.trials.empty());
      has_cancelled_selection_ = true;
      return;
    }
    // Its only run, if that has begun, or a seed that was booked ahead.
    const auto* run = run_of(cancelled);
    const auto begun = run != nullptr && asked_.contains({known.name, study.row}) ? run->charge().steps : 0;
    const std::pair seed(rate_of(cancelled), cancelled.seed);
    const bool is_booked = known.is_sequential && booked_.contains(seed);
    if (known.is_sequential && !is_booked) set_aside_.insert(seed);
    const auto steps = begun > 0 || !is_booked ? begun : kSteps;
    if (is_booked && begun == 0) cancelled_early_.insert(seed);
    if (run != nullptr && !run->is_exact) return;
    EXPECT_EQ(cancelled.total.has_value(), steps > 0);
    if (cancelled.total) {
      EXPECT_DOUBLE_EQ(cancelled.total->epsilon, epsilon_of(steps)) << steps;
    }
  }

  void retry(const KnownSpec& known) {
    auto studies = world_.store().studies(known.name).value();
    std::erase_if(studies, [](const auto& study) {
      return study.state != results::StudyState::failed || why_not_retried(study, false);
    });
    if (studies.empty()) return;
    const auto& study = any(studies);
    ++happened_["retry"];
    tell(fmt::format("retry {} {} seed {}", known.name, study.row, study.seed));
    const auto opened =
        reopen(world_.store(), world_.out(), world_.store().spec(known.name).value().value(), {study});
    if (opened) set_aside_.erase({rate_of(study), study.seed});
    if (opened) return;
    EXPECT_EQ(known.name, "selection") << opened.error().message;
    EXPECT_THAT(opened.error().message, ::testing::HasSubstr("the key of this spec's draws is gone"));
  }

  void lose_key() {
    auto* run = any_run([&](const std::string& id, const Run& one) {
      return !one.is_over && has(world_.out().key(id)) &&
             (one.database_knows || has(world_.out().journal(id)));
    });
    if (run == nullptr) return;
    ++happened_["lose key"];
    tell("lose the key of " + name(*run));
    take(world_.out().key(id_of(*run)));
    ++run->losses;
    if (run->crashed) run->is_exact = false;
    if (!has(world_.out().journal(id_of(*run)))) run->database_alone_knows = true;
  }

  void lose_journal(bool and_key) {
    auto* run = any_run([&](const std::string& id, const Run& one) {
      const bool key_knows = !and_key && !one.is_over && has(world_.out().key(id));
      return (one.database_knows || key_knows) && has(world_.out().journal(id));
    });
    if (run == nullptr) return;
    const auto id = id_of(*run);
    const bool has_key = has(world_.out().key(id));
    ++happened_[and_key ? "lose journal and key" : "lose journal"];
    tell(fmt::format("lose the journal{} of {}", and_key ? " and key" : "", name(*run)));
    take(world_.out().journal(id));
    if (and_key) take(world_.out().key(id));
    ++run->losses;
    if (run->is_over) {
      run->database_alone_knows = true;
      return;
    }
    if (run->losses > 1 || run->attempts.empty() || run->crashed) {
      run->is_exact = false;
      run->database_alone_knows = true;
    } else if (has_key && !and_key) {
      // "Every attempt up to the key's counts as if it had been completed."
      run->wholes += run->attempts.back().number + 1;
      run->attempts.clear();
    } else {
      run->lost_journal_and_key = true;
      run->database_alone_knows = true;
    }
  }

  void keep_copies() {
    copies_.clear();
    for (const auto& [id, run] : runs_) {
      if (auto text = read_file(world_.out().journal(id))) copies_[id] = *text;
    }
  }
  void put_back_a_copy() {
    auto* run = any_run([&](const std::string& id, const Run&) { return copies_.contains(id); });
    if (run == nullptr) return;
    ++happened_["put back a copy"];
    tell("put back a copy of the journal of " + name(*run));
    const auto id = id_of(*run);
    ASSERT_TRUE(write_file_atomically(world_.out().journal(id), copies_.at(id), 0600));
    ++run->losses;
    if (!run->is_over) run->is_exact = false;
    run->database_alone_knows = true;
  }

  void lose_states() {
    if (!states_.empty()) ++happened_["lose checkpoints"];
    tell("lose all checkpoints");
    states_.clear();
  }

  void lose_database() {
    for (const auto& [id, run] : runs_) {
      if (run.database_alone_knows || !run.is_exact) return;
    }
    ++happened_["lose database"];
    tell("lose the database");
    world_.forget_database();
    for (auto& [id, run] : runs_) {
      run.database_knows = run.crashed = false;
      run.was_given = !run.attempts.empty() || run.wholes > 0;
    }
    before_ = {};
    // What is booked of rows that have no run is known again when their specs are read.
    for (const auto* known : {&kPlain, &kSequential, &kSelection, &kFar}) {
      if (opened_.contains(known->name)) run(*known, true);
    }
  }

  // Another folder, where rows of another spec were run.
  void merge(Folder& far) {
    if (std::exchange(has_merged_, true)) return;
    for (int i = 0; i < 2; ++i) far.run(kFar);
    ++happened_["merge"];
    tell("merge a folder:" + far.told());
    far.world_.close_database();
    const auto merged = merge_folders(world_.out(), world_.store(), {far.world_.out()});
    ASSERT_TRUE(merged) << merged.error().message;
    for (auto& [id, run] : far.runs_) {
      run.starts += 1;
      if (run.attempts.empty() && !run.is_over) run.is_exact = false;
      runs_[id] = run;
    }
    noises_.merge(far.noises_);
    opened_.insert(kFar.name);
  }

  void check() {
    const auto now = read(world_);
    const auto all = [&](const auto& cost_of_run) {
      Reading reading;
      Cost selected;
      bool selects = has_cancelled_selection_;
      std::set<std::pair<double, std::int64_t>> begun;
      for (const auto& [id, run] : runs_) {
        const Cost cost = cost_of_run(run);
        if (run.is_selected) {
          selects = selects || run.was_given;
          selected = larger(selected, larger(run.whole(), cost));
          continue;
        }
        reading.single = sum(reading.single, cost);
        if (cost.steps > 0) begun.emplace(run.rate, run.seed);
      }
      for (const auto& seed : booked_) reading.single.steps += begun.contains(seed) ? 0 : kSteps;
      if (selects) reading.selections = {larger(selected, {kSteps, 1})};
      return std::pair(reading, begun);
    };
    const auto [least, begun] = all([](const Run& run) { return run.least(); });
    auto most = all([](const Run& run) { return run.most(); }).first;
    // A seed that was cancelled before it began stays booked beside a run that another spec makes.
    for (const auto& seed : cancelled_early_) most.single.steps += begun.contains(seed) ? kSteps : 0;
    const auto print = [](const Reading& one) { return ::testing::PrintToString(one.single); };
    EXPECT_GE(now.single.steps, least.single.steps) << "less than was released, or is charged as planned";
    EXPECT_GE(now.single.scores, least.single.scores);
    EXPECT_LE(now.single.steps, most.single.steps) << "more than was begun";
    EXPECT_LE(now.single.scores, most.single.scores);
    EXPECT_EQ(now.selections.size(), least.selections.size());
    for (std::size_t i = 0; i < now.selections.size() && i < least.selections.size(); ++i) {
      EXPECT_GE(now.selections[i].steps, least.selections[i].steps);
      EXPECT_GE(now.selections[i].scores, least.selections[i].scores);
      EXPECT_LE(now.selections[i].steps, most.selections[i].steps);
      EXPECT_LE(now.selections[i].scores, most.selections[i].scores);
      if (i < before_.selections.size()) {
        EXPECT_GE(now.selections[i].steps, before_.selections[i].steps);
        EXPECT_GE(now.selections[i].scores, before_.selections[i].scores);
      }
    }
    EXPECT_GE(now.selections.size(), before_.selections.size());
    EXPECT_GE(now.single.steps, before_.single.steps) << "an operation made the odometer smaller";
    EXPECT_GE(now.single.scores, before_.single.scores);
    ++happened_["is compared"];
    tell("  = " + print(now) + fmt::format(", {} selections", now.selections.size()));
    before_ = now;
  }

 private:
  Fate any_fate() {
    static constexpr std::array kFates = {
        Fate::finish, Fate::finish, Fate::finish,    Fate::diverge,   Fate::kill,  Fate::kill,
        Fate::kill,   Fate::linger, Fate::unwritten, Fate::exhausted, Fate::crash, Fate::crash_unwritten};
    return kFates[draw(kFates.size())];
  }

  void executor_fates() {
    static constexpr std::array<std::int64_t, 8> kStops = {0, 1, 63, 64, 65, 127, 128, kSteps - 1};
    executor_.fate = [this](const trial::TrialConfig& config) { return decide(config); };
    executor_.steps_done = [this](const auto&) { return kStops[draw(kStops.size())]; };
    executor_.keeps_state = [this](const auto&) {
      return undisturbed_ || chance(50) ? 0 : kStops[draw(kStops.size())];
    };
    executor_.ends_in_a_step = [this](const auto&) { return chance(50); };
    executor_.at_begin = [this](const auto& config, const auto& journal) { begin(config, journal); };
    executor_.release = [this](const auto& config, std::int64_t step) { return release(config, step); };
    executor_.at_state = [this](const auto& config, const mechanism::ResumePoint& point) {
      courses_[point.place] = course_[config.id()];
    };
  }

  // A worker has the trial.
  Fate decide(const trial::TrialConfig& config) {
    auto& run = runs_[config.id()];
    run.rate = double_or(config.controller.options, "lr", 0);
    run.seed = config.seed;
    run.is_selected = config.evaluation.score.has_value();
    (run.is_selected ? selected_noise() : noise()) = config.privacy.gradient_noise;
    const auto fate = undisturbed_ ? Fate::finish : any_fate();
    run.was_given = run.database_knows = true;
    run.crashed = fate == Fate::crash || fate == Fate::crash_unwritten;
    ++run.starts;
    ending_ = fate;
    was_interrupted_ = was_interrupted_ || fate == Fate::linger;
    if (fate == Fate::unwritten || fate == Fate::crash_unwritten) {
      // Charged in full if it was continuing an earlier run, and if nobody saw its end.
      if (run.crashed || run.wholes > 0 || run.lost_journal_and_key || !run.attempts.empty())
        run.is_exact = false;
      ++happened_["no line"];
      tell("  " + name(run) + ": no line");
    }
    return fate;
  }

  void begin(const trial::TrialConfig& config, const mechanism::JournalWriter& journal) {
    auto& run = runs_.at(config.id());
    const auto from = journal.resumed_from();
    const auto key = read_file(world_.out().key(config.id())).value();
    const auto noise = fmt::format("{}/{}", std::hash<std::string>()(key), journal.attempt());
    tell(fmt::format("  {}: {} from {}, attempt {}", name(run), text_of(ending_), from.step,
                     journal.attempt()));
    ++happened_[text_of(ending_)];
    if (from.step > 0) ++happened_["goes on from a state"];
    const bool repeats = !run.attempts.empty() && run.attempts.back().noise == noise;
    if (repeats) {
      ++happened_["is repeated"];
      EXPECT_GE(from.step, run.attempts.back().first) << "noise that was never booked";
    } else {
      EXPECT_TRUE(noises_.insert(noise).second) << "the key of another attempt";
      if (run.lost_journal_and_key) {
        for (const auto& one : run.attempts) run.wholes += one.is_used() ? 1 : 0;
        run.attempts.clear();
        run.lost_journal_and_key = false;
        run.database_alone_knows = run.losses > 1;  // the new journal has it
      }
      if (!run.attempts.empty() && !run.attempts.back().is_used()) run.attempts.pop_back();
      run.attempts.push_back({.noise = noise,
                              .number = journal.attempt(),
                              .first = from.step,
                              .booked = from.step,
                              .done = from.step});
    }
    course_[config.id()] = from.step == 0 ? "" : courses_.at(from.place);
    // Set at the end of what happens now, of which the executor tells no more.
    auto& last = run.attempts.back();
    last.diverged = last.diverged || ending_ == Fate::diverge;
    run.is_over = ending_ == Fate::finish || ending_ == Fate::diverge;
    run.diverged = ending_ == Fate::diverge;
    last.finished = ending_ == Fate::finish;
  }

  // Two releases under the same noise are one.
  std::string release(const trial::TrialConfig& config, std::int64_t step) {
    auto& run = runs_.at(config.id());
    auto& attempt = run.attempts.back();
    if (step == kSteps) {
      attempt.scores = 1;
    } else {
      attempt.book(step);
      attempt.done = std::max(attempt.done, step + 1);
    }
    run.ever[attempt.noise] = attempt;
    auto& course = course_[config.id()];
    const auto hash = std::to_string(
        std::hash<std::string>()(fmt::format("{}, {}, {}, {}", course, attempt.noise, machine_, step)));
    const auto [known, is_new] = hashes_.emplace(std::pair(attempt.noise, step), hash);
    EXPECT_EQ(known->second, hash) << "noise of step " << step << " was used for two releases of "
                                   << name(run);
    return course = hash;
  }

  // Always the same runs.
  void prepare_draws(const std::string& spec) {
    const auto path = world_.out().draw_key(spec);
    if (opened_.contains(spec)) return;
    std::filesystem::create_directories(world_.out().keys());
    std::filesystem::permissions(world_.out().keys(), std::filesystem::perms::owner_all);
    ASSERT_TRUE(write_file_atomically(path, "hyfreedp key 1\n" + std::string(64, '5') + "\n", 0600));
  }

  static double rate_of(const results::StudyRecord& study) {
    for (const auto* known : {&kPlain, &kSequential, &kFar}) {
      if (known->name == study.spec) return known->rates.at(static_cast<std::size_t>(study.row.at(0) - 'a'));
    }
    return 0;
  }
  const Run* run_of(const results::StudyRecord& study) const {
    for (const auto& [id, run] : runs_) {
      if (!run.is_selected && run.rate == rate_of(study) && run.seed == study.seed) return &run;
    }
    return nullptr;
  }
  std::size_t known_failures(const KnownSpec& known) {
    std::size_t count = 0;
    for (const auto& study : world_.store().studies(known.name).value()) {
      count += study.state == results::StudyState::failed && !results::is_not_needed(study) ? 1 : 0;
    }
    return count;
  }

  // Of a row with one run: what that says. Of the selection, that it is charged as a whole.
  void check_rows(const std::string& spec) {
    for (const auto& study : world_.store().studies(spec).value()) {
      if (results::is_cancelled(study) || results::is_not_needed(study)) continue;
      SCOPED_TRACE(fmt::format("{} {} seed {}", spec, study.row, study.seed));
      if (spec == "selection") {
        Cost largest;
        bool is_exact = true;
        for (const auto& [id, run] : runs_) {
          if (!run.is_selected) continue;
          largest = larger(largest, run.charge());
          is_exact = is_exact && run.is_exact;
        }
        if (study.state != results::StudyState::concluded || !is_exact) continue;
        ASSERT_TRUE(study.total);
        EXPECT_DOUBLE_EQ(study.total->epsilon, epsilon_of_selection(larger(largest, {kSteps, 1})));
        continue;
      }
      const auto* run = run_of(study);
      if (study.state == results::StudyState::concluded) {
        ASSERT_NE(run, nullptr);
        EXPECT_TRUE(run->is_over && !run->diverged);
        EXPECT_EQ(study.reported_trial, id_of(*run));
        ASSERT_TRUE(study.total);
        if (run->is_exact) {
          EXPECT_DOUBLE_EQ(study.total->epsilon, epsilon_of(run->charge().steps));
        }
        EXPECT_GE(study.total->epsilon, epsilon_of(kSteps) * (1 - 1e-9));
        const bool is_interrupted = std::ranges::any_of(
            study.flags, [](const auto& flag) { return flag.starts_with("interrupted"); });
        if (run->is_exact) {
          EXPECT_EQ(is_interrupted, run->attempts.size() + static_cast<std::size_t>(run->wholes) > 1);
        }
      } else if (study.state == results::StudyState::failed && run != nullptr && run->diverged) {
        // Another spec may have made the run since this one was read.
        EXPECT_TRUE(study.failure_kind == "diverged" || results::may_be_tried_again(study.failure_kind));
        if (study.total && run->is_exact && study.failure_kind == "diverged") {
          EXPECT_DOUBLE_EQ(study.total->epsilon, epsilon_of(run->charge().steps));
        }
      }
    }
  }

  const std::string& id_of(const Run& run) const {
    for (const auto& [id, one] : runs_) {
      if (&one == &run) return id;
    }
    return runs_.begin()->first;
  }
  std::string name(const Run& run) const {
    return fmt::format("{} seed {} ({})", run.rate, run.seed, id_of(run).substr(0, 4));
  }
  template <typename Fits>
  Run* any_run(const Fits& fits) {
    std::vector<Run*> all;
    for (auto& [id, run] : runs_) {
      if (fits(id, run)) all.push_back(&run);
    }
    return all.empty() ? nullptr : any(all);
  }
  static bool has(const std::string& path) { return std::filesystem::exists(path); }
  static void take(const std::string& path) { std::filesystem::remove(path); }

  std::mt19937_64 random_;
  bool tells_;
  std::string told_;
  std::map<std::string, int> happened_;
  World world_;
  FakeExecutor executor_;
  std::map<std::string, Run> runs_;
  std::set<std::string> opened_;  // specs that were run
  std::set<std::pair<double, std::int64_t>> cancelled_early_;
  bool has_cancelled_selection_ = false;
  std::set<std::pair<double, std::int64_t>> booked_;     // seeds of rows, whether or not they begin
  std::set<std::pair<double, std::int64_t>> set_aside_;  // cancelled before they were booked
  std::set<std::pair<std::string, std::string>> asked_;  // specs and rows that were not left out
  std::map<std::string, std::string> copies_, course_, courses_;
  std::map<std::pair<std::string, std::int64_t>, std::string> hashes_;
  std::set<std::string> noises_;
  std::map<std::string, std::vector<mechanism::ResumePoint>> states_;
  Reading before_;
  std::string machine_;
  Fate ending_ = Fate::finish;
  bool undisturbed_ = false, has_merged_ = false, was_interrupted_ = false;
};

}  // namespace hyfreedp::runner::history
