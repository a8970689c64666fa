// Reads the lines of a journal, for code that reads the file whole (read_journal(), JournalWriter)
// or as it grows (JournalFollower). Nobody else needs it; the contract is journal.h.
#pragma once

#include <array>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "harness/mechanism/journal.h"
#include "harness/mechanism/journal_line.h"

namespace hyfreedp::mechanism::reading {

struct Score {
  double noise_multiplier = 0;
  std::string split;
};
BOOST_DESCRIBE_STRUCT(Score, (), (noise_multiplier, split))

// The validation scores that the runs of an attempt released, by split.
using Scores = std::map<std::string, double>;

inline bool is_released_score(const trial::MetricRecord& metric) {
  return metric.name == "score" && metric.visibility == trial::Visibility::released;
}

// The bookings and steps of one attempt, over all its runs.
struct Attempt {
  std::string name;           // ChargedAttempt::name
  std::int64_t first = 0;     // its first step
  std::int64_t booked = 0;    // steps [first, booked)
  std::int64_t executed = 0;  // steps [first, executed) have a step line
  bool diverged = false;      // one of its runs did
  std::vector<Score> scores;

  bool is_unused() const { return booked == first && executed == first && scores.empty(); }
};

inline Attempt attempt_from(std::int64_t step) { return {.first = step, .booked = step, .executed = step}; }

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

// The contents of a journal.
struct Parsed {
  Journal journal;
  std::map<std::int64_t, Attempt> attempts;
  std::map<std::pair<std::int64_t, std::int64_t>, std::string> hashes;  // by attempt and step
  std::map<std::int64_t, Scores> released;                              // by attempt
  // By place, for the places that were asked for: the number of steps before it, if these are still
  // the run's.
  std::map<std::string, std::int64_t> places;
  std::string checksum;
};

// Folds the lines of a journal, in order, into what they say.
class Reader {
 public:
  // `path`: for messages; `places`: those to look for.
  Reader(std::string path, std::set<std::string> places)
      : path_(std::move(path)), wanted_places_(std::move(places)) {}

  Result<void> add(const OpenedLine& line, std::size_t number);
  const Journal& so_far() const { return journal_; }
  // The charges by attempt, lost ones first. If the last attempt has not finished, its charge is
  // what it booked so far, or all that was planned, as if it goes no further.
  enum class Last { booked, planned };
  std::vector<trial::ChargedAttempt> charged(Last last) const;
  Parsed take(std::size_t valid_bytes, std::string checksum);

 private:
  // The score of the config, also where the attempt has not come to it.
  std::vector<Score> planned_scores(const Attempt& attempt) const;
  Result<void> add(const json::object& line, const std::string& where);
  Result<void> start(const json::object& line, const std::string& where);
  Result<void> go_on_from(std::int64_t step, const std::string& where);
  void take_code(const json::object& fingerprint, std::int64_t from);
  void take_lost(std::int64_t count, const std::string& nonce);
  Result<Attempt*> attempt_of(const json::object& line, const std::string& where);
  Result<void> book(const json::object& line, const std::string& where);
  Result<void> book_score(const json::object& line, const std::string& where);
  Result<void> step(const json::object& line, const std::string& where);
  Result<void> metric(const json::object& line, const std::string& where);
  Result<void> finish(const json::object& line, const std::string& where);

  std::string path_;
  std::set<std::string> wanted_places_;
  Parsed parsed_;
  Journal& journal_ = parsed_.journal;
};

// `wanted`: the trial that the journal is to be of, where the caller knows; `places`: those to look
// for.
Result<Parsed> parse_journal(const std::string& path, const std::string& text,
                             const trial::TrialConfig* wanted = nullptr, std::set<std::string> places = {});

}  // namespace hyfreedp::mechanism::reading
