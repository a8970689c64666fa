#include "harness/runner/spec/spec_data.h"

#include <algorithm>
#include <fmt/format.h>
#include <sstream>

#include "datasets/image_folder_files.h"
#include "datasets/image_options.h"
#include "datasets/notes/weights_notes.h"
#include "datasets/table_columns.h"
#include "harness/base/text.h"
#include "harness/models/facts/blueprint.h"
#include "harness/models/facts/facts.h"
#include "harness/models/facts/named_files.h"
#include "harness/models/facts/weights_fit.h"
#include "harness/models/facts/weights_source.h"
#include "harness/runner/lineage/test_data.h"
#include "harness/runner/spec/mistakes/spec_examples.h"
#include "harness/runner/spec/spec_named.h"

namespace hyfreedp::runner {
namespace {

// A dataset's options cover the user's own files and weights too. `as_read`: changes them before
// these are looked at; absent: as they stand.
using ChangeOptions = Result<json::object> (*)(const datasets::Facts& facts, json::object options);
std::optional<spec::Named> read_dataset(const Layers& layers, Problems& problems,
                                        ChangeOptions change = nullptr) {
  auto dataset = read_required(layers, "dataset", datasets::find_dataset, problems);
  if (!dataset) return dataset;
  const auto& facts = *datasets::find_dataset(dataset->name).value();
  auto options = change == nullptr ? Result<json::object>(dataset->options) : change(facts, dataset->options);
  datasets::Notes notes;
  if (options) options = datasets::complete_options(facts, std::move(*options), &notes);
  const auto given = *layers.find("dataset");
  for (const auto& note : notes) problems.warn(given.wrong_inside(note, ""));
  if (!options) {
    // An error about several files has a line for each.
    std::istringstream lines(options.error().message);
    for (std::string line; std::getline(lines, line);) problems.add(given.wrong_inside(line, ""));
    return std::nullopt;
  }
  dataset->options = std::move(*options);
  return dataset;
}

// Returns the options that decide which numbers stand for an image: they must agree for all images
// that one head reads.
json::object making_of(const json::object& options) {
  json::object making;
  for (const char* name : {"normalise", "network", "layer", "feature_norm"}) {
    if (const auto* value = options.if_contains(name)) making[name] = *value;
  }
  if (datasets::uses_network(options)) {
    const auto open = hyfreedp::read_options<datasets::OpenOptions>(options);
    making["weights"] = open.weights_sha256.value_or(open.weights.value_or(""));
  }
  return making;
}

// True if both have images that are resized, and not in the same way.
bool is_resized_otherwise(const json::object& options, const json::object& others) {
  const auto* const here = options.if_contains("interpolation");
  const auto* const there = others.if_contains("interpolation");
  return here != nullptr && there != nullptr && *here != *there;
}

std::optional<trial::OodTest> read_one_ood_test(const Entry& entry, const spec::Named& dataset,
                                                const datasets::Sizes& sizes, Problems& problems) {
  static const std::vector<std::string> kTestKeys = {"id", "dataset"};
  const auto before = problems.added();
  if (!entry.check_keys(&kTestKeys, problems)) return std::nullopt;
  trial::OodTest shifted;
  if (const auto id = entry.find("id")) {
    shifted.id = problems.take(read_identifier(*id)).value_or("");
  } else {
    entry.need("id", problems);
  }
  const auto given = entry.find("dataset");
  for (const char* split : {"train", "validation"}) {
    const auto count = given ? given->find(split) : std::nullopt;
    if (count) problems.add(count->wrong("has no effect in 'ood_test', which has test records alone", ""));
  }
  if (problems.added() > before) return std::nullopt;
  auto read = read_dataset(Layers({entry}), problems, datasets::test_alone);
  if (!read) return std::nullopt;
  shifted.dataset = std::move(*read);
  const auto& facts = *datasets::find_dataset(shifted.dataset.name).value();
  const auto fits =
      datasets::check_ood_test(shifted.id, datasets::sizes(facts, shifted.dataset.options), sizes);
  if (!fits) {
    problems.add(given->wrong_inside(fits.error().message, ""));
  } else if (making_of(shifted.dataset.options) != making_of(dataset.options) ||
             is_resized_otherwise(shifted.dataset.options, dataset.options)) {
    problems.add(given->wrong(
        fmt::format("must have its features from the same network and weights as '{}', which is trained on, "
                    "with the same 'normalise', 'interpolation', 'layer' and 'feature_norm'",
                    dataset.name),
        ""));
  }
  if (const auto shared = check_no_record_is_in_both(shifted, dataset, "this panel"); !shared) {
    problems.add(given->wrong_inside(shared.error().message, ""));
  }
  if (fits && facts.name == "image-folder" && dataset.name == facts.name) {
    const auto same = datasets::check_same_classes(shifted.dataset.options, dataset.options);
    if (!same) problems.add(given->wrong_inside(same.error().message, ""));
  }
  if (fits && facts.name == "table-file" && dataset.name == facts.name) {
    const auto same = datasets::check_same_columns(dataset.options, shifted.dataset.options);
    if (!same) problems.add(given->wrong_inside(same.error().message, ""));
    const auto note = datasets::same_reading_note(dataset.options, shifted.dataset.options);
    if (!note) problems.add(given->wrong_inside(note.error().message, ""));
    if (note && !note->empty()) problems.warn(given->remark(*note));
  }
  if (problems.added() > before) return std::nullopt;
  return shifted;
}

std::vector<trial::OodTest> read_ood_test(const Layers& layers, const spec::Named& dataset,
                                          const datasets::Sizes& sizes, Problems& problems) {
  std::vector<trial::OodTest> all;
  const auto given = layers.find("ood_test");
  if (!given) return all;
  const auto entries = problems.take(given->list());
  if (!entries) return all;
  for (const auto& entry : *entries) {
    auto one = read_one_ood_test(entry, dataset, sizes, problems);
    if (!one) continue;
    const auto same = [&](const trial::OodTest& other) { return other.id == one->id; };
    if (std::ranges::any_of(all, same)) {
      problems.add(entry.wrong(fmt::format("is a second set '{}'; give it another 'id'", one->id),
                               "id: " + one->id + "-2"));
    }
    all.push_back(std::move(*one));
  }
  return all;
}

// Warns of the weights that training begins with, and of those that make the features.
void warn_of_weights(const Entry& entry, const spec::Named& dataset, const spec::Named& model,
                     Problems& problems) {
  const auto& facts = *datasets::find_dataset(dataset.name).value();
  const auto warn = [&](const std::string& note) {
    if (!note.empty()) problems.warn(entry.remark(note));
  };
  for (const auto* options : {&model.options, &dataset.options}) {
    const auto weights = models::weights_named(*options);
    // If a network makes features, the model sees no pixels.
    const bool of_features = options == &dataset.options;
    if (of_features == datasets::uses_network(dataset.options)) {
      const auto network =
          of_features ? hyfreedp::read_options<datasets::OpenOptions>(dataset.options).network.value_or("")
                      : model.name;
      warn(datasets::scale_note(facts, dataset.options, network, weights));
      warn(datasets::interpolation_note(facts, dataset.options, weights));
      warn(models::positions_note(network, weights));
    }
    warn(datasets::overlap_note(facts, weights));
    warn(datasets::centred_note(weights));
  }
  warn(datasets::tokenizer_note(dataset.options, models::weights_named(model.options)));
  warn(datasets::base_note(model.options));
  warn(datasets::pool_note(model.options));
}

void warn_of_weights(const Entry& entry, const std::vector<trial::OodTest>& sets, const json::object& model,
                     Problems& problems) {
  for (const auto& one : sets) {
    const auto& facts = *datasets::find_dataset(one.dataset.name).value();
    for (const auto* options : {&model, &one.dataset.options}) {
      const auto overlap = datasets::seen_test_note(facts, models::weights_named(*options));
      if (!overlap.empty()) problems.warn(entry.remark(overlap));
    }
  }
}

// A model's options cover its weights file too.
std::optional<spec::Named> read_model(const Layers& layers, Problems& problems) {
  auto model = read_required(layers, "model", models::find_model, problems);
  if (!model) return model;
  auto completed = models::complete_options(model->options);
  if (!completed) {
    problems.add(layers.find("model")->wrong_inside(completed.error().message, ""));
    return std::nullopt;
  }
  model->options = std::move(*completed);
  return model;
}

// The order of the classes in a head that the weights bring.
void check_head_names(const Entry& entry, const spec::Named& dataset, const spec::Named& model,
                      Problems& problems) {
  const auto& facts = *datasets::find_dataset(dataset.name).value();
  const auto note = datasets::head_names_note(facts, dataset.options, model.name, model.options);
  if (!note) problems.add(entry.wrong_inside(note.error().message, ""));
  if (note && !note->empty()) problems.warn(entry.remark(*note));
}

// Names and shapes need no data, so that weights of another network do not wait for a run to fail.
void check_weights(const Entry& entry, const spec::Named& model, const models::ModelInput& input,
                   Problems& problems) {
  const auto plan = models::blueprint(model.name, model.options, input).value();
  if (const auto fits = models::check_fit(plan, model.options); !fits) {
    problems.add(entry.wrong_inside(fits.error().message, ""));
    return;
  }
  for (const auto& note :
       {models::fit_note(plan, model.options), models::frozen_head_note(plan, model.options)}) {
    if (!note.empty()) problems.warn(entry.remark(note));
  }
}

}  // namespace

PanelData read_data_and_model(const Layers& layers, Problems& problems) {
  PanelData panel;
  panel.dataset = read_dataset(layers, problems);
  panel.model = read_model(layers, problems);
  if (!panel.dataset) return panel;
  const auto& facts = *datasets::find_dataset(panel.dataset->name).value();
  if (facts.test_only) {
    problems.add(layers.find("dataset")->wrong(
        fmt::format(
            "is {}, which is a test set alone; train on another dataset, and name it under 'ood_test'",
            facts.name),
        example_at("ood_test")));
    return panel;
  }
  panel.sizes = datasets::sizes(facts, panel.dataset->options);
  panel.ood_test = read_ood_test(layers, *panel.dataset, *panel.sizes, problems);
  if (!panel.model) return panel;
  const auto dimension =
      models::parameter_count(panel.model->name, panel.model->options, models::model_input(*panel.sizes));
  if (!dimension) {
    problems.add(layers.find("model")->wrong_inside(dimension.error().message, ""));
    return panel;
  }
  panel.dimension = *dimension;
  check_weights(*layers.find("model"), *panel.model, models::model_input(*panel.sizes), problems);
  check_head_names(*layers.find("model"), *panel.dataset, *panel.model, problems);
  if (const auto same = datasets::check_columns_of_weights(facts, panel.dataset->options,
                                                           models::weights_named(panel.model->options));
      !same) {
    problems.add(layers.find("model")->wrong_inside(same.error().message, ""));
  }
  return panel;
}

void warn_of_weights(const Layers& layers, const Entry& entry, const PanelData& panel, Problems& problems) {
  warn_of_weights(*layers.find("dataset"), *panel.dataset, *panel.model, problems);
  warn_of_weights(layers.find("ood_test").value_or(entry), panel.ood_test, panel.model->options, problems);
}

}  // namespace hyfreedp::runner
