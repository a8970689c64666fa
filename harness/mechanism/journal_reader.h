// What the lines of a journal say, for whoever reads the file whole (read_journal(), JournalWriter)
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

// By split: the validation score that a run of an attempt released.
using Scores = std::map<std::string, double>;

inline bool is_released_score(const trial::MetricRecord& metric) {
  return metric.name == "score" && metric.visibility == trial::Visibility::released;
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
  // `path`: for messages; `places`: those to look for.
  Reader(std::string path, std::set<std::string> places)
      : path_(std::move(path)), wanted_places_(std::move(places)) {}

  Result<void> add(const OpenedLine& line, std::size_t number);
  const Journal& so_far() const { return journal_; }
  // What is charged, by attempt, lost ones first. The last attempt, where it has not finished, at
  // what it booked so far, or as planned: as if it goes no further.
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
