#include "harness/mechanism/journal_reader.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>

#include "harness/mechanism/executed.h"
#include "harness/mechanism/releases.h"

namespace hyfreedp::mechanism::reading {

using trial::Finish;
using trial::MetricRecord;
using trial::StepRecord;
using trial::TrialConfig;
using trial::TrialState;

Result<void> Reader::add(const OpenedLine& line, std::size_t number) {
  if (auto added = add(line.object, path_ + ":" + std::to_string(number)); !added) return added;
  if (wanted_places_.contains(line.checksum)) {
    parsed_.places[line.checksum] = static_cast<std::int64_t>(journal_.steps.size());
  }
  return {};
}

// The charges by attempt, lost ones first. A finished attempt is charged what it executed, and one
// from which the next went on what it booked. Every other that booked anything is charged its whole
// rest: it stopped where its noisy outputs told it to, or where somebody stopped it who may have
// seen them, and a price that depends on them is no guarantee. How far a lost one came is unknown.
std::vector<trial::ChargedAttempt> Reader::charged(Last last) const {
  auto all = journal_.charged;
  for (auto place = parsed_.attempts.begin(); place != parsed_.attempts.end(); ++place) {
    const auto& [number, attempt] = *place;
    // One that booked nothing has not gone on yet.
    const auto next = std::find_if(std::next(place), parsed_.attempts.end(),
                                   [](const auto& one) { return !one.second.is_unused(); });
    const bool is_last = next == parsed_.attempts.end();
    const bool finished =
        number == journal_.attempt && journal_.finish && journal_.finish->state == TrialState::finished;
    const bool given_up = !finished && !attempt.is_unused() &&
                          (is_last ? last == Last::planned : next->second.first <= attempt.first);
    const auto& privacy = journal_.config.privacy;
    const auto all_steps = journal_.config.steps;
    const auto steps = attempt.diverged ? all_steps : finished ? attempt.executed : attempt.booked;
    auto charge = events(privacy, attempt.first, steps - attempt.first);
    for (const auto& score : attempt.diverged ? planned_scores(attempt) : attempt.scores)
      charge.push_back(score_event(score.noise_multiplier, score.split));
    std::vector<accounting::Event> rest;
    if (given_up && !attempt.diverged) {
      rest = events(privacy, steps, all_steps - steps);
      if (attempt.scores.empty()) {
        for (const auto& score : planned_scores(attempt))
          rest.push_back(score_event(score.noise_multiplier, score.split));
      }
    }
    // A lost attempt of a seeded run is made again under its name, and is charged whole already.
    const auto is_lost = [&name = attempt.name](const auto& one) { return one.name == name; };
    if (std::none_of(journal_.charged.begin(), journal_.charged.end(), is_lost))
      all.push_back({attempt.name, std::move(charge), std::move(rest)});
  }
  return all;
}

Parsed Reader::take(std::size_t valid_bytes, std::string checksum) {
  for (auto& [number, attempt] : parsed_.attempts) {
    if (attempt.diverged) attempt.scores = planned_scores(attempt);
  }
  journal_.charged = charged(Last::planned);
  journal_.executed = trial::events_of(journal_.charged);
  journal_.valid_bytes = valid_bytes;
  parsed_.checksum = std::move(checksum);
  return std::move(parsed_);
}

std::vector<Score> Reader::planned_scores(const Attempt& attempt) const {
  const auto& score = journal_.config.evaluation.score;
  if (!score || !attempt.scores.empty()) return attempt.scores;
  return {{score->noise_counts, trial::kValidationSplit}};
}

Result<void> Reader::add(const json::object& line, const std::string& where) {
  const auto type = get_string(line, "type", where);
  if (!type) return type.error();
  if (*type == "start") return start(line, where);
  if (journal_.trial.empty()) return error(where + ": the journal does not begin with a start line");
  if (*type == "book") return book(line, where);
  if (*type == "book-score") return book_score(line, where);
  if (*type == "step") return step(line, where);
  if (*type == "metric") return metric(line, where);
  if (*type == "finish") return finish(line, where);
  return error(where + ": unknown kind of line '" + *type + "'; the journal was written by a newer version");
}

Result<void> Reader::start(const json::object& line, const std::string& where) {
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
  // Versions before 0.11 gave further attempts of a seeded run none either.
  journal_.nonce = start->nonce.empty() ? fmt::format("attempt {}", start->attempt) : start->nonce;
  journal_.nonces.insert(journal_.nonce);
  ++journal_.starts;
  take_lost(start->lost, start->lost_nonce);
  take_code(start->fingerprint, start->from);
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
  attempt.name = journal_.nonce;
  return {};
}

void Reader::take_code(const json::object& fingerprint, std::int64_t from) {
  const auto* found = fingerprint.if_contains("code");
  const auto code = found != nullptr && found->is_object() ? found->get_object() : json::object();
  if (from == 0) {
    journal_.code = code;
    return;
  }
  for (const auto& part : code) {
    auto& before = journal_.code[part.key()];
    if (before != part.value()) before = "several";
  }
}

// Keeps what was done before `step`.
Result<void> Reader::go_on_from(std::int64_t step, const std::string& where) {
  if (step < 0 || step > static_cast<std::int64_t>(journal_.steps.size())) {
    return error(
        fmt::format("{}: a run begins with step {}, and the steps before it are not there", where, step));
  }
  const auto is_undone = [&](const auto& metric) { return metric.step >= step; };
  if (static_cast<std::int64_t>(journal_.steps.size()) > step) journal_.has_undone_steps = true;
  for (const auto& metric : journal_.metrics) {
    if (is_undone(metric)) journal_.undone_splits.insert(metric.split);
  }
  journal_.steps.resize(static_cast<std::size_t>(step));
  std::erase_if(journal_.metrics, is_undone);
  std::erase_if(parsed_.places, [&](const auto& place) { return place.second > step; });
  return {};
}

void Reader::take_lost(std::int64_t count, const std::string& nonce) {
  for (std::int64_t i = 0; i < count; ++i)
    journal_.charged.push_back({i + 1 == count ? nonce : "", events(journal_.config)});
  journal_.lost += count;
  if (!nonce.empty()) journal_.nonces.insert(nonce);
}

Result<Attempt*> Reader::attempt_of(const json::object& line, const std::string& where) {
  const auto number = get_int(line, "attempt", where);
  if (!number) return number.error();
  return &parsed_.attempts[*number];
}

Result<void> Reader::book(const json::object& line, const std::string& where) {
  const auto book = from_json<Book>(line, where);
  if (!book) return book.error();
  auto& booked = parsed_.attempts[book->attempt].booked;
  booked = std::max(booked, book->first + book->count);
  return {};
}

Result<void> Reader::book_score(const json::object& line, const std::string& where) {
  const auto attempt = attempt_of(line, where);
  if (!attempt) return attempt.error();
  auto score = from_json<Score>(line, where);
  if (!score) return score.error();
  (**attempt).scores.push_back(std::move(*score));
  return {};
}

Result<void> Reader::step(const json::object& line, const std::string& where) {
  auto record = from_json<StepRecord>(line, where);
  if (!record) return record.error();
  const auto attempt = attempt_of(line, where);
  if (!attempt) return attempt.error();
  (**attempt).executed = std::max((**attempt).executed, record->step + 1);
  parsed_.hashes[{journal_.attempt, record->step}] = record->hash;
  journal_.steps.push_back(std::move(*record));
  return {};
}

Result<void> Reader::metric(const json::object& line, const std::string& where) {
  auto record = from_json<MetricRecord>(line, where);
  if (!record) return record.error();
  if (is_released_score(*record))
    parsed_.released[journal_.attempt].try_emplace(record->split, record->value);
  journal_.metrics.push_back(std::move(*record));
  return {};
}

Result<void> Reader::finish(const json::object& line, const std::string& where) {
  auto finish = from_json<Finish>(line, where);
  if (!finish) return finish.error();
  if (const auto* released = line.if_contains("released")) {
    if (auto checked = check_executed(*released, journal_.config, where); !checked) return checked;
  }
  if (finish->kind == "diverged") parsed_.attempts[journal_.attempt].diverged = true;
  journal_.finish = std::move(*finish);
  return {};
}

namespace {

Error damage(const std::string& where, const Error& what, bool is_seeded) {
  return error(
      where + ": " + what.message +
      "; the journal was changed after it was written, so what it booked is no longer known. Put back an "
      "unchanged copy of the file. " +
      (is_seeded ? "Without one remove it: the run has a noise_seed and will be repeated."
                 : "Without one leave it where it is, so that the odometer says \"at least\", and start a "
                   "new release of the spec (hyfreedp run SPEC --fresh)."));
}

}  // namespace

Result<Parsed> parse_journal(const std::string& path, const std::string& text, const TrialConfig* wanted,
                             std::set<std::string> places) {
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

}  // namespace hyfreedp::mechanism::reading
