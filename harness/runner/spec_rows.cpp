#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <set>
#include <utility>

#include "baselines/baseline.h"
#include "harness/base/text.h"
#include "harness/runner/spec.h"
#include "harness/runner/spec_each.h"

namespace hyfreedp::runner {
namespace {

const std::vector<std::string> kRowKeys = {"id",      "use",   "method",   "title",     "epsilon",
                                           "seeds",   "steps", "footnote", "footnotes", "options",
                                           "control", "train", "each",     "group",     "paper"};
// Of a row's `train`, beside the training options.
const std::vector<std::string> kRowTrainKeys = {"optimizer", "clipping_constant"};

Result<std::string> row_id(const Layers& layers) {
  if (const auto id = layers.find("id")) return read_identifier(*id);
  if (const auto method = layers.find("method")) return read_identifier(*method);
  return layers.wrong("needs 'method'");
}

Result<const baselines::Baseline*> row_method(const Layers& layers) {
  const auto method = layers.find("method");
  if (!method) return layers.wrong("needs 'method'");
  const auto name = method->text();
  if (!name) return name.error();
  const auto found = baselines::find_baseline(*name);
  if (!found) return in_context(method->where(), found.error());
  return *found;
}

Result<json::array> row_epsilons(const Layers& layers, const PanelFrame& frame,
                                 const baselines::Baseline& method) {
  auto epsilons = frame.epsilons;
  const auto given = layers.find("epsilon");
  if (given) {
    auto own = read_epsilons(*given);
    if (!own) return own.error();
    epsilons = *own;
  }
  if (method.has_non_private_arm) return epsilons;
  json::array finite;
  for (const auto& epsilon : epsilons) {
    if (!epsilon.is_string()) finite.push_back(epsilon);
  }
  if (finite.empty()) {
    return (given ? *given : *layers.find("method"))
        .wrong(fmt::format("leaves nothing to run: {} has no non-private arm", method.name));
  }
  return finite;
}

// Fewer seeds than the panel has are said in the table, never silently run.
std::string fewer_seeds_note(std::size_t own, std::size_t panel) {
  return fmt::format("{} seed{} instead of {}.", own, own == 1 ? "" : "s", panel);
}

// A row's own arm, else the panel's, in JSON only where it is not the usual one; said in the table where the spec says it.
Result<void> add_control(const Layers& layers, const PanelFrame& frame, const json::array& epsilons,
                         json::object& row) {
  std::string control = frame.control;
  const auto given = layers.find("control");
  if (given) {
    const auto own = given->text();
    if (!own) return own.error();
    const auto choices = control_option().choices;
    if (std::find(choices.begin(), choices.end(), *own) == choices.end()) {
      return given->wrong(fmt::format("must be one of {}, not '{}'", join(choices, ", "), *own));
    }
    control = *own;
  }
  const bool has_arm = std::any_of(epsilons.begin(), epsilons.end(),
                                   [](const json::value& epsilon) { return epsilon.is_string(); });
  if (!has_arm) return {};
  if (control != "sampling-only") row["control"] = control;
  if (!given && !frame.control_given) return {};
  row.at("footnotes")
      .as_array()
      .emplace_back(
          control == "none" ? "Non-private: shuffled batches, without clipping and noise."
          : control == "clip-only"
              ? "Non-private: batches drawn and clipped as in the private columns, without noise."
              : "Non-private: batches drawn as in the private columns, without clipping and noise.");
  return {};
}

// Where a row says how it trains, that and the panel's together; empty where it says nothing.
Result<std::optional<json::object>> row_training(const Layers& layers, const PanelFrame& frame) {
  auto train = layers.below("train");
  if (train.empty()) return std::optional<json::object>();
  auto valid = training_option_names();
  valid.insert(valid.end(), kRowTrainKeys.begin(), kRowTrainKeys.end());
  if (auto checked = train.check_keys(valid); !checked) return checked.error();
  const auto& names = training_option_names();
  const bool says = std::any_of(names.begin(), names.end(),
                                [&](const std::string& name) { return train.find(name).has_value(); });
  if (!says) return std::optional<json::object>();
  for (const auto& map : frame.train.maps()) train.add(map);
  auto training = read_training(train);
  if (!training) return training.error();
  return std::optional(std::move(*training));
}

// What a row's `train` says instead of the panel's: another optimizer, or options of the panel's; another clipping constant.
Result<void> add_own_training(const Layers& layers, const PanelFrame& frame, json::object& row) {
  auto train = layers.below("train");
  if (train.find("optimizer")) {
    auto all = train;
    for (const auto& map : frame.train.maps()) all.add(map);
    auto optimizer = read_optimizer(all);
    if (!optimizer) return optimizer.error();
    row["optimizer"] = std::move(*optimizer);
  }
  const auto constant = train.find("clipping_constant");
  if (!constant) return {};
  for (const auto& option : train_options()) {
    if (option.name != "clipping_constant") continue;
    const auto clipping = frame.train.find("clipping");
    if (clipping && clipping->text().has_value() && *clipping->text() == "auto-v") {
      return constant->wrong("is for clippings with a constant, and auto-v has none");
    }
    const auto checked =
        options_from({option}, Layers({constant->nested({option.name}, train.maps().front().path())}));
    if (!checked) return checked.error();
    row[option.name] = double_or(*checked, option.name, 0);
  }
  return {};
}

Result<json::object> read_row(const ExpandedRow& expanded, const PanelFrame& frame) {
  const auto& layers = expanded.layers;
  if (auto checked = layers.check_keys(kRowKeys); !checked) return checked.error();
  const auto base_id = row_id(layers);
  if (!base_id) return base_id.error();
  const auto id = *base_id + expanded.id_suffix;
  const auto method = row_method(layers);
  if (!method) return method.error();
  const auto options = options_from((**method).options, layers.below("options"));
  if (!options) return options.error();
  const auto epsilons = row_epsilons(layers, frame, **method);
  if (!epsilons) return epsilons.error();

  auto seeds = frame.seeds;
  if (const auto given = layers.find("seeds")) {
    auto own = read_seeds(*given);
    if (!own) return own.error();
    seeds = *own;
  }
  auto steps = frame.steps;
  if (const auto given = layers.find("steps")) {
    const auto own = given->integer();
    if (!own) return own.error();
    if (*own < 1) return given->wrong("must be at least 1");
    steps = *own;
  }
  std::string title = (**method).title;
  if (const auto given = layers.find("title")) {
    auto own = given->text();
    if (!own) return own.error();
    title = *own;
  }
  title += expanded.title_suffix;
  json::array footnotes;
  for (const char* key : {"footnote", "footnotes"}) {
    const auto texts = read_texts(layers.find(key));
    if (!texts) return texts.error();
    footnotes.insert(footnotes.end(), texts->begin(), texts->end());
  }
  const auto training = row_training(layers, frame);
  if (!training) return training.error();
  if (*training) add_notes(**training, footnotes);
  if (seeds.size() < frame.seeds.size() && footnotes.empty()) {
    footnotes.emplace_back(fewer_seeds_note(seeds.size(), frame.seeds.size()));
  }
  json::object row{{"id", id},
                   {"method", (**method).name},
                   {"title", title},
                   {"label", baselines::to_string(baselines::reading_of(**method, *options).label)},
                   {"options", *options},
                   {"seeds", json::value_from(seeds)},
                   {"epsilons", *epsilons},
                   {"steps", steps},
                   {"footnotes", footnotes}};
  if (auto added = add_control(layers, frame, *epsilons, row); !added) return added.error();
  if (*training) row["training"] = **training;
  if (auto added = add_own_training(layers, frame, row); !added) return added.error();
  if (const auto given = layers.find("group")) {
    const auto group = read_identifier(*given);
    if (!group) return group.error();
    row["group"] = *group;
  } else if (!expanded.id_suffix.empty()) {
    row["group"] = *base_id;
  }
  // A row shared by panels may have a label that only some of them have a use for.
  if (const auto given = layers.find("paper"); given && frame.paper) {
    auto cells = paper_cells(*given, *frame.paper, *epsilons);
    if (!cells) return cells.error();
    row["paper"] = std::move(*cells);
  }
  return row;
}

Result<Entry> shared_row(const Entry& reference, const std::vector<Entry>& shared) {
  const auto wanted = reference.text();
  if (!wanted) return wanted.error();
  std::vector<std::string> ids;
  for (const auto& row : shared) {
    const auto id = row_id(Layers({row}));
    if (!id) return id.error();
    if (*id == *wanted) return row;
    ids.push_back(*id);
  }
  return error(fmt::format("{} names no row of the top-level 'rows': '{}'.{} Rows: {}.", reference.where(),
                           *wanted, did_you_mean(*wanted, ids), ids.empty() ? "none" : join(ids, ", ")));
}

// The layers of each row that a panel asks for, the topmost first.
Result<std::vector<Layers>> rows_wanted(const Entry& panel, const std::optional<Entry>& rows,
                                        const std::vector<Entry>& shared) {
  std::vector<Layers> wanted;
  if (!rows || rows->is_text()) {
    if (rows && rows->text().value() != "default") {
      return rows->wrong("must be 'default' (all rows of the top-level 'rows') or a list");
    }
    if (shared.empty())
      return (rows ? *rows : panel).wrong("has no rows: give 'rows' here or at the top level");
    for (const auto& row : shared) wanted.emplace_back(std::vector{row});
    return wanted;
  }
  const auto items = rows->list();
  if (!items) return items.error();
  for (const auto& item : *items) {
    Layers layers;
    const auto reference = item.is_map() ? item.find("use") : std::optional<Entry>(item);
    if (item.is_map()) layers.add(item);
    if (reference) {
      const auto row = shared_row(*reference, shared);
      if (!row) return row.error();
      layers.add(*row);
    }
    wanted.push_back(std::move(layers));
  }
  if (wanted.empty()) return rows->wrong("must have at least one row");
  return wanted;
}

}  // namespace

Result<std::string> read_identifier(const Entry& entry) {
  const auto text = entry.text();
  if (!text) return text.error();
  if (auto checked = check_identifier(entry, *text); !checked) return checked.error();
  return *text;
}

Result<void> check_identifier(const Entry& place, const std::string& name) {
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.';
  };
  if (name.empty() || name.front() == '.' || !std::all_of(name.begin(), name.end(), allowed)) {
    return place.wrong(fmt::format("must be a name of letters, digits, '-', '_' and '.', not '{}'", name));
  }
  return {};
}

Result<json::array> read_texts(const std::optional<Entry>& entry) {
  json::array texts;
  if (!entry) return texts;
  std::vector<Entry> entries{*entry};
  if (entry->is_list()) entries = entry->list().value();
  for (const auto& one : entries) {
    const auto text = one.text();
    if (!text) return text.error();
    texts.emplace_back(*text);
  }
  return texts;
}

Result<std::vector<std::int64_t>> read_seeds(const Entry& entry) {
  const auto entries = entry.list();
  if (!entries) return entries.error();
  std::vector<std::int64_t> seeds;
  for (const auto& one : *entries) {
    const auto seed = one.integer();
    if (!seed) return seed.error();
    if (*seed < 0) return one.wrong("must not be negative");
    if (std::find(seeds.begin(), seeds.end(), *seed) != seeds.end()) {
      return one.wrong(fmt::format("repeats the seed {}", *seed));
    }
    seeds.push_back(*seed);
  }
  if (seeds.empty()) return entry.wrong("must have at least one seed");
  return seeds;
}

Result<json::array> read_epsilons(const Entry& entry) {
  std::vector<Entry> entries{entry};
  if (entry.is_list()) entries = entry.list().value();
  json::array epsilons;
  std::set<double> seen;
  for (const auto& one : entries) {
    const auto epsilon = one.number();
    if (!epsilon) return epsilon.error();
    if (!(*epsilon > 0)) return one.wrong("must be positive (or inf for the non-private arm)");
    if (!seen.insert(*epsilon).second) return one.wrong("repeats an epsilon");
    epsilons.push_back(number(*epsilon));
  }
  if (epsilons.empty()) return entry.wrong("must have at least one epsilon");
  return epsilons;
}

Result<json::array> read_rows(const Entry& panel, const std::optional<Entry>& rows,
                              const std::vector<Entry>& shared, const PanelFrame& frame) {
  const auto wanted = rows_wanted(panel, rows, shared);
  if (!wanted) return wanted.error();
  json::array resolved;
  std::set<std::string> ids;
  for (const auto& layers : *wanted) {
    const auto expanded = expand_each(layers);
    if (!expanded) return expanded.error();
    for (const auto& one : *expanded) {
      auto row = read_row(one, frame);
      if (!row) return row.error();
      const std::string id(row->at("id").as_string());
      if (!ids.insert(id).second) {
        return layers.wrong(
            fmt::format("is a second row '{}' in {}; give it another 'id'", id, panel.path()));
      }
      resolved.emplace_back(std::move(*row));
    }
  }
  return resolved;
}

}  // namespace hyfreedp::runner
