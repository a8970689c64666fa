#include "harness/cli/list_command.h"

#include <algorithm>
#include <fmt/format.h>
#include <ostream>

#include "baselines/baseline.h"
#include "datasets/facts.h"
#include "harness/analytic/analytic.h"
#include "harness/base/text.h"
#include "harness/cli/command_line.h"
#include "harness/cli/list_specs.h"
#include "harness/models/facts.h"
#include "harness/runner/spec.h"
#include "harness/trial/training_options.h"
#include "optimizers/facts.h"
#include "results/figure_spec.h"

namespace hyfreedp::cli {
namespace {

namespace options = boost::program_options;

const std::vector<std::string> kKinds = {"methods",  "optimizers", "controllers", "models", "datasets",
                                         "training", "specs",      "analytic",    "figures"};

const char kUsage[] =
    "hyfreedp list KIND [--json]\n"
    "Lists what a spec may name. KIND: methods, optimizers, controllers, models, datasets, training\n"
    "(the options of a spec's `train`), specs, analytic (papers' tables and figures that need no "
    "training)\n"
    "or figures (what a spec may list under `figures`).\n"
    "Example: hyfreedp list methods\n\n";

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
  std::vector<Listed> entries;
  for (const auto& facts : datasets::dataset_facts()) {
    const auto sizes = datasets::sizes(facts, resolve_options(facts.options, {}, facts.name).value());
    entries.push_back({facts.name,
                       facts.title,
                       {{"source", facts.source},
                        {"to get it", facts.how_to_get},
                        {"on this machine", datasets::locate(facts) ? "yes" : "no"},
                        {"private_train", std::to_string(sizes.private_train)},
                        {"training split", facts.public_train ? "public" : "private"},
                        {"private_validation", std::to_string(sizes.private_validation)},
                        {"test", std::to_string(sizes.test)},
                        {"classes", std::to_string(sizes.classes)},
                        {"features", std::to_string(sizes.features)}},
                       facts.options});
  }
  return entries;
}

std::vector<Listed> analytic_items() {
  std::vector<Listed> entries;
  for (const auto& item : analytic::registry())
    entries.push_back({item.name, item.title, {{"source", item.source}}, item.options});
  return entries;
}

template <class Table>
std::vector<Listed> named(const Table& table) {
  std::vector<Listed> entries;
  for (const auto& facts : table)
    entries.push_back({facts.name, facts.title, {{"source", facts.source}}, facts.options});
  return entries;
}

std::vector<Listed> training() {
  auto options = runner::train_options();
  const auto& more = trial::training_option_table();
  options.insert(options.end(), more.begin(), more.end());
  return {{"train", "how a panel trains", {}, options}};
}

std::vector<Listed> figures() {
  std::vector<Listed> entries;
  for (const auto& kind : results::figure_kinds()) {
    entries.push_back(
        {kind.name,
         kind.title,
         {{"what", kind.help},
          {"reads", kind.all_runs
                        ? "all runs of its rows (rows of private selection with --confidential alone)"
                        : "the reported runs"}},
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
  return error("There is nothing to list under '" + kind + "'." + did_you_mean(kind, kKinds) +
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

}  // namespace

int list_command(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err) {
  CommandLine line{.command = "list", .usage = kUsage, .positional = "kind"};
  line.options.add_options()("help,h", "this text")("json", "machine-readable");
  options::variables_map given;
  if (const auto code = read_command_line(line, arguments, given, out, err)) return *code;
  if (given.count("kind") == 0) {
    return refused("list", error("say what to list: " + join(kKinds, ", ") + "."), err);
  }
  // Specs lie in `experiments` of the folder the command is run in.
  if (given["kind"].as<std::string>() == "specs") {
    const auto specs = listed_specs("experiments");
    if (!specs) return refused("list", specs.error(), err);
    if (given.count("json") > 0) return out << pretty_json(to_json(*specs)), 0;
    print(*specs, out);
    return 0;
  }
  const auto entries = entries_of(given["kind"].as<std::string>());
  if (!entries) return refused("list", entries.error(), err);
  if (given.count("json") > 0) {
    out << pretty_json(to_json(*entries));
  } else {
    print(*entries, out);
  }
  return 0;
}

}  // namespace hyfreedp::cli
