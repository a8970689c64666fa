#include <algorithm>
#include <fmt/format.h>
#include <ostream>

#include "baselines/baseline.h"
#include "datasets/facts.h"
#include "harness/analytic/analytic.h"
#include "harness/base/text.h"
#include "harness/cli/common/command.h"
#include "harness/cli/show/list_runs.h"
#include "harness/cli/show/list_specs.h"
#include "harness/models/facts/facts.h"
#include "harness/runner/spec/spec.h"
#include "harness/trial/training_options.h"
#include "optimizers/facts.h"
#include "results/table/figure_spec.h"

namespace hyfreedp::cli {
namespace {

const std::vector<std::string> kKinds = {"methods",  "optimizers", "controllers", "models",  "datasets",
                                         "training", "specs",      "analytic",    "figures", "runs"};

constexpr std::string_view kText = R"(
hyfreedp list KIND [NAME] [options]
hyfreedp list runs [SPEC] [--only KEY=VALUE,...] [--state STATE] [--tag TAG] [options]
Lists what a spec may name. KIND: methods, optimizers, controllers, models, datasets, training (what
a spec's `train` may say), specs, analytic (papers' tables and figures that need no training) or
figures (what a spec may list under `figures`). NAME: that one alone; of specs, those with it in
their path. `list runs`: the studies of an output folder, each with the runs that may be shown: all
of them, or of a private selection the reported one.
Examples: hyfreedp list methods prodigy
          hyfreedp list specs --short --state runnable
          hyfreedp list runs quick --state failed --out out)";

// One entry of any registry, as JSON keeps it and as text prints it.
struct Listed {
  std::string name;
  std::string title;
  std::vector<std::pair<std::string, std::string>> facts;  // key, value
  std::vector<OptionSpec> options;
};

std::vector<Listed> methods() {
  std::vector<Listed> entries;
  for (const auto& method : baselines::registry()) {
    entries.push_back({method.name,
                       method.title,
                       {{"summary", method.summary},
                        {"source", method.source},
                        {"label", baselines::to_string(method.label)},
                        {"non-private arm", method.has_non_private_arm ? "yes" : "no"}},
                       method.options});
  }
  return entries;
}

std::vector<Listed> datasets_listed() {
  const auto number = [](std::int64_t count) {
    return count == 0 ? std::string("that of your files") : std::to_string(count);
  };
  std::vector<Listed> entries;
  for (const auto& facts : datasets::dataset_facts()) {
    const auto sizes = datasets::sizes(facts, resolve_options(facts.options, {}, facts.name).value());
    entries.push_back({facts.name,
                       facts.title,
                       {{"source", facts.source},
                        {"to get it", facts.how_to_get},
                        {"on this machine", datasets::locate(facts) ? "yes" : "no"},
                        {"private_train", facts.test_only ? "" : number(sizes.private_train)},
                        {"training split", facts.test_only      ? ""
                                           : facts.public_train ? "public"
                                                                : "private"},
                        {"private_validation", facts.test_only ? "" : number(sizes.private_validation)},
                        {"test", number(sizes.test)},
                        {"use", facts.test_only ? "a test set alone: for 'ood_test' of a panel" : ""},
                        {"classes", number(sizes.classes)},
                        {"features", number(sizes.features)}},
                       facts.options});
  }
  return entries;
}

std::vector<Listed> analytic_items() {
  std::vector<Listed> entries;
  entries.reserve(analytic::registry().size());
  for (const auto& item : analytic::registry())
    entries.push_back({item.name, item.title, {{"source", item.source}}, item.options});
  return entries;
}

template <class Table>
std::vector<Listed> named(const Table& table) {
  std::vector<Listed> entries;
  entries.reserve(std::size(table));
  for (const auto& facts : table)
    entries.push_back({facts.name, facts.title, {{"source", facts.source}}, facts.options});
  return entries;
}

std::vector<Listed> training() {
  // A part of its own, with options of its own: what it may be is another list.
  std::vector<OptionSpec> options = {{.name = "optimizer",
                                      .type = OptionType::text,
                                      .default_value = nullptr,
                                      .help = "NAME, or {name: NAME, option: value}; see hyfreedp list "
                                              "optimizers. Must be given"}};
  const auto& first = runner::train_options();
  options.insert(options.end(), first.begin(), first.end());
  const auto& more = trial::training_option_table();
  options.insert(options.end(), more.begin(), more.end());
  return {{"train", "how a panel trains", {}, options}};
}

std::vector<Listed> figures() {
  std::vector<Listed> entries;
  for (const auto& kind : results::figure_kinds()) {
    std::string look = "size, font, font_size, x_label, y_label";
    for (const char axis : kind.ranges) look += std::string(", ") + axis + "_range";
    if (kind.has_colours) look += ", colours";
    entries.push_back(
        {kind.name,
         kind.title,
         {{"what", kind.help},
          {"reads", kind.all_runs
                        ? "all runs of its rows (rows of private selection with --confidential alone)"
                        : "the reported runs"},
          {"look", look + " (plots/README.md)"}},
         kind.options});
  }
  return entries;
}

Result<std::vector<Listed>> entries_of(const std::string& kind) {
  if (kind == "methods") return methods();
  if (kind == "analytic") return analytic_items();
  if (kind == "optimizers") return named(optimizers::optimizer_facts());
  if (kind == "controllers") return named(optimizers::controller_facts());
  if (kind == "models") return named(models::model_facts());
  if (kind == "datasets") return datasets_listed();
  if (kind == "training") return training();
  if (kind == "figures") return figures();
  return error("there is nothing to list under '" + kind + "'." + did_you_mean(kind, kKinds) +
               " Kinds: " + join(kKinds, ", ") + ".");
}

json::array to_json(const std::vector<Listed>& entries) {
  json::array list;
  for (const auto& entry : entries) {
    json::object facts;
    for (const auto& [key, value] : entry.facts) facts[key] = value;
    json::array table;
    for (const auto& option : entry.options) {
      table.push_back(json::object{{"name", option.name},
                                   {"type", to_string(option.type)},
                                   {"default", option.default_value},
                                   {"help", option.help},
                                   {"unit", option.unit},
                                   {"min", number(option.min)},
                                   {"max", number(option.max)},
                                   {"choices", json::value_from(option.choices)}});
    }
    list.push_back(
        json::object{{"name", entry.name}, {"title", entry.title}, {"facts", facts}, {"options", table}});
  }
  return list;
}

void print(const std::vector<Listed>& entries, std::ostream& out) {
  for (const auto& entry : entries) {
    out << fmt::format("{}  ({})\n", entry.name, entry.title);
    for (const auto& [key, value] : entry.facts) {
      if (!value.empty()) out << fmt::format("  {}: {}\n", key, value);
    }
    if (!entry.options.empty()) out << "  options:\n" << describe_options(entry.options);
    out << '\n';
  }
}

void print_short(const std::vector<Listed>& entries, std::ostream& out) {
  std::size_t width = 0;
  for (const auto& entry : entries) width = std::max(width, entry.name.size());
  for (const auto& entry : entries) out << fmt::format("{:<{}}  {}\n", entry.name, width, entry.title);
}

// The entry of that name; of `training`, the option.
Result<std::vector<Listed>> only(const std::vector<Listed>& entries, const std::string& kind,
                                 const std::string& name) {
  std::vector<std::string> names;
  if (kind == "training") {
    auto train = entries.front();
    for (const auto& option : train.options) names.push_back(option.name);
    std::erase_if(train.options, [&](const OptionSpec& option) { return option.name != name; });
    if (!train.options.empty()) return std::vector{train};
  } else {
    for (const auto& entry : entries) {
      if (entry.name == name) return std::vector{entry};
      names.push_back(entry.name);
    }
  }
  return error(fmt::format("there is no '{}' among the {}{}.{} There are: {}.", name, kind,
                           kind == "training" ? " options" : "", did_you_mean(name, names),
                           join(names, ", ")));
}

struct ListRequest {
  std::optional<std::string> kind;
  std::string name;
  bool json = false, is_short = false;
  SpecFilter specs;
  RunsRequest runs;

  void describe(Options& options) {
    options.positional(kind, "kind", "KIND", kKinds);
    options.positional(name, "name", "[NAME]");
    options.flag(json, "json", "machine-readable");
    options.flag(is_short, "short", "one line each");
    options.value(specs.state, "state", "STATE",
                  "specs: runnable, data-missing, gpu-missing, too-large, not-runnable, analytic or "
                  "cannot-be-read; runs: of studies that are open, concluded, not-needed, failed, or failed "
                  "with that kind (cancelled)");
    options.value(specs.paper, "paper", "PAPER", "specs: those that reproduce it");
    options.value(runs.choice.only, "only", "KEY=VALUE,...",
                  "runs: of these studies of SPEC alone, named as for `hyfreedp run --only`");
    options.value(runs.tag, "tag", "TAG", "runs: of studies that have the tag");
    options.value(runs.format, "format", "text|jsonl", "runs: a table, or one JSON object a line");
    options.value(runs.choice.out, "out", "DIR", "runs: output folder of `hyfreedp run`");
  }
};

template <class Entries>
Outcome show(const ListRequest& request, const Entries& entries, std::ostream& out) {
  if (request.json) {
    out << pretty_json(to_json(entries));
  } else if (request.is_short) {
    print_short(entries, out);
  } else {
    print(entries, out);
  }
  return 0;
}

Outcome list_specs(const ListRequest& request, std::ostream& out) {
  auto filter = request.specs;
  filter.in_path = request.name;
  if (auto known = check_filter(filter); !known) return known.error();
  // Specs lie in `experiments` of the folder the command is run in.
  const auto all = listed_specs("experiments");
  if (!all) return all.error();
  const auto specs = filtered(*all, filter);
  if (specs.empty()) return error("no spec here is as asked for.");
  return show(request, specs, out);
}

Outcome list(const ListRequest& request, std::ostream& out, std::ostream&) {
  if (!request.kind) return error("say what to list: " + join(kKinds, ", ") + ".");
  const auto& [kind, name] = std::tie(*request.kind, request.name);
  const auto& filter = request.specs;
  auto runs = request.runs;
  if (kind == "specs") return list_specs(request, out);
  if (kind == "runs") {
    runs.choice.spec = name;
    runs.state = filter.state;
    return list_runs(runs, out);
  }
  if (!filter.state.empty() || !filter.paper.empty()) {
    return error("--state and --paper are for `hyfreedp list specs`.");
  }
  if (!runs.tag.empty() || !runs.choice.only.empty()) {
    return error("--tag and --only are for `hyfreedp list runs`.");
  }
  auto entries = entries_of(kind);
  if (entries && !name.empty()) entries = only(*entries, kind, name);
  if (!entries) return entries.error();
  return show(request, *entries, out);
}

}  // namespace

Command list_command() {
  return {"list", kText, action<ListRequest>(list),
          "methods, optimizers, controllers, models, datasets, specs; the runs of a folder",
          "hyfreedp list methods"};
}

}  // namespace hyfreedp::cli
