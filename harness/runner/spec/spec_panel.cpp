#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "datasets/facts.h"
#include "datasets/same_data.h"
#include "harness/accounting/default_delta.h"
#include "harness/base/text.h"
#include "harness/mechanism/releases.h"
#include "harness/runner/lineage/initial_weights.h"
#include "harness/runner/spec/mistakes/spec_examples.h"
#include "harness/runner/spec/spec.h"
#include "harness/runner/spec/spec_data.h"
#include "harness/runner/spec/spec_named.h"
#include "harness/runner/spec/spec_table.h"
#include "optimizers/facts.h"

namespace hyfreedp::runner {
namespace {

const std::vector<std::string> kPanelKeys = {
    "id",    "title",      "dataset", "ood_test", "model", "seeds",     "epsilon", "noise_multiplier",
    "delta", "accountant", "train",   "evaluate", "rows",  "footnotes", "paper",   "table"};
constexpr double kLargestDelta = 1e-3;
constexpr const char* kOnlyPanel = "main";  // id of the panel of a spec without `panels`

std::string delta_outside(double delta) { return fmt::format("must lie between 0 and 1, not {}", delta); }

// A number, or N^-X of the public size of the training split.
Result<double> read_delta(const Entry& entry, std::int64_t population) {
  double delta = 0;
  const auto text = entry.text();
  if (!text) return text.error();
  if (text->starts_with("N^-")) {
    const auto parsed = parse_json(text->substr(3), entry.where());
    const auto exponent = parsed ? to_double(*parsed, "") : Result<double>(parsed.error());
    if (!exponent)
      return entry.wrong(fmt::format("must be a number or N^-X with a number X, not '{}'", *text));
    delta = std::pow(static_cast<double>(population), -*exponent);
  } else {
    const auto number = entry.number();
    if (!number) return number.error();
    delta = *number;
  }
  if (!(delta > 0 && delta < 1)) return entry.wrong(delta_outside(delta));
  return delta;
}

// Warns of a large delta, under which an epsilon promises little; empty if it is small enough.
std::string doubt_about_delta(double delta, std::int64_t population) {
  if (delta * static_cast<double>(population) >= 1) {
    return fmt::format(
        "delta = {} is not below 1/N: publishing one of the {} training examples at random would satisfy it.",
        short_number(delta, 2), population);
  }
  if (delta <= kLargestDelta) return "";
  return fmt::format(
      "delta = {} is large, since N = {} is small: one time in {:.0f} the guarantee may fail altogether.",
      short_number(delta, 2), population, 1 / delta);
}

// A panel's `paper`.
std::optional<PaperPlace> panel_paper(const Entry& panel, const PaperValues* values, Problems& problems) {
  const auto given = panel.find("paper");
  if (!given) return std::nullopt;
  if (values == nullptr) {
    problems.add(given->wrong("needs 'reproduces' at the top level", example_at("reproduces")));
    return std::nullopt;
  }
  return read_paper_place(*given, *values, problems);
}

spec::PaperTables tables_of(const PaperPlace& place) {
  spec::PaperTables tables;
  for (const auto* table : place.tables) tables.tables.push_back(table->id);
  return tables;
}

// Checks the optimizer's options against each other (optimizers/facts.h).
void check_optimizer(const spec::Named& optimizer, const Entry& entry, Problems& problems) {
  const auto check = optimizers::find_optimizer(optimizer.name).value()->check;
  if (check == nullptr) return;
  if (const auto checked = check(optimizer.options); !checked) {
    problems.add(entry.wrong_inside(checked.error().message, ""));
  }
}

bool claims_epsilon(const std::vector<spec::Row>& rows) {
  return std::any_of(rows.begin(), rows.end(), [](const spec::Row& row) {
    return std::any_of(row.epsilons.begin(), row.epsilons.end(),
                       [](double epsilon) { return !std::isinf(epsilon); });
  });
}

}  // namespace

const std::vector<std::string>& default_keys() {
  static const std::vector<std::string> keys = {"dataset", "ood_test",         "model",    "seeds",
                                                "epsilon", "noise_multiplier", "delta",    "accountant",
                                                "train",   "evaluate",         "footnotes"};
  return keys;
}

std::optional<spec::Named> read_optimizer(const Layers& train, Problems& problems) {
  Layers options;
  for (const auto& layer : train.maps()) {
    const auto given = layer.find("optimizer");
    if (!given) continue;
    const auto name_entry = given->is_map() ? given->find("name") : given;
    if (given->is_map()) options.add(given);
    if (!name_entry) continue;
    const auto name = problems.take(name_entry->text());
    if (!name) return std::nullopt;
    const auto facts = optimizers::find_optimizer(*name);
    if (!facts) {
      problems.add(name_entry->wrong(facts.error()));
      return std::nullopt;
    }
    const auto resolved = options_from((**facts).options, options, problems, {"name"});
    if (!resolved) return std::nullopt;
    check_optimizer({*name, *resolved}, *train.find("optimizer"), problems);
    return spec::Named{*name, *resolved};
  }
  (options.empty() ? train : options).need("name", problems);
  return std::nullopt;
}

namespace {

// The parts of a panel, each where it could be read.
struct PanelParts : PanelData {
  std::string id;
  std::string title;
  std::optional<ReadTrain> train;
  std::optional<spec::Named> optimizer;
  std::optional<trial::TrainingOptions> training;
  std::optional<std::vector<std::int64_t>> seeds;
  std::optional<spec::SequentialSeeds> sequential;
  std::optional<std::vector<double>> epsilons;
  std::vector<double> noise_multipliers;  // in place of epsilons, which are empty
  std::optional<double> delta;
  std::string accountant;  // as given; empty: none
  std::optional<spec::Evaluate> evaluate;
  std::vector<std::string> footnotes;
  std::optional<PaperPlace> place;
  std::optional<std::vector<spec::Row>> rows;

  bool has_private_columns() const {
    return !noise_multipliers.empty() ||
           !std::ranges::all_of(*epsilons, [](double epsilon) { return std::isinf(epsilon); });
  }
  bool is_whole() const {
    return dataset && model && sizes && dimension && train && optimizer && training && seeds && epsilons &&
           delta && evaluate && rows;
  }
};

void read_id_and_title(const PanelRequest& request, PanelParts& parts, Problems& problems) {
  if (request.is_document) {
    parts.id = kOnlyPanel;
    if (parts.dataset && parts.model) parts.title = parts.dataset->name + ", " + parts.model->name;
    return;
  }
  if (const auto given = request.panel.find("id")) {
    parts.id = problems.take(read_identifier(*given)).value_or("");
  } else {
    request.panel.need("id", problems);
  }
  parts.title = parts.id;
  if (const auto given = request.panel.find("title")) {
    parts.title = problems.take(given->text()).value_or("");
  }
}

void read_how_to_train(const Layers& layers, PanelParts& parts, Problems& problems) {
  const auto train = layers.below("train");
  if (train.empty()) {
    layers.need("train", problems);
    return;
  }
  const auto population = parts.sizes ? std::optional(parts.sizes->private_train) : std::nullopt;
  parts.train = read_train(train, population, problems);
  parts.optimizer = read_required(train, "optimizer", optimizers::find_optimizer, problems);
  if (parts.optimizer) check_optimizer(*parts.optimizer, *train.find("optimizer"), problems);
  parts.training = read_training(train, problems);
  if (parts.training && parts.optimizer) {
    check_average(*parts.training, *parts.optimizer, parts.train ? parts.train->train.steps : 0, train,
                  problems);
  }
}

// The columns: epsilons, or noise multipliers whose epsilons follow (price_fixed_noise).
void read_epsilons_or_noise(const Layers& layers, PanelParts& parts, Problems& problems) {
  const auto noise = layers.find("noise_multiplier");
  const auto epsilon = layers.find("epsilon");
  if (!noise && !epsilon) layers.need("epsilon", problems);
  if (noise && epsilon) {
    problems.add(noise->wrong("and 'epsilon' exclude each other; keep one", ""));
  } else if (noise) {
    parts.epsilons.emplace();
    parts.noise_multipliers = read_noise_multipliers(*noise, problems).value_or(std::vector<double>{});
  } else if (epsilon) {
    parts.epsilons = read_epsilons(*epsilon, problems);
  }
}

void read_accountant(const Layers& layers, PanelParts& parts, Problems& problems) {
  const auto given = layers.find("accountant");
  if (!given) return;
  const auto name = problems.take(given->text());
  if (!name) return;
  if (*name != "pld" && *name != "rdp") {
    problems.add(given->wrong(fmt::format("must be pld or rdp, not '{}'", *name)));
  } else if (layers.find("noise_multiplier")) {
    problems.add(
        given->wrong("has no effect beside 'noise_multiplier', which fixes the noise; leave it out", ""));
  } else {
    parts.accountant = *name;
  }
}

void read_columns(const Layers& layers, PanelParts& parts, Problems& problems) {
  if (!layers.find("seeds")) layers.need("seeds", problems);
  if (const auto given = layers.find("seeds"); given && given->is_map()) {
    parts.sequential = read_sequential_seeds(*given, problems);
    if (parts.sequential) parts.seeds = seeds_of(*parts.sequential);
  } else if (given) {
    parts.seeds = read_seeds(*given, problems);
  }
  read_epsilons_or_noise(layers, parts, problems);
  read_accountant(layers, parts, problems);
  if (!parts.sizes) return;
  const auto population = parts.sizes->private_train;
  if (const auto given = layers.find("delta")) {
    parts.delta = problems.take(read_delta(*given, population));
  } else if (const auto delta = accounting::default_delta(population); delta < 1) {
    parts.delta = delta;
  } else {
    problems.add(layers.find("dataset")->wrong_inside(
        fmt::format("'delta' is N^-1.1 where a spec does not say another; it {}, and N is {} here.",
                    delta_outside(delta), population),
        "delta: 1e-5"));
  }
  if (parts.epsilons && parts.train && parts.has_private_columns()) {
    check_private_training(parts.train->train, layers.below("train"), problems);
  }
}

void read_footnotes(const Layers& layers, PanelParts& parts, Problems& problems) {
  parts.footnotes = problems.take(read_texts(layers.find("footnotes"))).value_or(std::vector<std::string>{});
  if (parts.training) {
    const auto notes = parts.training->notes();
    parts.footnotes.insert(parts.footnotes.end(), notes.begin(), notes.end());
  }
  if (!parts.train || !parts.sizes) return;
  const auto releases = mechanism::releases(trial::PrivacyPlan{.asked = parts.train->train.asked});
  for (const auto& asked : mechanism::asked_releases()) {
    if (mechanism::find(releases, asked.purpose) == nullptr) continue;
    parts.footnotes.push_back(asked.footnote);
    if (const auto lacking = asked.lacking(*parts.sizes); !lacking.empty()) {
      const auto given = layers.below("train").find(asked.option(asked.options.front()));
      problems.add(given->wrong(fmt::format("needs {}, and {} has none", lacking, parts.dataset->name), ""));
    }
  }
}

std::vector<std::string> ids_of(const std::vector<trial::OodTest>& sets) {
  std::vector<std::string> ids;
  ids.reserve(sets.size());
  for (const auto& one : sets) ids.push_back(one.id);
  return ids;
}

spec::Panel resolved_panel(PanelParts parts) {
  spec::Panel panel{.id = parts.id,
                    .title = parts.title,
                    .dataset = std::move(*parts.dataset),
                    .ood_test = std::move(parts.ood_test),
                    .model = std::move(*parts.model),
                    .dimension = *parts.dimension,
                    .population = parts.sizes->private_train,
                    .validation = parts.sizes->private_validation,
                    .test = parts.sizes->test,
                    .classes = parts.sizes->classes,
                    .train = std::move(parts.train->train),
                    .evaluate = *parts.evaluate,
                    .delta = *parts.delta,
                    // A panel that asks for PLD has no row that needs RDP: it is the same as
                    // without the key.
                    .accountant = parts.accountant == "rdp" ? parts.accountant : "",
                    .seeds = std::move(*parts.seeds),
                    .sequential = std::move(parts.sequential),
                    .epsilons = std::move(*parts.epsilons),
                    .noise_multipliers = std::move(parts.noise_multipliers),
                    .footnotes = std::move(parts.footnotes),
                    .rows = std::move(*parts.rows)};
  panel.train.optimizer = std::move(*parts.optimizer);
  panel.train.training = *parts.training;
  if (parts.place) panel.paper = tables_of(*parts.place);
  return panel;
}

}  // namespace

std::optional<spec::Panel> read_panel(const PanelRequest& request, Problems& problems) {
  const auto before = problems.added();
  const auto& panel = request.panel;
  if (!request.is_document && !panel.check_keys(&kPanelKeys, problems)) return std::nullopt;
  Layers layers({panel});
  layers.add(request.defaults);
  const auto train = layers.below("train");

  PanelParts parts{read_data_and_model(layers, problems)};
  read_id_and_title(request, parts, problems);
  read_how_to_train(layers, parts, problems);
  read_columns(layers, parts, problems);
  parts.evaluate = read_evaluate(layers.below("evaluate"), parts.dataset, problems);
  read_footnotes(layers, parts, problems);
  parts.place = panel_paper(panel, request.paper, problems);
  if (parts.place && !parts.noise_multipliers.empty()) {
    problems.add(panel.find("paper")->wrong("needs 'epsilon', by which the paper's cells are found", ""));
  }
  // Values that could not be read are read as empty: rows are then checked for the rest, and not
  // used.
  parts.rows = read_rows(panel, request.is_document ? std::nullopt : panel.find("rows"), request.shared,
                         {.seeds = parts.seeds.value_or(std::vector<std::int64_t>{}),
                          .epsilons = parts.epsilons.value_or(std::vector<double>{}),
                          .has_sequential_seeds = parts.sequential.has_value(),
                          .has_fixed_noise = !parts.noise_multipliers.empty(),
                          .accountant = parts.accountant,
                          .steps = parts.train ? parts.train->train.steps : 0,
                          .control = parts.train ? parts.train->control : spec::Control::sampling_only,
                          .control_given = train.find("control").has_value(),
                          .train = train,
                          .training = parts.training,
                          .optimizer = parts.optimizer,
                          .paper = parts.epsilons ? parts.place : std::nullopt,
                          .ood_test = ids_of(parts.ood_test),
                          .dataset = parts.dataset ? parts.dataset->name : "",
                          .labels = parts.sizes ? parts.sizes->labels : datasets::LabelKind::classes,
                          .shared_are_known = request.shared_are_known},
                         problems);
  if (parts.sequential && !parts.noise_multipliers.empty()) {
    problems.add(layers.find("seeds")->wrong(
        "compares rows of one epsilon, and under 'noise_multiplier' each row has its own; give 'epsilon', or "
        "list the seeds"));
  }
  if (parts.sequential && parts.rows) {
    check_sequential_seeds(*layers.find("seeds"), *parts.sequential, *parts.rows, problems);
  }
  const auto table = request.is_document ? std::nullopt : panel.find("table");
  std::optional<spec::Table> options_of_table;
  if (table) options_of_table = read_table_options(*table, problems);
  // A part whose key is misspelt is missing, and was complained of before this panel was read.
  if (!parts.is_whole() || problems.added() > before) return std::nullopt;

  const auto data = datasets::identity_of(parts.dataset->name, parts.dataset->options);
  const bool is_private = !parts.noise_multipliers.empty() || claims_epsilon(*parts.rows);
  std::vector<TestedData> tested{{.name = "the test split", .data = data, .is_own = true}};
  for (const auto& test : parts.ood_test) {
    tested.push_back({.name = fmt::format("the ood_test '{}'", test.id),
                      .data = datasets::identity_of(test.dataset.name, test.dataset.options)});
  }
  if (auto start = check_start(parts.model->options, data, tested, is_private); !start) {
    problems.add(layers.find("model")->wrong_inside(start.error().message, ""));
  }
  if (auto features = check_start(parts.dataset->options, data, tested, is_private); !features) {
    problems.add(layers.find("dataset")->wrong(features.error()));
  }
  const auto doubt = doubt_about_delta(*parts.delta, parts.sizes->private_train);
  if (!doubt.empty() && is_private) {
    problems.warn(layers.find("delta").value_or(panel).remark(doubt));
  }
  warn_of_weights(layers, panel, parts, problems);
  auto resolved = resolved_panel(std::move(parts));
  if (table) {
    check_table_rows(*table, *options_of_table, {resolved}, problems);
    resolved.table = options_of_table;
  }
  if (problems.added() > before) return std::nullopt;
  return resolved;
}

}  // namespace hyfreedp::runner
