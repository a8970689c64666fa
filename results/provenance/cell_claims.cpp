#include "results/provenance/cell_claims.h"

#include <algorithm>
#include <fmt/format.h>

#include "harness/base/text.h"
#include "results/table/table_notes.h"

namespace hyfreedp::results {
namespace {

constexpr const char* kEndToEnd = "end-to-end DP";
constexpr const char* kOracle = "oracle";
constexpr const char* kSimulated = "simulated";
constexpr const char* kNonPrivate = "non-private";
constexpr const char* kUnderstated = "paper accounting: epsilon understated";
constexpr const char* kInterrupted = "interrupted: what the first attempt booked is charged";
constexpr double kRounding = 1e-6;  // relative; of a calibration that ends just above its target

const json::object& object_in(const json::object& parent, const char* key) {
  static const json::object kNone;
  const auto* found = parent.if_contains(key);
  return found != nullptr && found->is_object() ? found->get_object() : kNone;
}

// The member's canonical JSON; "none" where there is none.
std::string text_in(const json::object& parent, const char* key) {
  const auto* found = parent.if_contains(key);
  if (found == nullptr || found->is_null()) return "none";
  return found->is_string() ? std::string(found->get_string()) : canonical_json(*found);
}

const json::array& list_in(const json::object& parent, const char* key) {
  static const json::array kNone;
  const auto* found = parent.if_contains(key);
  return found != nullptr && found->is_array() ? found->get_array() : kNone;
}

bool holds(const json::array& list, const std::string& text) {
  return std::any_of(list.begin(), list.end(), [&](const json::value& element) {
    return element.is_string() && std::string_view(element.get_string()) == text;
  });
}

std::optional<double> number_in(const json::object& parent, const char* key) {
  const auto* found = parent.if_contains(key);
  if (found == nullptr || !found->is_number()) return std::nullopt;
  return found->to_number<double>();
}

bool is_true(const json::object& parent, const char* key) {
  const auto* found = parent.if_contains(key);
  return found != nullptr && found->is_bool() && found->get_bool();
}

std::string shown(const std::optional<double>& value) {
  return value ? fmt::format("{:.10g}", *value) : std::string("none");
}

class Claims {
 public:
  explicit Claims(const json::object& file)
      : file_(file), row_(object_in(file, "row")), column_(number_in(file, "column")) {}

  std::vector<CellCheck> check(const std::vector<DerivedSeed>& seeds) {
    check_seeds();
    check_column();
    for (const auto& seed : seeds) check_seed(seed);
    return std::move(checks_);
  }

 private:
  void say(const std::string& what, const std::string& claimed, const std::string& derived, bool agrees) {
    checks_.push_back({what, claimed, derived, agrees});
  }
  void say(const std::string& what, const std::string& claimed, const std::string& derived) {
    say(what, claimed, derived, claimed == derived);
  }

  void check_seeds() {
    std::vector<std::string> here, asked;
    for (const auto& seed : list_in(file_, "seeds")) {
      if (seed.is_object()) here.push_back(text_in(seed.get_object(), "seed"));
    }
    const auto& own = list_in(row_, "seeds");
    const auto& panel = object_in(file_, "panel");
    // If a comparison decides how many seeds the panel has (sequential_seeds.h), which needs the
    // other row, the seeds are the first of the row's, as many as at the first look or more.
    const auto& sequential = object_in(panel, "sequential");
    const auto least = number_in(sequential, "from");
    const bool may_stop = least && own == list_in(panel, "seeds") &&
                          static_cast<double>(here.size()) >= *least && here.size() < own.size();
    for (const auto& seed : own) {
      if (!may_stop || asked.size() < here.size()) asked.push_back(canonical_json(seed));
    }
    std::sort(here.begin(), here.end());
    std::sort(asked.begin(), asked.end());
    say(may_stop ? "seeds, the first that the row may train" : "seeds, those that the row asks for",
        join(here, ", "), join(asked, ", "));
    // The program says fewer seeds than the panel's in a footnote, unless the row has notes of its
    // own.
    const auto fewer = own.size() < list_in(object_in(file_, "panel"), "seeds").size();
    if (fewer && list_in(row_, "footnotes").empty()) {
      say("seeds, fewer than the panel's", "not said", "a footnote of the row");
    }
  }

  void check_column() {
    std::vector<std::string> epsilons;
    bool found = false;
    for (const auto& epsilon : list_in(row_, "epsilons")) {
      const auto value = epsilon.is_number() ? std::optional(epsilon.to_number<double>()) : std::nullopt;
      epsilons.push_back(epsilon.is_string() ? std::string(epsilon.get_string()) : shown(value));
      found = found || (value && column_ && *value == *column_) ||
              (epsilon.is_string() && text_in(file_, "column") == std::string(epsilon.get_string()));
    }
    say("column, one of the row's", column_ ? shown(column_) : text_in(file_, "column"), join(epsilons, ", "),
        found);
  }

  void check_seed(const DerivedSeed& derived) {
    const auto& seed = *derived.seed;
    const auto where = fmt::format("seed {}", text_in(seed, "seed"));
    const auto& config = object_in(seed, "config");
    check_label(seed, config, where);
    const auto& flags = list_in(seed, "flags");
    const bool seeded = column_ && text_in(config, "noise_seed") != "none";
    say(where + ": flag of reproducible noise", holds(flags, kReproducibleNoise) ? "yes" : "no",
        seeded ? "yes" : "no");
    check_claim(seed, config, derived.epsilon, where);
  }

  // An end-to-end row asks for no un-noised accuracy, and what is private has a private run.
  void check_label(const json::object& seed, const json::object& config, const std::string& where) {
    const auto label = text_in(seed, "label");
    say(where + ": label", label, column_ ? text_in(row_, "label") : kNonPrivate);
    const bool is_private = is_true(object_in(config, "privacy"), "is_private");
    say(where + ": run of this column", is_private ? "private" : kNonPrivate,
        column_ ? "private" : kNonPrivate);
    const auto& evaluation = object_in(config, "evaluation");
    const bool peeks = is_true(evaluation, "oracle_validation") || is_true(evaluation, "oracle_train");
    if (label == kEndToEnd && peeks) {
      say(where + ": label, of a run that released un-noised accuracy", label, kOracle);
    }
  }

  void check_claim(const json::object& seed, const json::object& config, const std::optional<double>& epsilon,
                   const std::string& where) {
    const auto claimed = number_in(seed, "claimed_epsilon");
    const auto& flags = list_in(seed, "flags");
    const auto accounting = text_in(object_in(config, "privacy"), "accounting");
    const bool published = column_ && starts_with_paper(accounting);
    const bool claims = claimed || published || text_in(seed, "label") == kSimulated;
    if (claims || text_in(seed, "claimed_epsilon") != "none") {
      say(where + ": claimed epsilon, the column's", text_in(seed, "claimed_epsilon"), shown(column_),
          claimed && column_ && *claimed == *column_);
    }
    const bool understated = accounting == "paper" && epsilon && column_ && *epsilon > *column_;
    if (understated || holds(flags, kUnderstated)) {
      say(where + ": flag of an understated epsilon", holds(flags, kUnderstated) ? "yes" : "no",
          understated ? "yes" : "no");
    }
    if (claims || !column_ || !epsilon || holds(flags, kInterrupted)) return;
    say(where + ": epsilon within the column's", shown(epsilon), fmt::format("at most {}", shown(column_)),
        *epsilon <= *column_ * (1 + kRounding));
  }

  static bool starts_with_paper(const std::string& accounting) { return accounting.rfind("paper", 0) == 0; }

  const json::object& file_;
  const json::object& row_;
  std::optional<double> column_;  // none: the non-private one
  std::vector<CellCheck> checks_;
};

}  // namespace

std::vector<CellCheck> claim_checks(const json::object& file, const std::vector<DerivedSeed>& seeds) {
  return Claims(file).check(seeds);
}

}  // namespace hyfreedp::results
