#include <algorithm>
#include <fmt/format.h>
#include <optional>
#include <set>

#include "datasets/facts.h"
#include "harness/base/text.h"
#include "harness/cli/common/spec_request.h"
#include "harness/cli/epsilon/print_epsilon.h"
#include "harness/runner/execute/asked_runs.h"
#include "harness/runner/odometer/odometer.h"
#include "results/provenance/ledger.h"
#include "results/store/records.h"
#include "results/table/cell_text.h"
#include "results/table/table_model.h"

namespace hyfreedp::cli {
namespace {

using runner::Spending;

constexpr std::string_view kText = R"(
What everything that was ever run in an output folder has released about each dataset: every row,
seed and table, abandoned, failed and running runs too, composed. A row's own epsilon is that of one
run of one method.
Example: hyfreedp odometer fashion-mnist --out out)";

constexpr std::size_t kLineWidth = 110;

constexpr const char* kUnreadable =
    "Some journal, key file or release record is lost or cannot be read and is not counted, so every ε is a "
    "lower bound; --confidential names them.";

struct OdometerRequest {
  std::string dataset;
  std::string out = "out";
  std::string split;
  std::optional<double> delta;
  bool json = false;
  bool confidential = false;

  void describe(Options& options) {
    options.positional(dataset, "dataset", "[DATASET]");
    describe_out(options, out);
    options.number(delta, "delta", "D", kBetweenZeroAndOne,
                   "delta in (0, 1); default: N^-1.1 of each dataset's training split");
    options.value(split, "split", "NAME",
                  "private_train or private_validation alone; default: the largest, since no record is in "
                  "two");
    options.flag(json, "json", "one JSON object, with the composed events");
    options.flag(confidential, "confidential",
                 "also count runs whose number is confidential, and print the number of runs; the output is "
                 "marked as confidential");
  }
};

// One dataset, read.
struct Line {
  const Spending* spending = nullptr;
  std::string split = {};  // the one asked for; empty: all
  double delta = 0;
  // True if something that may have been released is not in the reading: its epsilons are lower
  // bounds.
  bool is_incomplete = false;
  std::set<std::string> may_be = {};  // other data that may be the same (Odometer::may_be)
  std::set<std::string> others = {};  // own data that are taken to be other people's
  runner::OdometerReading reading = {};
};

std::string text_of(const std::set<std::string>& names) { return join({names.begin(), names.end()}, ", "); }

std::string epsilon_and_delta(const Line& line) {
  return fmt::format("{}ε {} at δ {}{}", line.is_incomplete ? "at least " : "",
                     results::epsilon_text(line.reading.total.epsilon), short_number(line.delta),
                     line.split.empty() ? "" : " (" + line.split + " alone)");
}

std::vector<std::string> remarks(const Line& line) {
  const auto& spending = *line.spending;
  std::vector<std::string> notes;
  if (spending.is_infinite()) {
    notes.push_back("epsilon infinite: " + spending.what_has_no_epsilon() +
                    " are on this data; the ε above is of the private part alone");
  }
  if (spending.reproducible_noise) {
    notes.push_back(
        "reproducible noise: not a private release; anybody who knows the seed in the spec can subtract the "
        "noise");
  }
  if (spending.selections > 0) {
    notes.push_back(counted(static_cast<std::int64_t>(spending.selections), "private selection") +
                    " count as such, by the costliest run of each; how many runs they made is confidential");
  }
  if (spending.has_unknown_selection) {
    notes.push_back(
        "left out: runs that no row lists and that may belong to a private selection, whose number is "
        "confidential; the ε above is a lower bound unless --confidential adds them in sequence");
  }
  if (spending.is_unmatched()) {
    notes.push_back(
        "runs read the data from files of other content or layout, or other selections of its records, which "
        "cannot be matched: all splits are composed in sequence, and test records of one run, whose accuracy "
        "is printed without noise, may be private ones of another, so the ε above is a lower bound");
  } else if (spending.splits_differ) {
    notes.push_back(
        "runs cut the data into splits of different sizes: a record may have been in several, so "
        "all splits are composed in sequence");
  }
  if (spending.was_tested_on) {
    notes.push_back(
        "test records of a run of other data may be private ones of this data, and their accuracy is "
        "printed without noise: the ε above is a lower bound");
  }
  if (!line.may_be.empty()) {
    notes.push_back(
        "whether this is the same data as " + text_of(line.may_be) +
        " is not known: marks of the files or of their records are missing, because they were not "
        "here when a spec was read, because an earlier version ran it, or because the secret of the "
        "marks is lost or another user's; or they have equal records, of which a spec says "
        "(`other_people: true`) that they are other people's; the ε above is a lower bound if they are "
        "the same");
  }
  if (!line.others.empty()) {
    notes.push_back("this data is taken to be about other people than " + text_of(line.others) +
                    ", since they have no file in common and at most a few records; somebody who is in "
                    "several has spent on each of them");
  }
  return notes;
}

std::string tables_text(const Spending& spending) {
  std::vector<std::string> parts;
  for (const auto& [spec, epsilon] : spending.tables) {
    parts.push_back(fmt::format("{}: epsilon {}", spec, results::epsilon_text(epsilon)));
  }
  return join(parts, "; ");
}

void print_details(const Line& line, bool confidential, std::ostream& out) {
  const auto& spending = *line.spending;
  const auto& total = line.reading.total;
  out << fmt::format("{}\n  this data so far     {}\n", spending.title(), epsilon_and_delta(line));
  for (const auto& [name, epsilon] : line.reading.splits) {
    out << fmt::format(
        "  {:<20} {}ε {} ({})\n", name, line.is_incomplete ? "at least " : "",
        results::epsilon_text(epsilon.epsilon),
        epsilon.pld ? fmt::format("PLD, at least {:.4g}; RDP {:.4g}", epsilon.epsilon_lower, *epsilon.rdp)
                    : "RDP");
  }
  if (!spending.tables.empty())
    out << "  tables               " << tables_text(spending) << " (largest row)\n";
  if (confidential) out << fmt::format("  runs                 {}\n", spending.runs);
  out << "  neighbours           add or remove one record\n";
  for (const auto& note : remarks(line)) out << "  - " << note << '\n';
  if (!total.note.empty()) out << "  - " << total.note << '\n';
}

void print_line(const Line& line, std::ostream& out) {
  const auto& spending = *line.spending;
  std::string text;
  if (!spending.tables.empty()) text += "table " + tables_text(spending) + "; ";
  text += "this data so far: " + epsilon_and_delta(line);
  if (spending.is_infinite()) {
    text += ", without " + spending.what_has_no_epsilon() + ", with which it is infinite";
  }
  if (spending.has_unknown_selection) text += ", runs of unknown private selections left out";
  if (spending.is_unmatched()) text += ", since runs divided the data in ways that cannot be matched";
  if (spending.was_tested_on) text += ", since a run was tested without noise on records that may be of it";
  if (!line.may_be.empty()) text += ", since it may be the same data as " + text_of(line.may_be);
  if (spending.reproducible_noise) text += " (reproducible noise: not a private release)";
  const char* indent = "";
  for (const auto& part : results::wrap(spending.title() + ": " + text, kLineWidth)) {
    out << indent << part << '\n';
    indent = "  ";
  }
}

json::object to_json(const Line& line, bool confidential) {
  const auto& spending = *line.spending;
  auto object = epsilon_to_json(line.reading.total, accounting::Neighbouring::add_remove);
  json::object splits;
  for (const auto& [name, epsilon] : line.reading.splits) {
    auto split = epsilon_to_json(epsilon, accounting::Neighbouring::add_remove);
    if (const auto tally = spending.splits.find(name); tally != spending.splits.end()) {
      split["events"] = accounting::events_to_json({.events = tally->second.events()}).at("events");
    }
    splits[name] = std::move(split);
  }
  json::object tables;
  for (const auto& [spec, epsilon] : spending.tables) tables[spec] = number(epsilon);
  json::array notes;
  for (const auto& note : remarks(line)) notes.emplace_back(note);
  // The whole odometer first: a reader that looks at "epsilon" alone must not take the private part
  // for it.
  object["private_epsilon"] = object.contains("epsilon") ? object.at("epsilon") : json::value(nullptr);
  if (spending.is_infinite()) {
    object["epsilon"] = nullptr;
    object["infinite"] = true;
  }
  object["dataset"] = join({spending.datasets.begin(), spending.datasets.end()}, ", ");
  object["data"] = spending.title();
  object["splits"] = std::move(splits);
  object["tables"] = std::move(tables);
  object["selections"] = spending.selections;
  object["non_private_runs"] = spending.non_private_runs;
  object["oracle_scores"] = spending.oracle_scores;
  object["public_runs"] = spending.public_runs;
  object["reproducible_noise"] = spending.reproducible_noise;
  object["complete"] = !line.is_incomplete;
  object["notes"] = std::move(notes);
  if (confidential) object["runs"] = spending.runs;
  return object;
}

Result<std::vector<const Spending*>> wanted(const runner::Odometer& odometer,
                                            const OdometerRequest& request) {
  std::vector<const Spending*> found;
  std::set<std::string> names;
  for (const auto& spending : odometer.data) {
    names.insert(spending.datasets.begin(), spending.datasets.end());
    if (request.dataset.empty() || request.dataset == spending.title() ||
        spending.datasets.contains(request.dataset) || spending.data.names.contains(request.dataset)) {
      found.push_back(&spending);
    }
  }
  if (!found.empty() || request.dataset.empty()) return found;
  const auto known = datasets::find_dataset(request.dataset);
  if (!known) return known.error();
  return error(
      fmt::format("no run in {} has touched {}{}.", request.out, request.dataset,
                  names.empty() ? "" : "; what was touched: " + join({names.begin(), names.end()}, ", ")));
}

Result<std::vector<Line>> read(const runner::Odometer& odometer, const std::vector<const Spending*>& data,
                               const OdometerRequest& request) {
  std::vector<Line> lines;
  for (const auto* spending : data) {
    Line line{.spending = spending,
              .split = request.split,
              .delta = request.delta.value_or(runner::default_delta(*spending)),
              .may_be = odometer.may_be(*spending)};
    const auto is_own = [](const Spending& one) {
      return one.data.kinds.contains(datasets::DataKind::own) && !one.is_public;
    };
    for (const auto& other : odometer.data) {
      const bool is_told = &other == spending || line.may_be.contains(other.title());
      if (is_own(*spending) && is_own(other) && !is_told) line.others.insert(other.title());
    }
    // An unreadable journal may be about any dataset.
    line.is_incomplete = spending->is_lower_bound() || !line.may_be.empty() || !odometer.unreadable.empty();
    const auto split = request.split.empty() ? std::nullopt : std::optional(request.split);
    auto reading = runner::read_odometer(*spending, line.delta, split);
    if (!reading) return reading.error();
    line.reading = std::move(*reading);
    lines.push_back(std::move(line));
  }
  return lines;
}

void print(const runner::Odometer& odometer, const std::vector<Line>& lines, const OdometerRequest& request,
           std::ostream& out) {
  if (request.confidential) out << results::kWatermark << "\n\n";
  if (lines.empty()) out << "No run has touched any data yet.\n";
  for (const auto& line : lines) {
    if (request.dataset.empty()) {
      print_line(line, out);
    } else {
      print_details(line, request.confidential, out);
    }
  }
  // The number of these files may be the number of a private selection's runs.
  if (!odometer.unreadable.empty() && !request.confidential) {
    out << kUnreadable << '\n';
  }
  for (const auto& file : request.confidential ? odometer.unreadable : std::vector<std::string>{}) {
    out << "Not counted, so every ε is a lower bound: " << file << '\n';
  }
  if (!lines.empty()) {
    out << "Test data are outside the mechanism: evaluating on them counts nothing.\n";
  }
}

void print_json(const runner::Odometer& odometer, const std::vector<Line>& lines,
                const OdometerRequest& request, std::ostream& out) {
  json::array list;
  for (const auto& line : lines) list.push_back(to_json(line, request.confidential));
  json::object object{{"datasets", std::move(list)}};
  if (!odometer.unreadable.empty()) object["note"] = kUnreadable;
  if (request.confidential) {
    object["unreadable_files"] = as_json(odometer.unreadable);
    object["watermark"] = results::kWatermark;
  }
  out << pretty_json(object);
}

Outcome odometer(const OdometerRequest& request, std::ostream& out, std::ostream&) {
  const runner::OutFolder folder{request.out};
  const auto copy = runner::copy_of_folder(folder);
  if (!copy) return copy.error();
  auto found = runner::odometer_of(*copy->store, folder, {.confidential = request.confidential});
  if (!found) return found.error();
  found->unreadable.insert(found->unreadable.end(), copy->untold.begin(), copy->untold.end());
  const auto data = wanted(*found, request);
  if (!data) return data.error();
  const auto lines = read(*found, *data, request);
  if (!lines) return lines.error();
  if (request.json) {
    print_json(*found, *lines, request, out);
  } else {
    print(*found, *lines, request, out);
  }
  return 0;
}

}  // namespace

Command odometer_command() {
  return {"odometer", kText, action<OdometerRequest>(odometer),
          "what everything ever run there has released about each dataset", "hyfreedp odometer --out out"};
}

}  // namespace hyfreedp::cli
