#include "harness/mechanism/journal.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <fstream>
#include <set>
#include <utility>

#include "harness/base/files.h"
#include "harness/mechanism/executed.h"
#include "harness/mechanism/journal_line.h"
#include "harness/mechanism/releases.h"

namespace hyfreedp::mechanism {
namespace {

using trial::Finish;
using trial::MetricRecord;
using trial::StepRecord;
using trial::TrialConfig;
using trial::TrialState;
using trial::Visibility;

struct Score {
  double noise_multiplier = 0;
  std::string split;
};
BOOST_DESCRIBE_STRUCT(Score, (), (noise_multiplier, split))

// By split: the validation score that a run of an attempt released.
using Scores = std::map<std::string, double>;

bool is_released_score(const MetricRecord& metric) {
  return metric.name == "score" && metric.visibility == Visibility::released;
}

// What one attempt booked and did, over all runs of it.
struct Attempt {
  std::string name;           // ChargedAttempt::name
  std::int64_t first = 0;     // its first step
  std::int64_t booked = 0;    // steps [first, booked)
  std::int64_t executed = 0;  // steps [first, executed) have a step line
  bool diverged = false;      // one of its runs did
  std::vector<Score> scores;

  bool is_unused() const { return booked == first && executed == first && scores.empty(); }
};

Attempt attempt_from(std::int64_t step) { return {.first = step, .booked = step, .executed = step}; }

// The members of a start line.
struct Start {
  std::string trial;
  std::int64_t attempt = 0;
  std::int64_t from = 0;
  json::object config;
  json::object fingerprint;
  std::int64_t unix_time = 0;
  std::string nonce;
  std::int64_t lost = 0;
  std::string lost_nonce;

  static constexpr std::array kLeftOut = {"from", "fingerprint", "unix_time", "nonce", "lost", "lost_nonce"};
};
BOOST_DESCRIBE_STRUCT(Start, (),
                      (trial, attempt, from, config, fingerprint, unix_time, nonce, lost, lost_nonce))

struct Book {
  std::int64_t attempt = 0;
  std::int64_t first = 0;
  std::int64_t count = 0;
};
BOOST_DESCRIBE_STRUCT(Book, (), (attempt, first, count))

// What a journal says.
struct Parsed {
  Journal journal;
  std::map<std::int64_t, Attempt> attempts;
  std::map<std::pair<std::int64_t, std::int64_t>, std::string> hashes;  // by attempt and step
  std::map<std::int64_t, Scores> released;                              // by attempt
  // By place: the steps before it, where these are still the run's. Of the places that were asked
  // for.
  std::map<std::string, std::int64_t> places;
  std::string checksum;
};

// Folds the lines of a journal, in order, into what they say.
class Reader {
 public:
  Reader(std::string path, std::set<std::string> places)
      : path_(std::move(path)), wanted_places_(std::move(places)) {}

  Result<void> add(const OpenedLine& line, std::size_t number) {
    if (auto added = add(line.object, path_ + ":" + std::to_string(number)); !added) return added;
    if (wanted_places_.contains(line.checksum)) {
      parsed_.places[line.checksum] = static_cast<std::int64_t>(journal_.steps.size());
    }
    return {};
  }

  const Journal& so_far() const { return journal_; }

  // By attempt, lost ones first. A finished attempt is charged what it executed; one that diverged
  // its whole rest, since it stopped where its noisy outputs told it to, and a price that depends
  // on them is no guarantee; every other what it booked. Of a lost one nobody knows how far it
  // came.
  std::vector<trial::ChargedAttempt> charged() const {
    auto all = journal_.charged;
    for (const auto& [number, attempt] : parsed_.attempts) {
      const bool finished =
          number == journal_.attempt && journal_.finish && journal_.finish->state == TrialState::finished;
      auto steps = finished ? attempt.executed : attempt.booked;
      if (attempt.diverged) steps = journal_.config.steps;
      auto charge = events(journal_.config.privacy, attempt.first, steps - attempt.first);
      for (const auto& score : charged_scores(attempt))
        charge.push_back(score_event(score.noise_multiplier, score.split));
      all.push_back({attempt.name, std::move(charge)});
    }
    return all;
  }

  Parsed take(std::size_t valid_bytes, std::string checksum) {
    for (auto& [number, attempt] : parsed_.attempts) attempt.scores = charged_scores(attempt);
    journal_.charged = charged();
    journal_.executed = trial::events_of(journal_.charged);
    journal_.valid_bytes = valid_bytes;
    parsed_.checksum = std::move(checksum);
    return std::move(parsed_);
  }

 private:
  std::vector<Score> charged_scores(const Attempt& attempt) const {
    const auto& score = journal_.config.evaluation.score;
    if (!attempt.diverged || !score || !attempt.scores.empty()) return attempt.scores;
    return {{score->noise_counts, trial::kValidationSplit}};
  }

  Result<void> add(const json::object& line, const std::string& where) {
    const auto type = get_string(line, "type", where);
    if (!type) return type.error();
    if (*type == "start") return start(line, where);
    if (journal_.trial.empty()) return error(where + ": the journal does not begin with a start line");
    if (*type == "book") return book(line, where);
    if (*type == "book-score") return book_score(line, where);
    if (*type == "step") return step(line, where);
    if (*type == "metric") return metric(line, where);
    if (*type == "finish") return finish(line, where);
    return error(where + ": unknown kind of line '" + *type +
                 "'; the journal was written by a newer version");
  }

  Result<void> start(const json::object& line, const std::string& where) {
    auto start = from_json<Start>(line, where);
    if (!start) return start.error();
    auto config = TrialConfig::from_json(start->config, where);
    if (!config) return config.error();
    if (!journal_.trial.empty() && config->id() != journal_.trial) {
      return error(where + ": the journal holds two different trials");
    }
    journal_.trial = config->id();
    journal_.config = std::move(*config);
    journal_.attempt = start->attempt;
    journal_.nonce = start->nonce;
    if (!journal_.nonce.empty()) journal_.nonces.insert(journal_.nonce);
    ++journal_.starts;
    take_lost(start->lost, start->lost_nonce);
    if (!start->fingerprint.empty()) {
      journal_.fingerprint = std::move(start->fingerprint);
      const auto build = trial::build_of(journal_.fingerprint);
      if (std::find(journal_.builds.begin(), journal_.builds.end(), build) == journal_.builds.end())
        journal_.builds.push_back(build);
    }
    if (auto kept = go_on_from(start->from, where); !kept) return kept;
    journal_.finish.reset();
    auto& attempt = parsed_.attempts.try_emplace(start->attempt, attempt_from(start->from)).first->second;
    if (attempt.is_unused()) attempt = attempt_from(start->from);
    attempt.name = journal_.nonce.empty() ? "attempt " + std::to_string(start->attempt) : journal_.nonce;
    return {};
  }

  // Keeps what was done before `step`.
  Result<void> go_on_from(std::int64_t step, const std::string& where) {
    if (step < 0 || step > static_cast<std::int64_t>(journal_.steps.size())) {
      return error(
          fmt::format("{}: a run begins with step {}, and the steps before it are not there", where, step));
    }
    journal_.steps.resize(static_cast<std::size_t>(step));
    std::erase_if(journal_.metrics, [&](const auto& metric) { return metric.step >= step; });
    std::erase_if(parsed_.places, [&](const auto& place) { return place.second > step; });
    return {};
  }

  void take_lost(std::int64_t count, const std::string& nonce) {
    for (std::int64_t i = 0; i < count; ++i) {
      journal_.charged.push_back({i + 1 == count ? nonce : "", events(journal_.config)});
    }
    journal_.lost += count;
    if (!nonce.empty()) journal_.nonces.insert(nonce);
  }

  Result<Attempt*> attempt_of(const json::object& line, const std::string& where) {
    const auto number = get_int(line, "attempt", where);
    if (!number) return number.error();
    return &parsed_.attempts[*number];
  }

  Result<void> book(const json::object& line, const std::string& where) {
    const auto book = from_json<Book>(line, where);
    if (!book) return book.error();
    auto& booked = parsed_.attempts[book->attempt].booked;
    booked = std::max(booked, book->first + book->count);
    return {};
  }

  Result<void> book_score(const json::object& line, const std::string& where) {
    const auto attempt = attempt_of(line, where);
    if (!attempt) return attempt.error();
    auto score = from_json<Score>(line, where);
    if (!score) return score.error();
    (**attempt).scores.push_back(std::move(*score));
    return {};
  }

  Result<void> step(const json::object& line, const std::string& where) {
    auto record = from_json<StepRecord>(line, where);
    if (!record) return record.error();
    const auto attempt = attempt_of(line, where);
    if (!attempt) return attempt.error();
    (**attempt).executed = std::max((**attempt).executed, record->step + 1);
    parsed_.hashes[{journal_.attempt, record->step}] = record->hash;
    journal_.steps.push_back(std::move(*record));
    return {};
  }

  Result<void> metric(const json::object& line, const std::string& where) {
    auto record = from_json<MetricRecord>(line, where);
    if (!record) return record.error();
    if (is_released_score(*record))
      parsed_.released[journal_.attempt].try_emplace(record->split, record->value);
    journal_.metrics.push_back(std::move(*record));
    return {};
  }

  Result<void> finish(const json::object& line, const std::string& where) {
    auto finish = from_json<Finish>(line, where);
    if (!finish) return finish.error();
    if (const auto* released = line.if_contains("released")) {
      if (auto checked = check_executed(*released, journal_.config, where); !checked) return checked;
    }
    if (finish->kind == "diverged") parsed_.attempts[journal_.attempt].diverged = true;
    journal_.finish = std::move(*finish);
    return {};
  }

  std::string path_;
  std::set<std::string> wanted_places_;
  Parsed parsed_;
  Journal& journal_ = parsed_.journal;
};

Error damage(const std::string& where, const Error& what, bool is_seeded) {
  return error(
      where + ": " + what.message +
      "; the journal was changed after it was written, so what it booked is no longer known. Put back an "
      "unchanged copy of the file. " +
      (is_seeded ? "Without one remove it: the run has a noise_seed and will be repeated."
                 : "Without one leave it where it is, so that the odometer says \"at least\", and start a "
                   "new release of the spec (hyfreedp run SPEC --fresh)."));
}

// `wanted`: the trial that the journal is to be of, where the caller knows; `places`: those to look
// for.
Result<Parsed> parse(const std::string& path, const std::string& text, const TrialConfig* wanted = nullptr,
                     std::set<std::string> places = {}) {
  Reader reader(path, std::move(places));
  std::string checksum;
  std::size_t position = 0;
  std::size_t number = 0;
  while (position < text.size()) {
    ++number;
    const auto newline = text.find('\n', position);
    const bool is_tail = newline == std::string::npos;
    auto whole = std::string_view(text).substr(position, newline - position);
    // A line is written at once, its newline last: where that alone is missing the line stands.
    if (is_tail) whole = whole.substr(0, whole.find_last_not_of('\0') + 1);
    auto line = open_line(whole, checksum);
    if (!line && is_tail) break;
    if (!line) {
      const auto& config = wanted != nullptr ? *wanted : reader.so_far().config;
      return damage(path + ":" + std::to_string(number), line.error(), config.noise_seed.has_value());
    }
    if (auto added = reader.add(*line, number); !added) return added.error();
    checksum = line->checksum;
    position += whole.size() + (is_tail ? 0 : 1);
    if (is_tail) break;
  }
  return reader.take(position, std::move(checksum));
}

}  // namespace

Result<Journal> read_journal(const std::string& path) {
  auto text = read_file(path);
  if (!text) return text.error();
  auto parsed = parse(path, *text);
  if (!parsed) return parsed.error();
  if (parsed->journal.trial.empty()) return error(path + ": the journal has no complete start line");
  return std::move(parsed->journal);
}

struct JournalFollower::State {
  std::string path;
  Reader reader{path, {}};
  std::string checksum;  // of the last line that was read
  std::size_t position = 0;
  std::size_t lines = 0;

  explicit State(std::string of) : path(std::move(of)) {}
  // The whole lines of `text`, the last of which ends with a newline.
  Result<void> add(std::string_view text);
};

Result<void> JournalFollower::State::add(std::string_view text) {
  while (!text.empty()) {
    const auto newline = text.find('\n');
    auto line = open_line(text.substr(0, newline), checksum);
    if (!line) return error(fmt::format("{}:{}: {}", path, lines + 1, line.error().message));
    if (auto added = reader.add(*line, lines + 1); !added) return added;
    checksum = std::move(line->checksum);
    ++lines;
    position += newline + 1;
    text.remove_prefix(newline + 1);
  }
  return {};
}

JournalFollower::JournalFollower(const std::string& path) : state_(std::make_unique<State>(path)) {}
JournalFollower::JournalFollower(JournalFollower&&) noexcept = default;
JournalFollower& JournalFollower::operator=(JournalFollower&&) noexcept = default;
JournalFollower::~JournalFollower() = default;

Result<bool> JournalFollower::read(std::size_t most) {
  std::ifstream file(state_->path, std::ios::binary | std::ios::ate);
  if (!file) return error(state_->path + ": cannot read the journal");
  const auto size = static_cast<std::size_t>(file.tellg());
  // Another file is in its place.
  if (size < state_->position) *this = JournalFollower(state_->path);
  std::string text(std::min(most, size - state_->position), '\0');
  file.seekg(static_cast<std::streamoff>(state_->position));
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  const bool is_all = state_->position + text.size() == size;
  text.resize(text.rfind('\n') + 1);  // npos + 1 is 0
  if (text.empty() && !is_all) return read(2 * most);
  if (auto added = state_->add(text); !added) return added.error();
  return is_all;
}

const Journal& JournalFollower::journal() const { return state_->reader.so_far(); }

std::vector<accounting::Event> JournalFollower::charged() const {
  return trial::events_of(state_->reader.charged());
}

struct JournalWriter::State {
  explicit State(JournalFile file) : out(std::move(file)) {}

  JournalFile out;
  TrialConfig config;
  json::object fingerprint;
  std::int64_t attempt = 0;
  std::string nonce;
  std::int64_t lost = 0;   // of the next start line
  std::string lost_nonce;  // of the next start line
  Attempt current;
  ResumePoint from;   // of this run
  Executed executed;  // since step 0, by this run and what it goes on from
  // By place: the steps before it, of the states that the run can go on from.
  std::map<std::string, std::int64_t> places;
  std::map<std::int64_t, std::string> expected;
  Scores released;

  Result<void> start() {
    auto line = as_json(Start{.trial = config.id(),
                              .attempt = attempt,
                              .from = from.step,
                              .config = config.to_json(),
                              .fingerprint = fingerprint,
                              .unix_time = static_cast<std::int64_t>(::time(nullptr)),
                              .nonce = nonce,
                              .lost = std::exchange(lost, 0),
                              .lost_nonce = std::exchange(lost_nonce, "")});
    line["type"] = "start";
    if (auto written = out.append(line); !written) return written;
    // Also for bookings of a killed process, which may still be in the page cache only.
    return out.sync();
  }

  Result<void> draw_nonce() {
    if (config.noise_seed) return {};
    auto fresh = random::nonce_from_entropy();
    if (!fresh) return fresh.error();
    nonce = std::move(*fresh);
    return {};
  }

  // Chooses the first of `points` that is one of `places`, or the beginning.
  Result<void> choose_point(const std::vector<ResumePoint>& points);
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

Result<void> JournalWriter::State::go_on_from(const Parsed& parsed, const EarlierAttempts& earlier) {
  const auto& journal = parsed.journal;
  const bool has_journal = !journal.trial.empty();
  const bool is_seeded = config.noise_seed.has_value();
  const bool same_machine = canonical_json(trial::without_commit(journal.fingerprint)) ==
                            canonical_json(trial::without_commit(fingerprint));
  const bool same_key = earlier.key && !journal.nonce.empty() && earlier.key->nonce == journal.nonce;
  const auto last = parsed.attempts.find(journal.attempt);
  const bool has_begun = last != parsed.attempts.end() && last->second.first <= from.step;
  if (has_journal && same_machine && (is_seeded || same_key) && has_begun) {
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
  if (!is_seeded) {
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
  auto parsed = parse(path, *text, &config, std::move(places));
  if (!parsed) return parsed.error();
  const auto& journal = parsed->journal;
  if (!journal.trial.empty() && journal.trial != config.id()) {
    return error(path + ": the journal belongs to another trial (" + journal.trial + ")");
  }
  if (!config.noise_seed) {
    if (earlier.key && earlier.key->trial != config.id()) {
      return error(path + ": the key file of this run was made for another one (" + earlier.key->trial +
                   "). Put back the right one, or move it away: the run then begins anew under a new key.");
    }
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
  if (auto chosen = state->choose_point(points); !chosen) return chosen.error();
  if (auto chosen = state->go_on_from(*parsed, earlier); !chosen) return chosen.error();
  if (auto started = state->start(); !started) return started.error();
  return std::unique_ptr<JournalWriter>(new JournalWriter(std::move(state)));
}

std::int64_t JournalWriter::attempt() const { return state_->attempt; }

const std::string& JournalWriter::nonce() const { return state_->nonce; }

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
  ++state_->attempt;
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
