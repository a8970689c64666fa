#include "harness/mechanism/journal.h"

#include <algorithm>
#include <set>
#include <utility>

#include "harness/base/files.h"
#include "harness/mechanism/executed.h"
#include "harness/mechanism/journal_line.h"
#include "harness/mechanism/journal_reader.h"

namespace hyfreedp::mechanism {

using namespace reading;
using trial::Finish;
using trial::MetricRecord;
using trial::StepRecord;
using trial::TrialConfig;

Result<Journal> read_journal(const std::string& path) {
  auto text = read_file(path);
  if (!text) return text.error();
  auto parsed = parse_journal(path, *text);
  if (!parsed) return parsed.error();
  if (parsed->journal.trial.empty()) return error(path + ": the journal has no complete start line");
  return std::move(parsed->journal);
}

struct JournalWriter::State {
  explicit State(JournalFile file) : out(std::move(file)) {}

  JournalFile out;
  TrialConfig config;
  json::object fingerprint;
  std::int64_t attempt = 0;
  std::string nonce;
  std::int64_t lost = 0;     // of the next start line
  std::string lost_nonce;    // of the next start line
  std::int64_t numbers = 0;  // of a seeded run: the largest that an attempt may have had
  Attempt current;
  ResumePoint from;   // of this run
  Executed executed;  // since step 0, by this run and what it goes on from
  // The steps before each place, for the states that the run can go on from.
  std::map<std::string, std::int64_t> places;
  std::map<std::int64_t, std::string> expected;
  Scores released;
  std::function<void()> before_booking;

  void tell() {
    if (const auto told = std::exchange(before_booking, {})) told();
  }
  Result<void> start() {
    auto line = as_json(Start{.trial = config.id(),
                              .attempt = attempt,
                              .from = from.step,
                              .config = config.to_json(),
                              .fingerprint = fingerprint,
                              .unix_time = static_cast<std::int64_t>(::time(nullptr)),
                              .nonce = nonce == kSeededNonce ? "" : nonce,
                              .lost = std::exchange(lost, 0),
                              .lost_nonce = std::exchange(lost_nonce, "")});
    line["type"] = "start";
    if (auto written = out.append(line); !written) return written;
    // Also for bookings of a killed process, which may still be in the page cache only.
    return out.sync();
  }

  Result<void> draw_nonce() {
    if (config.noise_seed && attempt == 0) {
      nonce = kSeededNonce;
      return {};
    }
    auto fresh = random::nonce_from_entropy();
    if (!fresh) return fresh.error();
    nonce = std::move(*fresh);
    return {};
  }

  // Chooses the first of `points` that is one of `places`, or the beginning.
  Result<void> choose_point(const std::vector<ResumePoint>& points);
  // True if a run that goes on from `step` repeats the last attempt, by the rules in the header.
  bool repeats_attempt(const Parsed& parsed, const EarlierAttempts& earlier, std::int64_t step) const;
  // True if nothing is released after `step` steps.
  bool is_last_state(std::int64_t step) const;
  // The `points` from which a repeated attempt has a hash to reproduce or releases nothing more,
  // and those from which a new attempt begins.
  std::vector<ResumePoint> checkable(const std::vector<ResumePoint>& points, const Parsed& parsed,
                                     const EarlierAttempts& earlier) const;
  // Chooses the attempt, by the table in the header.
  Result<void> go_on_from(const Parsed& parsed, const EarlierAttempts& earlier);
};

JournalWriter::JournalWriter(std::unique_ptr<State> state) : state_(std::move(state)) {}
JournalWriter::~JournalWriter() = default;

Result<void> JournalWriter::State::choose_point(const std::vector<ResumePoint>& points) {
  from = {};
  executed = {};
  for (const auto& point : points) {
    const auto place = places.find(point.place);
    if (place == places.end() || place->second != point.step) continue;
    auto done =
        Executed::from_json(point.released, config, "the checkpoint of step " + std::to_string(point.step));
    if (!done) return done.error();
    executed = std::move(*done);
    from = point;
    break;
  }
  std::erase_if(places, [&](const auto& place) { return place.second > from.step; });
  return {};
}

bool JournalWriter::State::repeats_attempt(const Parsed& parsed, const EarlierAttempts& earlier,
                                           std::int64_t step) const {
  const auto& journal = parsed.journal;
  const bool same_machine = canonical_json(trial::without_commit(journal.fingerprint)) ==
                            canonical_json(trial::without_commit(fingerprint));
  const bool same_key = earlier.key && !journal.nonce.empty() && earlier.key->nonce == journal.nonce;
  const auto last = parsed.attempts.find(journal.attempt);
  const bool has_begun = last != parsed.attempts.end() && last->second.first <= step;
  return !journal.trial.empty() && same_machine && (config.noise_seed || same_key) && has_begun;
}

bool JournalWriter::State::is_last_state(std::int64_t step) const {
  const bool has_steps = step < config.steps && config.privacy.is_private;
  return !has_steps && !config.evaluation.score;
}

std::vector<ResumePoint> JournalWriter::State::checkable(const std::vector<ResumePoint>& points,
                                                         const Parsed& parsed,
                                                         const EarlierAttempts& earlier) const {
  std::vector<ResumePoint> found;
  for (const auto& point : points) {
    const bool has_hash = parsed.hashes.contains({parsed.journal.attempt, point.step});
    if (has_hash || is_last_state(point.step) || !repeats_attempt(parsed, earlier, point.step))
      found.push_back(point);
  }
  return found;
}

Result<void> JournalWriter::State::go_on_from(const Parsed& parsed, const EarlierAttempts& earlier) {
  const auto& journal = parsed.journal;
  const bool has_journal = !journal.trial.empty();
  const bool is_seeded = config.noise_seed.has_value();
  const auto last = parsed.attempts.find(journal.attempt);
  if (is_seeded) {
    if (earlier.key && !journal.nonces.contains(earlier.key->nonce)) {
      lost = earlier.key->attempt;  // the first one is made again
      lost_nonce = lost > 0 ? earlier.key->nonce : "";
    }
    numbers = std::max({journal.lost, lost, earlier.recorded - 1});
  }
  if (repeats_attempt(parsed, earlier, from.step)) {
    attempt = journal.attempt;
    nonce = journal.nonce;
    current = last->second;
    if (const auto found = parsed.released.find(attempt); found != parsed.released.end())
      released = found->second;
    for (const auto& [key, hash] : parsed.hashes) {
      if (key.first == attempt) expected[key.second] = hash;
    }
    return {};
  }
  if (has_journal) {
    // An unseeded attempt that booked and did nothing used no noise; its number can be used again,
    // under another key.
    const bool is_unused = !is_seeded && earlier.recorded <= journal.attempt &&
                           last != parsed.attempts.end() && last->second.is_unused();
    attempt = journal.attempt + (is_unused ? 0 : 1);
  }
  if (is_seeded) {
    if (has_journal) attempt = std::max(attempt, numbers + 1);
  } else {
    const auto in_journal = attempt;
    if (earlier.key && !journal.nonces.contains(earlier.key->nonce)) {
      lost = earlier.key->attempt + 1;
      lost_nonce = earlier.key->nonce;
      attempt = std::max(attempt, lost);
    }
    if (earlier.recorded > attempt) {
      lost = std::max(lost, earlier.recorded - in_journal);
      attempt = earlier.recorded;
    }
  }
  current = attempt_from(from.step);
  return draw_nonce();
}

Result<std::unique_ptr<JournalWriter>> JournalWriter::open(const std::string& path, const TrialConfig& config,
                                                           const json::object& fingerprint,
                                                           const EarlierAttempts& earlier,
                                                           const std::vector<ResumePoint>& points,
                                                           SyncCall sync) {
  auto file = JournalFile::open(path, std::move(sync));
  if (!file) return file.error();
  auto text = read_file(path);
  if (!text) return text.error();
  std::set<std::string> places;
  for (const auto& point : points) places.insert(point.place);
  auto parsed = parse_journal(path, *text, &config, std::move(places));
  if (!parsed) return parsed.error();
  const auto& journal = parsed->journal;
  if (!journal.trial.empty() && journal.trial != config.id()) {
    return error(path + ": the journal belongs to another trial (" + journal.trial + ")");
  }
  if (earlier.key && earlier.key->trial != config.id()) {
    return error(path + ": the key file of this run was made for another one (" + earlier.key->trial +
                 "). Put back the right one, or move it away: the run then begins anew under a new key.");
  }
  if (!config.noise_seed) {
    if (earlier.has_old_key && journal.trial.empty()) {
      return error(
          path +
          ": the journal is missing, but its key is there, made by version 0.6 or earlier: what the run "
          "released is not known. Put the journal back, or start a new release of the spec (hyfreedp "
          "run SPEC --fresh).");
    }
  }
  if (auto cut = file->resume_after(journal.valid_bytes, parsed->checksum); !cut) return cut.error();

  auto state = std::make_unique<State>(std::move(*file));
  state->config = config;
  state->fingerprint = fingerprint;
  state->places = std::move(parsed->places);
  if (auto chosen = state->choose_point(state->checkable(points, *parsed, earlier)); !chosen)
    return chosen.error();
  if (auto chosen = state->go_on_from(*parsed, earlier); !chosen) return chosen.error();
  if (auto started = state->start(); !started) return started.error();
  return std::unique_ptr<JournalWriter>(new JournalWriter(std::move(state)));
}

std::int64_t JournalWriter::attempt() const { return state_->attempt; }

const std::string& JournalWriter::nonce() const { return state_->nonce; }

void JournalWriter::tell_before_booking(std::function<void()> tell) {
  state_->before_booking = std::move(tell);
}

const ResumePoint& JournalWriter::resumed_from() const { return state_->from; }

Result<ResumePoint> JournalWriter::point(std::int64_t step) {
  if (auto synced = state_->out.sync(); !synced) return synced.error();
  ResumePoint here{step, state_->out.checksum(), state_->executed.to_json()};
  state_->places[here.place] = step;
  return here;
}

std::optional<std::string> JournalWriter::expected_hash(std::int64_t step) const {
  const auto found = state_->expected.find(step);
  if (found == state_->expected.end()) return std::nullopt;
  return found->second;
}

Result<void> JournalWriter::begin_next_attempt(const std::vector<ResumePoint>& points) {
  state_->attempt = std::max(state_->attempt, state_->numbers) + 1;
  if (auto synced = state_->out.restart_marks(); !synced) return synced.error();
  if (auto chosen = state_->choose_point(points); !chosen) return chosen;
  state_->current = attempt_from(state_->from.step);
  state_->expected.clear();
  state_->released.clear();
  if (auto drawn = state_->draw_nonce(); !drawn) return drawn;
  return state_->start();
}

Result<void> JournalWriter::ensure_booked(std::int64_t step) {
  // Far enough ahead that a sync of some milliseconds is over before its steps are reached.
  constexpr std::int64_t kAhead = 128;
  HYFREEDP_CHECK(step >= 0 && step < state_->config.steps, "a step outside the run was to be booked");
  if (!state_->config.privacy.is_private) return {};
  auto& booked = state_->current.booked;
  if (booked - step < kAhead / 2 + 1 && booked < state_->config.steps) {
    const auto until = std::min(state_->config.steps, std::max(step, booked) + kAhead);
    state_->tell();
    if (auto written = state_->out.append(
            {{"type", "book"}, {"attempt", state_->attempt}, {"first", booked}, {"count", until - booked}});
        !written) {
      return written.error();
    }
    state_->out.sync_in_background(until);
    booked = until;
  }
  return state_->out.wait_until_synced(step + 1);
}

Result<void> JournalWriter::book_score(double noise_multiplier, const std::string& split) {
  HYFREEDP_CHECK(noise_multiplier > 0, "a score is released with noise");
  for (const auto& score : state_->current.scores) {
    // A replay of the same attempt draws the same noise: the same release.
    if (score.split == split && score.noise_multiplier == noise_multiplier) return {};
  }
  state_->tell();
  state_->current.scores.push_back({noise_multiplier, split});
  if (auto written = state_->out.append({{"type", "book-score"},
                                         {"attempt", state_->attempt},
                                         {"noise_multiplier", noise_multiplier},
                                         {"split", split}});
      !written) {
    return written.error();
  }
  return state_->out.sync();
}

Result<void> JournalWriter::step(const StepRecord& record, const std::set<std::string>& made) {
  state_->executed.add(record.step, made);
  auto line = as_json(record);
  line["type"] = "step";
  line["attempt"] = state_->attempt;
  return state_->out.append(line);
}

Result<void> JournalWriter::metric(const MetricRecord& given) {
  auto record = given;
  if (is_released_score(record)) {
    record.value = state_->released.try_emplace(record.split, record.value).first->second;
  }
  auto line = as_json(record);
  line["type"] = "metric";
  return state_->out.append(line);
}

Result<void> JournalWriter::finish(const Finish& finish) {
  auto line = as_json(finish);
  line["type"] = "finish";
  line["released"] = state_->executed.to_json();
  if (auto written = state_->out.append(line); !written) return written.error();
  if (auto synced = state_->out.sync(); !synced) return synced;
  return state_->out.check_in_place();
}

}  // namespace hyfreedp::mechanism
