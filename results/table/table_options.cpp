#include "results/table/table_options.h"

#include <array>
#include <fmt/format.h>

namespace hyfreedp::results {
namespace {

OptionSpec choice(const char* name, std::vector<std::string> choices, const char* help) {
  return {.name = name,
          .type = OptionType::choice,
          .default_value = json::value(choices.front()),
          .help = help,
          .choices = choices,
          .stored_always = false};
}

OptionSpec toggle(const char* name, const char* help) {
  return {.name = name,
          .type = OptionType::boolean,
          .default_value = false,
          .help = help,
          .stored_always = false};
}

OptionSpec row_name(const char* name, const char* help) {
  return {.name = name, .type = OptionType::text, .default_value = "", .help = help, .stored_always = false};
}

}  // namespace

const MetricFacts& metric_facts(const std::string& name) {
  static const std::array<MetricFacts, 3> kFacts = {{
      {"accuracy", "test accuracy", "%", 1, true},
      {"loss", "test loss", "", 3, false},
      {"seconds", "training time of the reported run", "s", 2, false},
  }};
  for (const auto& facts : kFacts) {
    if (facts.name == name) return facts;
  }
  return kFacts.front();
}

const std::vector<OptionSpec>& table_options() {
  static const std::vector<OptionSpec> kOptions = {
      choice(
          "metric", {"accuracy", "loss", "seconds"},
          "what a cell shows: test accuracy in percent, test loss, or the training time of the reported run"),
      row_name("relative_to",
               "id of a row to compare with: the difference to it with its 95 % interval; of seconds, "
               "the ratio to it and its range over seeds"),
      choice(
          "groups", {"all", "median", "max"},
          "rows of one group: all of them, or one row with the median, or the best, of each seed's values"),
      {.name = "last_checkpoints",
       .type = OptionType::integer,
       .default_value = 1,
       .help = "a run's value is the mean over so many last evaluations on the test split",
       .min = 1,
       .max = 1000,
       .stored_always = false},
      choice("interval", {"none", "t", "bootstrap"}, "95 % interval of each mean: t, or BCa bootstrap"),
      toggle("ranks", "a column with each row's mean rank over the columns that all rows have"),
      toggle(
          "mdd",
          "the smallest difference that a paired t-test at 5 % would find with 80 % power, against the row "
          "of relative_to, else the column's leader"),
      toggle("oracle_beaten",
             "mark rows whose paired difference to the best oracle row has a 95 % interval above 0"),
      {.name = "paper",
       .type = OptionType::boolean,
       .default_value = nullptr,
       .help =
           "the paper's value; with the difference, and whether it is in band, where the task is the paper's "
           "or a tolerance is given, else with both ranks; not given: where the spec reproduces a paper's",
       .stored_always = false},
      {.name = "paper_tolerance",
       .type = OptionType::real,
       .default_value = nullptr,
       .help = "half width of the band around the paper's value",
       .unit = "points",
       .min = 0,
       .max = 100,
       .stored_always = false},
  };
  return kOptions;
}

const std::vector<OptionSpec>& rerr_options() {
  static const std::vector<OptionSpec> kOptions = {
      {.name = "random", .type = OptionType::text, .default_value = "", .help = "id of the row that is 0 %"},
      {.name = "oracle",
       .type = OptionType::text,
       .default_value = "",
       .help = "id of the row that is 100 %"}};
  return kOptions;
}

Result<TableSettings> table_settings(const json::object& given, const std::string& where) {
  auto plain = given;
  TableSettings settings;
  if (const auto* rerr = plain.if_contains("rerr")) {
    if (!rerr->is_object()) return error(where + ".rerr must be a map of 'random' and 'oracle'.");
    const auto rows = resolve_options(rerr_options(), rerr->get_object(), where + ".rerr");
    if (!rows) return rows.error();
    settings.rerr_random = string_or(*rows, "random", "");
    settings.rerr_oracle = string_or(*rows, "oracle", "");
    if (settings.rerr_random.empty() || settings.rerr_oracle.empty()) {
      return error(where + ".rerr needs 'random' and 'oracle', the ids of two rows.");
    }
    plain.erase("rerr");
  }
  const auto options = resolve_options(table_options(), plain, where);
  if (!options) return options.error();
  using Kind = TableSettings::IntervalKind;
  using Groups = TableSettings::Groups;
  settings.metric = string_or(*options, "metric", "accuracy");
  settings.relative_to = string_or(*options, "relative_to", "");
  const auto groups = string_or(*options, "groups", "all");
  settings.groups = groups == "median" ? Groups::median : groups == "max" ? Groups::max : Groups::all;
  settings.last_checkpoints = static_cast<int>(int_or(*options, "last_checkpoints", 1));
  const auto interval = string_or(*options, "interval", "none");
  settings.interval = interval == "t" ? Kind::t : interval == "bootstrap" ? Kind::bootstrap : Kind::none;
  settings.ranks = bool_or(*options, "ranks", false);
  settings.mdd = bool_or(*options, "mdd", false);
  settings.oracle_beaten = bool_or(*options, "oracle_beaten", false);
  const auto* paper = options->if_contains("paper");
  settings.paper = paper != nullptr && paper->is_bool() && paper->get_bool();
  if (const auto* tolerance = options->if_contains("paper_tolerance"); tolerance && !tolerance->is_null()) {
    settings.paper_tolerance = to_double(*tolerance, where).value();
  }
  if (settings.metric == "seconds" && settings.last_checkpoints > 1) {
    return error(where + ".last_checkpoints is of accuracy or loss; a run has one time.");
  }
  return settings;
}

json::object laid_over(const json::object& above, json::object below) {
  for (const auto& member : above) below[member.key()] = member.value();
  return below;
}

}  // namespace hyfreedp::results
