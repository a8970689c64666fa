#include "harness/trial/journal.h"

#include <algorithm>
#include <utility>

#include "harness/base/files.h"
#include "harness/trial/journal_line.h"

namespace hyfreedp::trial {
namespace {

struct Score {
  double noise_multiplier = 0;
  std::string split;
};

// By split: the validation score that a run of an attempt released.
using Scores = std::map<std::string, double>;

bool is_released_score(const MetricRecord& metric) {
  return metric.name == "score" && metric.visibility == Visibility::released;
}

// What one attempt booked and did, over all runs of it.
struct Attempt {
  std::int64_t booked = 0;    // steps [0, booked)
  std::int64_t executed = 0;  // steps [0, executed) have a step line
  std::vector<Score> scores;
};

Result<StepRecord> step_from(const json::object& line, const std::string& where) {
  StepRecord record;
  const auto step = get_int(line, "step", where);
  if (!step) return step.error();
  auto hash = get_string(line, "hash", where);
  if (!hash) return hash.error();
  record.step = *step;
  record.hash = *hash;
  if (const auto* scalars = line.if_contains("scalars"); scalars != nullptr && scalars->is_object()) {
    for (const auto& member : scalars->get_object()) {
      const auto value = to_double(member.value(), where + ": " + std::string(member.key()));
      if (!value) return value.error();
      record.scalars[std::string(member.key())] = *value;
    }
  }
  return record;
}

Result<MetricRecord> metric_from(const json::object& line, const std::string& where) {
  const auto step = get_int(line, "step", where);
  auto split = get_string(line, "split", where);
  auto name = get_string(line, "name", where);
  const auto value = get_double(line, "value", where);
  const auto visibility_name = get_string(line, "visibility", where);
  if (!step) return step.error();
  if (!split) return split.error();
  if (!name) return name.error();
  if (!value) return value.error();
  if (!visibility_name) return visibility_name.error();
  const auto visibility = visibility_from(*visibility_name);
  if (!visibility) return in_context(where, visibility.error());
  return MetricRecord{*step, *split, *name, *value, *visibility};
}

Result<Finish> finish_from(const json::object& line, const std::string& where) {
  Finish finish;
  const auto state = get_string(line, "state", where);
  if (!state) return state.error();
  finish.state = *state == "finished" ? TrialState::finished : TrialState::failed;
  finish.kind = string_or(line, "kind", "");
  finish.message = string_or(line, "message", "");
  finish.seconds = double_or(line, "seconds", 0);
  if (const auto* notes = line.if_contains("notes"); notes != nullptr && notes->is_array()) {
    for (const auto& note : notes->get_array()) {
      if (note.is_string()) finish.notes.emplace_back(note.get_string());
    }
  }
  if (const auto* counts = line.if_contains("counts"); counts != nullptr && counts->is_object()) {
    for (const auto& member : counts->get_object()) {
      const auto value = get_int(counts->get_object(), member.key(), where);
      if (!value) return value.error();
      finish.counts[std::string(member.key())] = *value;
    }
  }
  return finish;
}

// Folds the lines of a journal, in order, into what they say.
class Reader {
 public:
  explicit Reader(std::string path) : path_(std::move(path)) {}

  Result<void> add(const json::object& line, std::size_t number) {
    const std::string where = path_ + ":" + std::to_string(number);
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

  Journal take(std::size_t valid_bytes) {
    charge();
    journal_.valid_bytes = valid_bytes;
    return std::move(journal_);
  }

  const std::map<std::int64_t, Attempt>& attempts() const { return attempts_; }
  const std::map<std::pair<std::int64_t, std::int64_t>, std::string>& hashes() const { return hashes_; }
  const std::map<std::int64_t, Scores>& released() const { return released_; }

 private:
  Result<void> start(const json::object& line, const std::string& where) {
    const auto attempt = get_int(line, "attempt", where);
    if (!attempt) return attempt.error();
    const auto* config_json = line.if_contains("config");
    if (config_json == nullptr) return error(where + ": 'config' is missing");
    auto config = TrialConfig::from_json(*config_json, where);
    if (!config) return config.error();
    if (!journal_.trial.empty() && config->id() != journal_.trial) {
      return error(where + ": the journal holds two different trials");
    }
    journal_.trial = config->id();
    journal_.config = std::move(*config);
    journal_.attempt = *attempt;
    if (const auto* fingerprint = line.if_contains("fingerprint");
        fingerprint != nullptr && fingerprint->is_object()) {
      journal_.fingerprint = fingerprint->get_object();
    }
    journal_.steps.clear();
    journal_.metrics.clear();
    journal_.finish.reset();
    attempts_.try_emplace(*attempt);
    return {};
  }

  Result<Attempt*> attempt_of(const json::object& line, const std::string& where) {
    const auto number = get_int(line, "attempt", where);
    if (!number) return number.error();
    return &attempts_[*number];
  }

  Result<void> book(const json::object& line, const std::string& where) {
    const auto attempt = attempt_of(line, where);
    if (!attempt) return attempt.error();
    const auto first = get_int(line, "first", where);
    if (!first) return first.error();
    const auto count = get_int(line, "count", where);
    if (!count) return count.error();
    (**attempt).booked = std::max((**attempt).booked, *first + *count);
    return {};
  }

  Result<void> book_score(const json::object& line, const std::string& where) {
    const auto attempt = attempt_of(line, where);
    if (!attempt) return attempt.error();
    const auto noise = get_double(line, "noise_multiplier", where);
    if (!noise) return noise.error();
    const auto split = get_string(line, "split", where);
    if (!split) return split.error();
    (**attempt).scores.push_back({*noise, *split});
    return {};
  }

  Result<void> step(const json::object& line, const std::string& where) {
    auto record = step_from(line, where);
    if (!record) return record.error();
    const auto attempt = attempt_of(line, where);
    if (!attempt) return attempt.error();
    (**attempt).executed = std::max((**attempt).executed, record->step + 1);
    hashes_[{journal_.attempt, record->step}] = record->hash;
    journal_.steps.push_back(std::move(*record));
    return {};
  }

  Result<void> metric(const json::object& line, const std::string& where) {
    auto record = metric_from(line, where);
    if (!record) return record.error();
    if (is_released_score(*record)) released_[journal_.attempt].try_emplace(record->split, record->value);
    journal_.metrics.push_back(std::move(*record));
    return {};
  }

  Result<void> finish(const json::object& line, const std::string& where) {
    auto finish = finish_from(line, where);
    if (!finish) return finish.error();
    journal_.finish = std::move(*finish);
    return {};
  }

  // A finished attempt is charged what it executed; one that diverged the whole run, since it stopped where its noisy
  // outputs told it to, and a price that depends on them is no guarantee; every other what it booked.
  void charge() {
    std::vector<accounting::Event> events;
    for (auto& [number, attempt] : attempts_) {
      const bool closed = number == journal_.attempt && journal_.finish.has_value();
      auto steps = attempt.booked;
      if (closed && journal_.finish->state == TrialState::finished) steps = attempt.executed;
      if (closed && journal_.finish->kind == "diverged") {
        steps = journal_.config.steps;
        const auto& score = journal_.config.evaluation.score;
        if (score && attempt.scores.empty())
          attempt.scores.push_back({score->noise_counts, kValidationSplit});
      }
      for (auto& event : journal_.config.privacy.events(0, steps)) events.push_back(std::move(event));
      for (const auto& score : attempt.scores)
        events.push_back(score_event(score.noise_multiplier, score.split));
    }
    journal_.executed = std::move(events);
  }

  std::string path_;
  Journal journal_;
  std::map<std::int64_t, Attempt> attempts_;
  std::map<std::pair<std::int64_t, std::int64_t>, std::string> hashes_;
  std::map<std::int64_t, Scores> released_;
};

struct Parsed {
  Journal journal;
  std::map<std::int64_t, Attempt> attempts;
  std::map<std::pair<std::int64_t, std::int64_t>, std::string> hashes;
  std::map<std::int64_t, Scores> released;
  std::string checksum;
};

Result<Parsed> parse(const std::string& path, const std::string& text) {
  Reader reader(path);
  std::string checksum;
  std::size_t position = 0;
  std::size_t number = 0;
  while (position < text.size()) {
    ++number;
    const auto end = text.find('\n', position);
    if (end == std::string::npos) break;  // torn
    auto line = open_line(std::string_view(text).substr(position, end - position), checksum);
    if (!line) {
      // A line is written at once, its newline last, so a crash leaves no whole line that is wrong, except that a power cut
      // may leave pages of zeros where the file had grown and the data had not arrived.
      if (text.find('\0', position) != std::string::npos) break;
      return error(path + ":" + std::to_string(number) + ": " + line.error().message +
                   "; the journal was changed after it was written. Move it away and run the trial anew.");
    }
    if (auto added = reader.add(line->object, number); !added) return added.error();
    checksum = line->checksum;
    position = end + 1;
  }
  Parsed parsed;
  parsed.journal = reader.take(position);
  parsed.attempts = reader.attempts();
  parsed.hashes = reader.hashes();
  parsed.released = reader.released();
  parsed.checksum = checksum;
  return parsed;
}

}  // namespace

std::string to_string(Visibility visibility) {
  switch (visibility) {
    case Visibility::released:
      return "released";
    case Visibility::test:
      return "test";
    case Visibility::confidential:
      break;
  }
  return "confidential";
}

Result<Visibility> visibility_from(const std::string& name) {
  for (const auto visibility : {Visibility::released, Visibility::test, Visibility::confidential}) {
    if (to_string(visibility) == name) return visibility;
  }
  return error("unknown visibility '" + name + "'");
}

std::string to_string(TrialState state) {
  switch (state) {
    case TrialState::running:
      return "running";
    case TrialState::finished:
      return "finished";
    case TrialState::failed:
      break;
  }
  return "failed";
}

Result<Journal> read_journal(const std::string& path) {
  auto text = read_file(path);
  if (!text) return text.error();
  auto parsed = parse(path, *text);
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
  Attempt current;
  std::map<std::int64_t, std::string> expected;
  Scores released;

  Result<void> start() {
    return out.append({{"type", "start"},
                       {"trial", config.id()},
                       {"attempt", attempt},
                       {"config", config.to_json()},
                       {"fingerprint", fingerprint},
                       {"unix_time", static_cast<std::int64_t>(::time(nullptr))}});
  }
};

JournalWriter::JournalWriter(std::unique_ptr<State> state) : state_(std::move(state)) {}
JournalWriter::~JournalWriter() = default;

Result<std::unique_ptr<JournalWriter>> JournalWriter::open(const std::string& path, const TrialConfig& config,
                                                           const json::object& fingerprint, SyncCall sync) {
  auto file = JournalFile::open(path, std::move(sync));
  if (!file) return file.error();
  auto text = read_file(path);
  if (!text) return text.error();
  auto parsed = parse(path, *text);
  if (!parsed) return parsed.error();
  if (auto cut = file->resume_after(parsed->journal.valid_bytes, parsed->checksum); !cut) return cut.error();

  auto state = std::make_unique<State>(std::move(*file));
  state->config = config;
  state->fingerprint = fingerprint;
  if (!parsed->journal.trial.empty()) {
    if (parsed->journal.trial != config.id()) {
      return error(path + ": the journal belongs to another trial (" + parsed->journal.trial + ")");
    }
    const bool same_machine =
        canonical_json(parsed->journal.fingerprint) == canonical_json(json::value(fingerprint));
    state->attempt = parsed->journal.attempt + (same_machine ? 0 : 1);
    if (same_machine) {
      state->current = parsed->attempts[state->attempt];
      state->released = parsed->released[state->attempt];
      for (const auto& [key, hash] : parsed->hashes) {
        if (key.first == state->attempt) state->expected[key.second] = hash;
      }
    }
  }
  if (auto started = state->start(); !started) return started.error();
  // Bookings of a killed process may still be in the page cache only.
  if (auto synced = state->out.sync(); !synced) return synced.error();
  return std::unique_ptr<JournalWriter>(new JournalWriter(std::move(state)));
}

std::int64_t JournalWriter::attempt() const { return state_->attempt; }

std::optional<std::string> JournalWriter::expected_hash(std::int64_t step) const {
  const auto found = state_->expected.find(step);
  if (found == state_->expected.end()) return std::nullopt;
  return found->second;
}

Result<void> JournalWriter::begin_next_attempt() {
  ++state_->attempt;
  if (auto synced = state_->out.restart_marks(); !synced) return synced.error();
  state_->current = {};
  state_->expected.clear();
  state_->released.clear();
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

Result<void> JournalWriter::step(const StepRecord& record) {
  json::object scalars;
  for (const auto& [name, value] : record.scalars) scalars[name] = number(value);
  return state_->out.append({{"type", "step"},
                             {"attempt", state_->attempt},
                             {"step", record.step},
                             {"hash", record.hash},
                             {"scalars", scalars}});
}

Result<void> JournalWriter::metric(const MetricRecord& given) {
  auto record = given;
  if (is_released_score(record)) {
    record.value = state_->released.try_emplace(record.split, record.value).first->second;
  }
  return state_->out.append({{"type", "metric"},
                             {"step", record.step},
                             {"split", record.split},
                             {"name", record.name},
                             {"value", number(record.value)},
                             {"visibility", to_string(record.visibility)}});
}

Result<void> JournalWriter::finish(const Finish& finish) {
  json::object counts;
  for (const auto& [name, value] : finish.counts) counts[name] = value;
  json::array notes;
  for (const auto& note : finish.notes) notes.emplace_back(note);
  if (auto written = state_->out.append({{"type", "finish"},
                                         {"state", to_string(finish.state)},
                                         {"kind", finish.kind},
                                         {"message", finish.message},
                                         {"notes", notes},
                                         {"seconds", finish.seconds},
                                         {"counts", counts}});
      !written) {
    return written.error();
  }
  return state_->out.sync();
}

}  // namespace hyfreedp::trial
