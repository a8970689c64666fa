#include <fmt/format.h>

#include "harness/base/text.h"
#include "harness/cli/common/spec_request.h"
#include "harness/cli/show/commands.h"
#include "harness/runner/execute/spec_diff.h"
#include "harness/runner/odometer/release.h"
#include "results/store/records.h"

namespace hyfreedp::cli {
namespace {

namespace options = boost::program_options;

constexpr const char* kUsage =
    "hyfreedp diff A B [options]\n"
    "hyfreedp diff SPEC.yaml [options]\n"
    "How two specs differ, a line each: its effect, its key, before -> after. A and B are files, or names in "
    "the\n"
    "database; one file alone is compared with the spec of its name there. Keys are those of the spec with "
    "all\n"
    "defaults filled in, where panels and rows have what `defaults` gave them. Trains nothing.\n"
    "  shown    the same rows\n"
    "  added    further rows, columns or seeds; those of A stay\n"
    "  dropped  rows, columns or seeds of A that B does not have\n"
    "  rows     the same trials, from which rows are concluded or priced anew\n"
    "  trained  B asks for trials that A does not have, in place of A's\n"
    "`hyfreedp run B` takes over what is shown or added. Where it would drop or replace rows that are there, "
    "it "
    "names\n"
    "them and asks for --replace.\n"
    "Example: hyfreedp diff quick.yaml --set defaults.seeds='[0, 1]'\n"
    "Exit code: 0 compared, whether they differ or not, 2 bad input.\n\n";

struct Request {
  std::vector<std::string> specs;
  std::vector<std::string> presets;
  std::vector<std::string> settings;
  std::string out;
};

bool is_file(const std::string& spec) { return spec.ends_with(".yaml") || spec.ends_with(".yml"); }

std::optional<int> parse(const std::vector<std::string>& arguments, Request& request, std::ostream& out,
                         std::ostream& err) {
  CommandLine line{.command = "diff", .usage = kUsage, .positional = "a", .more_positional = {"b"}};
  auto add = line.options.add_options();
  add("help,h", "this text");
  add("preset", options::value(&request.presets)->composing()->value_name("PRESET"),
      "of a file: which of its presets; given twice, that of A and that of B");
  add("set", options::value(&request.settings)->composing()->value_name("KEY=VALUE"),
      "of B, a file: as if it had this value (hyfreedp run --help); may be repeated");
  add("out", options::value(&request.out)->default_value("out")->value_name("DIR"),
      "output folder of `hyfreedp run`, whose database has the names");
  options::variables_map given;
  if (const auto code = read_command_line(line, arguments, given, out, err)) return code;
  for (const char* name : {"a", "b"}) {
    if (given.count(name) > 0) request.specs.push_back(given[name].as<std::string>());
  }
  const auto refuse = [&err](const std::string& what) { return refused("diff", error(what), err); };
  if (request.specs.empty()) return refuse("name two specs, or a file; see hyfreedp diff --help.");
  if (request.specs.size() == 1 && !is_file(request.specs.front())) {
    return refuse("name what to compare '" + request.specs.front() + "' with: a file, or another name.");
  }
  if (request.presets.size() > 2) return refuse("--preset is given at most twice.");
  if (!request.settings.empty() && !is_file(request.specs.back())) return refuse("--set is of B, a file.");
  return std::nullopt;
}

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

Result<Pair> specs_of(const Request& request) {
  const auto preset_of = [&](std::size_t position) {
    if (request.presets.empty()) return std::string();
    return request.presets[std::min(position, request.presets.size() - 1)];
  };
  const auto read = [&](const std::string& spec, std::size_t position) {
    if (!is_file(spec)) return recorded_spec(spec, request.out);
    const bool is_last = position + 1 == request.specs.size();
    return runner::load_spec(spec, preset_of(position),
                             is_last ? request.settings : std::vector<std::string>{});
  };
  auto now = read(request.specs.back(), request.specs.size() - 1);
  if (!now) return now.error();
  auto before = request.specs.size() > 1 ? read(request.specs.front(), 0)
                                         : recorded_spec(now->content.name, request.out);
  if (!before) return before.error();
  // A file does not say which release of it is meant.
  if (is_file(request.specs.back())) runner::set_releases(*now, before->content);
  if (is_file(request.specs.front()) && request.specs.size() > 1) {
    runner::set_releases(*before, now->content);
  }
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

}  // namespace

int diff_command(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err) {
  Request request;
  if (const auto code = parse(arguments, request, out, err)) return *code;
  const auto specs = specs_of(request);
  if (!specs) return refused_lines("diff", specs.error(), err);
  const auto diff = runner::spec_diff(specs->before, specs->now);
  if (!diff) return refused("diff", diff.error(), err);
  for (const auto& difference : diff->differences) print(difference, out);
  if (diff->differences.empty()) out << "The specs are the same.\n";
  print_reuse(*diff, out);
  return 0;
}

}  // namespace hyfreedp::cli
