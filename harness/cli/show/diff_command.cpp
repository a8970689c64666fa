#include <fmt/format.h>

#include "harness/base/text.h"
#include "harness/cli/common/spec_request.h"
#include "harness/runner/execute/spec_diff.h"
#include "harness/runner/odometer/release.h"
#include "results/store/records.h"

namespace hyfreedp::cli {
namespace {

constexpr std::string_view kText = R"(
hyfreedp diff A B [options]
hyfreedp diff SPEC.yaml [options]
How two specs differ, a line each: its effect, its key, before -> after. A and B are files, or names
in the database; one file alone is compared with the spec of its name there. Keys are those of the
spec with all defaults filled in, where panels and rows have what `defaults` gave them. Trains
nothing.
  shown    the same rows
  added    further rows, columns or seeds; those of A stay
  dropped  rows, columns or seeds of A that B does not have
  rows     the same trials, from which rows are concluded or priced anew
  trained  B asks for trials that A does not have, in place of A's
`hyfreedp run B` takes over what is shown or added. Where it would drop or replace rows that are
there, it names them and asks for --replace.
Example: hyfreedp diff quick.yaml --set defaults.seeds='[0, 1]'
Exit code: 0 compared, whether they differ or not, 2 bad input.)";

struct DiffRequest {
  std::optional<std::string> a, b;
  std::vector<std::string> presets;
  std::vector<std::string> settings;
  std::string out = "out";

  void describe(Options& options) {
    options.positional(a, "a", "A");
    options.positional(b, "b", "B");
    options.value(presets, "preset", "PRESET",
                  "of a file: which of its presets; given twice, that of A and that of B");
    options.value(settings, "set", "KEY=VALUE",
                  "of B, a file: as if it had this value (hyfreedp run --help); may be repeated");
    options.value(out, "out", "DIR", "output folder of `hyfreedp run`, whose database has the names");
  }

  Checked check() const {
    if (!a) return unusable("name two specs, or a file");
    if (!b && !is_file_of_spec(*a)) {
      return error("name what to compare '" + *a + "' with: a file, or another name.");
    }
    if (presets.size() > 2) return error("--preset is given at most twice.");
    if (!settings.empty() && !is_file_of_spec(last())) return error("--set is of B, a file.");
    return {};
  }

  const std::string& last() const { return b ? *b : *a; }
};

Result<runner::Spec> recorded_spec(const std::string& name, const std::string& folder) {
  const auto store = open_for_reading(folder);
  if (!store) return store.error();
  const auto record = (**store).spec(name);
  if (!record) return record.error();
  if (!*record) {
    std::vector<std::string> names;
    const auto all = (**store).specs();
    if (!all) return all.error();
    for (const auto& one : *all) names.push_back(one.name);
    return error(fmt::format("the database of {} has no spec '{}'.{} It has {}.", folder, name,
                             did_you_mean(name, names), names.empty() ? "none" : join(names, ", ")));
  }
  auto content = results::spec_of(**record);
  if (!content) return content.error();
  return runner::Spec{.path = name, .text = (**record).text, .content = std::move(*content)};
}

struct Pair {
  runner::Spec before, now;
};

Result<Pair> specs_of(const DiffRequest& request) {
  const auto read = [&](const std::string& spec, bool is_last) {
    if (!is_file_of_spec(spec)) return recorded_spec(spec, request.out);
    const auto& presets = request.presets;
    const auto preset = presets.empty() ? "" : request.b && is_last ? presets.back() : presets.front();
    return runner::load_spec(spec, preset, is_last ? request.settings : std::vector<std::string>{});
  };
  auto now = read(request.last(), true);
  if (!now) return now.error();
  auto before = request.b ? read(*request.a, false) : recorded_spec(now->content.name, request.out);
  if (!before) return before.error();
  // A file does not say which release of it is meant.
  if (is_file_of_spec(request.last())) runner::set_releases(*now, before->content);
  if (request.b && is_file_of_spec(*request.a)) runner::set_releases(*before, now->content);
  return Pair{std::move(*before), std::move(*now)};
}

const char* word_of(runner::DiffEffect effect) {
  switch (effect) {
    case runner::DiffEffect::shown:
      return "shown";
    case runner::DiffEffect::added:
      return "added";
    case runner::DiffEffect::dropped:
      return "dropped";
    case runner::DiffEffect::rows:
      return "rows";
    case runner::DiffEffect::trained:
      return "trained";
  }
  return "?";
}

void print(const runner::SpecDifference& difference, std::ostream& out) {
  constexpr std::size_t kMostPlaces = 4;
  std::string places;
  if (difference.places.size() > kMostPlaces) {
    places =
        fmt::format(" (in {} places, the first {})", difference.places.size(), difference.places.front());
  } else if (!difference.places.empty()) {
    places = fmt::format(" ({})", join(difference.places, ", "));
  }
  out << fmt::format("{:<8} {} {}{}\n", word_of(difference.effect), difference.path, difference.change,
                     places);
}

void print_reuse(const runner::SpecDiff& diff, std::ostream& out) {
  if (diff.studies.all == 0) return;
  out << fmt::format("{} of {} that B begins with are A's, too", diff.runs.reused,
                     counted(static_cast<std::int64_t>(diff.runs.all), "run"));
  if (diff.selections.all > 0) {
    out << fmt::format(", and {} of {}", diff.selections.reused,
                       counted(static_cast<std::int64_t>(diff.selections.all), "private selection"));
  }
  out << fmt::format("; {} of {} are the same.\n", diff.studies.reused,
                     counted(static_cast<std::int64_t>(diff.studies.all), "study", "studies"));
}

Outcome diff(const DiffRequest& request, std::ostream& out, std::ostream&) {
  const auto specs = specs_of(request);
  if (!specs) return in_lines(specs.error());
  const auto difference = runner::spec_diff(specs->before, specs->now);
  if (!difference) return difference.error();
  for (const auto& one : difference->differences) print(one, out);
  if (difference->differences.empty()) out << "The specs are the same.\n";
  print_reuse(*difference, out);
  return 0;
}

}  // namespace

Command diff_command() {
  return {"diff", kText, action<DiffRequest>(diff), "how two specs differ, and what of it is trained again",
          "hyfreedp diff quick.yaml"};
}

}  // namespace hyfreedp::cli
