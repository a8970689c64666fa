#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "datasets/facts.h"
#include "harness/base/text.h"
#include "harness/models/facts.h"
#include "harness/models/presets.h"
#include "harness/runner/initial_weights.h"
#include "harness/runner/spec.h"
#include "harness/runner/spec_table.h"
#include "optimizers/facts.h"

namespace hyfreedp::runner {
namespace {

const std::vector<std::string> kDefaultKeys = {"dataset", "model", "seeds",    "epsilon",
                                               "delta",   "train", "evaluate", "footnotes"};
const std::vector<std::string> kPanelKeys = {"id",        "title", "dataset", "model",    "seeds",
                                             "epsilon",   "delta", "train",   "evaluate", "rows",
                                             "footnotes", "paper", "table"};

struct NamedPart {
  json::object json;  // {"name", "options"}
  std::string name;
  json::object options;
};

// `key: NAME`, or `key: {name: NAME, option: value, ...}`. `find` gives the facts of a name.
template <class Find>
Result<NamedPart> read_named(const Entry& entry, const Find& find) {
  Entry name_entry = entry;
  Layers options;
  if (entry.is_map()) {
    const auto name = entry.find("name");
    if (!name) return entry.wrong("needs 'name'");
    name_entry = *name;
    options.add(entry);
  }
  const auto name = name_entry.text();
  if (!name) return name.error();
  const auto facts = find(*name);
  if (!facts) return in_context(name_entry.where(), facts.error());
  const auto resolved = options_from((**facts).options, options, {"name"});
  if (!resolved) return resolved.error();
  return NamedPart{{{"name", *name}, {"options", *resolved}}, *name, *resolved};
}

template <class Find>
Result<NamedPart> read_required(const Layers& layers, const std::string& key, const Find& find) {
  const auto entry = layers.find(key);
  if (!entry) return layers.wrong("needs '" + key + "'");
  return read_named(*entry, find);
}

// A model's options cover its weights file too.
Result<NamedPart> read_model(const Layers& layers) {
  auto model = read_required(layers, "model", models::find_model);
  if (!model) return model;
  auto completed = models::complete_options(model->options);
  if (!completed) return in_context(layers.find("model")->where(), completed.error());
  model->options = std::move(*completed);
  model->json["options"] = model->options;
  return model;
}

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
  if (!(delta > 0 && delta < 1)) return entry.wrong(fmt::format("must lie between 0 and 1, not {}", delta));
  return delta;
}

// A panel's `paper`, and "paper" {"tables"} for what is resolved.
Result<std::optional<PaperPlace>> panel_paper(const Entry& panel, const PaperValues* values) {
  const auto given = panel.find("paper");
  if (!given) return std::optional<PaperPlace>();
  if (values == nullptr) return given->wrong("needs 'reproduces' at the top level");
  auto place = read_paper_place(*given, *values);
  if (!place) return place.error();
  return std::optional(std::move(*place));
}

json::object described(const PaperPlace& place) {
  json::array tables;
  for (const auto* table : place.tables) tables.emplace_back(table->at("id"));
  return {{"tables", tables}};
}

// Whether any row has one that is not infinite ("inf").
bool claims_epsilon(const json::array& rows) {
  return std::any_of(rows.begin(), rows.end(), [](const json::value& row) {
    const auto& epsilons = row.at("epsilons").as_array();
    return std::any_of(epsilons.begin(), epsilons.end(),
                       [](const json::value& one) { return !one.is_string(); });
  });
}

}  // namespace

Result<json::object> read_optimizer(const Layers& train) {
  Layers options;
  for (const auto& layer : train.maps()) {
    const auto given = layer.find("optimizer");
    if (!given) continue;
    const auto name_entry = given->is_map() ? given->find("name") : given;
    if (given->is_map()) options.add(given);
    if (!name_entry) continue;
    const auto name = name_entry->text();
    if (!name) return name.error();
    const auto facts = optimizers::find_optimizer(*name);
    if (!facts) return in_context(name_entry->where(), facts.error());
    const auto resolved = options_from((**facts).options, options, {"name"});
    if (!resolved) return resolved.error();
    return json::object{{"name", *name}, {"options", *resolved}};
  }
  return (options.empty() ? train : options).wrong("needs 'name'");
}

Result<json::object> read_panel(const Entry& panel, const std::optional<Entry>& defaults,
                                const std::vector<Entry>& shared, const PaperValues* paper) {
  if (auto checked = panel.check_keys(&kPanelKeys); !checked) return checked.error();
  if (defaults) {
    if (auto checked = defaults->check_keys(&kDefaultKeys); !checked) return checked.error();
  }
  Layers layers({panel});
  layers.add(defaults);

  const auto id_entry = panel.find("id");
  if (!id_entry) return panel.wrong("needs 'id'");
  const auto id = read_identifier(*id_entry);
  if (!id) return id.error();
  std::string title = *id;
  if (const auto given = panel.find("title")) {
    const auto text = given->text();
    if (!text) return text.error();
    title = *text;
  }
  const auto dataset = read_required(layers, "dataset", datasets::find_dataset);
  if (!dataset) return dataset.error();
  const auto model = read_model(layers);
  if (!model) return model.error();
  const auto sizes = datasets::sizes(*datasets::find_dataset(dataset->name).value(), dataset->options);
  const auto dimension = models::parameter_count(model->name, model->options, models::model_input(sizes));
  if (!dimension) return in_context(layers.find("model")->where(), dimension.error());

  const auto train_layers = layers.below("train");
  if (train_layers.empty()) return panel.wrong("needs 'train'");
  const auto train = read_train(train_layers, sizes.private_train);
  if (!train) return train.error();
  const auto optimizer = read_required(train_layers, "optimizer", optimizers::find_optimizer);
  if (!optimizer) return optimizer.error();

  const auto training = read_training(train_layers);
  if (!training) return training.error();
  if (auto checked = check_average(*training, optimizer->options, train_layers); !checked)
    return checked.error();

  for (const char* key : {"seeds", "epsilon", "delta"}) {
    if (!layers.find(key)) return panel.wrong(fmt::format("needs '{}'", key));
  }
  const auto seeds = read_seeds(*layers.find("seeds"));
  if (!seeds) return seeds.error();
  const auto epsilons = read_epsilons(*layers.find("epsilon"));
  if (!epsilons) return epsilons.error();
  const auto delta = read_delta(*layers.find("delta"), sizes.private_train);
  if (!delta) return delta.error();
  if (auto checked = check_private_training(*epsilons, *train, train_layers); !checked)
    return checked.error();
  const auto evaluate =
      read_evaluate(layers.below("evaluate"), *datasets::find_dataset(dataset->name).value());
  if (!evaluate) return evaluate.error();
  auto footnotes = read_texts(layers.find("footnotes"));
  if (!footnotes) return footnotes.error();
  add_notes(*training, *footnotes);
  if (const auto given = train_layers.find("feature_mean_noise")) {
    if (sizes.length > 0)
      return given->wrong(fmt::format("is for features, and {} has sequences of tokens", dataset->name));
    footnotes->emplace_back(
        "Features less a mean of the training features that each run releases before its first step; the "
        "price is in "
        "epsilon.");
  }
  auto place = panel_paper(panel, paper);
  if (!place) return place.error();
  const auto rows = read_rows(panel, panel.find("rows"), shared,
                              {.seeds = *seeds,
                               .epsilons = *epsilons,
                               .steps = int_or(*train, "steps", 0),
                               .control = string_or(*train, "control", ""),
                               .control_given = train_layers.find("control").has_value(),
                               .train = train_layers,
                               .paper = *place});
  if (!rows) return rows.error();
  if (auto start = check_start(model->options, dataset->name, claims_epsilon(*rows)); !start) {
    return in_context(layers.find("model")->where(), start.error());
  }

  json::object resolved{{"id", *id},
                        {"title", title},
                        {"dataset", dataset->json},
                        {"model", model->json},
                        {"dimension", *dimension},
                        {"population", sizes.private_train},
                        {"validation", sizes.private_validation},
                        {"test", sizes.test},
                        {"classes", sizes.classes},
                        {"steps", train->at("steps")},
                        {"sampler", train->at("sampler")},
                        {"sample_rate", train->at("sample_rate")},
                        {"batch_size", train->at("batch_size")},
                        {"clipping", train->at("clipping")},
                        {"clipping_constant", train->at("clipping_constant")},
                        {"device", train->at("device")},
                        {"optimizer", optimizer->json},
                        {"evaluate_every", evaluate->at("every")},
                        {"delta", *delta},
                        {"seeds", json::value_from(*seeds)},
                        {"epsilons", *epsilons},
                        {"footnotes", *footnotes},
                        {"rows", *rows}};
  for (const auto& member : privacy_extras(*train)) resolved[member.key()] = member.value();
  for (const char* key : {"gradient_norms", "released_norms", "noise_residual"}) {
    if (evaluate->at(key).as_bool()) resolved[key] = true;
  }
  if (!training->empty()) resolved["training"] = *training;
  if (*place) resolved["paper"] = described(**place);
  if (const auto table = panel.find("table")) {
    const auto options_of_table = read_table_options(*table);
    if (!options_of_table) return options_of_table.error();
    const auto checked = check_table_rows(*table, *options_of_table, json::array{resolved});
    if (!checked) return checked.error();
    resolved["table"] = *options_of_table;
  }
  return resolved;
}

}  // namespace hyfreedp::runner
