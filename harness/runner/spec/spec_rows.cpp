#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <set>
#include <utility>

#include "baselines/baseline.h"
#include "baselines/private_selection.h"
#include "harness/base/text.h"
#include "harness/runner/spec/mistakes/spec_examples.h"
#include "harness/runner/spec/spec.h"
#include "harness/runner/spec/spec_each.h"
#include "harness/trial/training_options.h"
#include "optimizers/facts.h"

namespace hyfreedp::runner {

const std::vector<std::string>& row_keys() {
  static const std::vector<std::string> keys = {"id",      "use",   "method",   "title",     "epsilon",
                                                "seeds",   "steps", "footnote", "footnotes", "options",
                                                "control", "train", "each",     "group",     "paper"};
  return keys;
}

const std::vector<std::string>& row_train_keys() {
  static const std::vector<std::string> keys = {"optimizer", "clipping_constant"};
  return keys;
}

namespace {

std::optional<std::string> row_id(const Layers& layers, Problems& problems) {
  if (const auto id = layers.find("id")) return problems.take(read_identifier(*id));
  if (const auto method = layers.find("method")) return problems.take(read_identifier(*method));
  return std::nullopt;
}

// Null where it is missing or not known.
const baselines::Baseline* row_method(const Layers& layers, Problems& problems) {
  const auto method = layers.find("method");
  if (!method) {
    layers.need("method", problems);
    return nullptr;
  }
  const auto name = problems.take(method->text());
  if (!name) return nullptr;
  const auto found = baselines::find_baseline(*name);
  if (found) return *found;
  problems.add(method->wrong(found.error()));
  return nullptr;
}

bool is_infinite(double epsilon) { return std::isinf(epsilon); }

std::optional<std::vector<double>> row_epsilons(const Layers& layers, const PanelFrame& frame,
                                                const baselines::Baseline* method, Problems& problems) {
  auto epsilons = frame.epsilons;
  const auto given = layers.find("epsilon");
  if (frame.has_fixed_noise) {
    if (given) problems.add(given->wrong("is not read beside the panel's 'noise_multiplier'", ""));
    if (method != nullptr && !method->needs_epsilon.empty()) {
      problems.add(layers.find("method")->wrong(
          fmt::format("cannot have a fixed 'noise_multiplier': {} {}; give the panel 'epsilon' instead",
                      method->name, method->needs_epsilon),
          example_at("epsilon")));
    }
    return epsilons;
  }
  if (given) {
    auto own = read_epsilons(*given, problems);
    if (!own) return std::nullopt;
    epsilons = std::move(*own);
  }
  if (method == nullptr || method->has_non_private_arm || epsilons.empty()) return epsilons;
  std::erase_if(epsilons, is_infinite);
  if (!epsilons.empty()) return epsilons;
  problems.add((given ? *given : *layers.find("method"))
                   .wrong(fmt::format("leaves nothing to run: {} has no non-private arm", method->name)));
  return std::nullopt;
}

// Fewer seeds than the panel has are said in the table, never silently run.
std::string fewer_seeds_note(std::size_t own, const PanelFrame& frame) {
  const auto panel = frame.seeds.size();
  if (frame.has_sequential_seeds) {
    return fmt::format("{}, however many the comparison of the panel needs.",
                       counted(static_cast<std::int64_t>(own), "seed"));
  }
  return fmt::format("{} instead of {}.", counted(static_cast<std::int64_t>(own), "seed"), panel);
}

// A row's own arm, else the panel's; said in the table where the spec says it.
void read_control(const Layers& layers, const PanelFrame& frame, const std::vector<double>& epsilons,
                  spec::Row& row, Problems& problems) {
  auto control = frame.control;
  const auto given = layers.find("control");
  if (given) {
    const auto text = problems.take(given->text());
    if (!text) return;
    const auto own = enum_from<spec::Control>(*text, "");
    if (!own) {
      problems.add(given->wrong(
          fmt::format("must be one of {}, not '{}'", join(names_of<spec::Control>(), ", "), *text)));
      return;
    }
    control = *own;
  }
  if (std::none_of(epsilons.begin(), epsilons.end(), is_infinite)) return;
  row.control = control;
  if (!given && !frame.control_given) return;
  row.footnotes.emplace_back(
      control == spec::Control::none ? "Non-private: shuffled batches, without clipping and noise."
      : control == spec::Control::clip_only
          ? "Non-private: batches drawn and clipped as in the private columns, without noise."
          : "Non-private: batches drawn as in the private columns, without clipping and noise.");
}

// A precision of losses that no run releases.
void check_probe_precision(const Layers& train, bool any_probes, Problems& problems) {
  const auto given = train.find("probe_precision");
  if (!given || any_probes) return;
  problems.add(
      given->wrong("is of the losses that a learning-rate probe releases, and no method here has one", ""));
}

// Returns the training options of the row and the panel together; none if the row gives none.
std::optional<trial::TrainingOptions> row_training(const Layers& layers, const PanelFrame& frame,
                                                   Problems& problems) {
  auto train = layers.below("train");
  if (train.empty()) return std::nullopt;
  auto valid = training_option_names();
  valid.insert(valid.end(), row_train_keys().begin(), row_train_keys().end());
  train.check_keys(valid, problems, &trial::training_option_table());
  const auto& names = training_option_names();
  const bool says = std::any_of(names.begin(), names.end(),
                                [&](const std::string& name) { return train.find(name).has_value(); });
  if (!says) return std::nullopt;
  for (const auto& map : frame.train.maps()) train.add(map);
  return read_training(train, problems);
}

// Adds what a row's `train` sets instead of the panel's: another optimizer, or options of the
// panel's; another clipping constant.
void add_own_training(const Layers& layers, const PanelFrame& frame, spec::Row& row, Problems& problems) {
  auto train = layers.below("train");
  if (train.find("optimizer")) {
    auto all = train;
    for (const auto& map : frame.train.maps()) all.add(map);
    row.optimizer = read_optimizer(all, problems);
  }
  const auto constant = train.find("clipping_constant");
  if (!constant) return;
  for (const auto& option : train_options()) {
    if (option.name != "clipping_constant") continue;
    const auto clipping = frame.train.find("clipping");
    if (clipping && clipping->text().has_value() && *clipping->text() == "auto-v") {
      problems.add(constant->wrong("is for clippings with a constant, and auto-v has none", ""));
      return;
    }
    const auto checked = options_from(
        {option}, Layers({constant->nested({option.name}, train.maps().front().path())}), problems);
    if (checked) row.clipping_constant = double_or(*checked, option.name, 0);
  }
}

// Checks what the row's own and the panel's `train` say together; a panel's alone are checked with
// it.
void check_row_average(const Layers& layers, const PanelFrame& frame, const spec::Row& row,
                       std::int64_t steps, Problems& problems) {
  if (!row.training && !row.optimizer && steps == frame.steps) return;
  const auto& training = row.training ? row.training : frame.training;
  const auto& optimizer = row.optimizer ? row.optimizer : frame.optimizer;
  if (!training || !optimizer) return;
  auto train = layers.below("train");
  for (const auto& map : frame.train.maps()) train.add(map);
  check_average(*training, *optimizer, steps, train, problems);
}

// A method's own average, and one that the row or the panel asks for.
void check_average_part(const Layers& layers, const PanelFrame& frame, const spec::Row& row,
                        Problems& problems) {
  const auto own = layers.below("options").find("average_part");
  const auto& training = row.training ? row.training : frame.training;
  if (!own || !training || training->average == trial::Average::none) return;
  problems.add(own->wrong("is not read beside 'train.average'; keep one", ""));
}

// `paper` of a row; its `ood_test` says where the cells of these sets are, as far as they are not
// where the row's own are.
void read_paper(const Entry& given, const PanelFrame& frame, const std::vector<double>& epsilons,
                spec::Row& row, Problems& problems) {
  const auto own = given.is_map() ? given.without("ood_test") : given;
  if (auto cells = paper_cells(own, *frame.paper, epsilons, problems)) row.paper = std::move(*cells);
  const auto sets = given.find("ood_test");
  if (!sets || !sets->check_keys(&frame.ood_test, problems)) return;
  for (const auto& id : sets->keys()) {
    const auto place = sets->find(id);
    if (!place || !place->check_keys(nullptr, problems)) continue;
    auto cells = paper_cells(own.overlaid(*place), *frame.paper, epsilons, problems);
    if (cells) row.paper_ood_test[id] = std::move(*cells);
  }
}

// The loss bound of a method's scores; 0 where it has none, or no scores.
double score_loss_bound(const baselines::Baseline& method, const json::object& options) {
  const auto& reading = baselines::reading_of(method, options);
  if (!reading.releases_scores || !reading.releases_scores(options)) return 0;
  return hyfreedp::read_options<baselines::ScoreOptions>(options).score_loss_bound;
}

// A method that chooses needs something to choose by, and a private accuracy may be released only
// where a record has one prediction.
void check_choice(const Layers& layers, const baselines::Baseline& method, const json::object& options,
                  const PanelFrame& frame, Problems& problems) {
  const auto& reading = baselines::reading_of(method, options);
  const bool noised = reading.releases_scores && reading.releases_scores(options);
  if (!noised && reading.label != baselines::Label::oracle) return;
  using enum datasets::ScoreKind;
  const bool by_loss = score_loss_bound(method, options) > 0;
  const auto lack = datasets::lacks_score(frame.labels, !noised   ? accuracy
                                                        : by_loss ? noised_loss
                                                                  : noised_accuracy);
  if (lack.empty()) return;
  problems.add(layers.find("method")->wrong(
      fmt::format("chooses among runs, and '{}' has {}", frame.dataset, lack), ""));
}

// A mistake if PLD is asked for and RDP alone can set the noise of a row.
void check_accountant(const Layers& layers, const baselines::Baseline& method, const json::object& options,
                      const PanelFrame& frame, Problems& problems) {
  const auto found = baselines::noise_accountant(method, options, frame.accountant);
  if (found) return;
  const auto own = layers.below("options").find("accountant");
  problems.add(own.value_or(*layers.find("method")).wrong_inside(found.error().message, ""));
}

// Checks the options of a method against each other.
void check_options(const baselines::Baseline& method, const json::object& options, const Layers& layers,
                   Problems& problems) {
  if (!method.check) return;
  const auto checked = method.check(options);
  if (checked) return;
  const auto given = layers.find("options");
  problems.add(given.value_or(*layers.find("method")).wrong_inside(checked.error().message, ""));
}

std::optional<spec::Row> read_row(const ExpandedRow& expanded, const PanelFrame& frame, Problems& problems) {
  const auto before = problems.added();
  const auto& layers = expanded.layers;
  layers.check_keys(row_keys(), problems);
  const auto base_id = row_id(layers, problems);
  const auto* method = row_method(layers, problems);
  std::optional<json::object> options;
  if (method != nullptr) options = options_from(method->options, layers.below("options"), problems);
  if (options) check_options(*method, *options, layers, problems);
  const auto epsilons = row_epsilons(layers, frame, method, problems);
  if (options) check_choice(layers, *method, *options, frame, problems);
  if (options) check_accountant(layers, *method, *options, frame, problems);
  auto seeds = std::optional(frame.seeds);
  if (const auto given = layers.find("seeds")) seeds = read_seeds(*given, problems);
  auto steps = std::optional(frame.steps);
  if (const auto given = layers.find("steps")) {
    steps = problems.take(given->integer());
    if (steps && *steps < 1) problems.add(given->wrong("must be at least 1"));
  }
  std::optional<std::string> title = method == nullptr ? "" : method->title;
  if (const auto given = layers.find("title")) title = problems.take(given->text());
  spec::Row row;
  const auto add_notes = [&](const std::vector<std::string>& notes) {
    row.footnotes.insert(row.footnotes.end(), notes.begin(), notes.end());
  };
  for (const char* key : {"footnote", "footnotes"}) {
    if (const auto texts = problems.take(read_texts(layers.find(key)))) add_notes(*texts);
  }
  row.training = row_training(layers, frame, problems);
  if (method != nullptr) check_probe_precision(layers.below("train"), method->probes, problems);
  if (row.training) add_notes(row.training->notes());
  if (seeds && seeds->size() < frame.seeds.size() && row.footnotes.empty()) {
    row.footnotes.push_back(fewer_seeds_note(seeds->size(), frame));
  }
  read_control(layers, frame, epsilons.value_or(std::vector<double>{}), row, problems);
  add_own_training(layers, frame, row, problems);
  check_row_average(layers, frame, row, steps.value_or(0), problems);
  check_average_part(layers, frame, row, problems);
  if (const double bound = options ? score_loss_bound(*method, *options) : 0; bound > 0) {
    row.footnotes.push_back(fmt::format(
        "Runs are chosen by noised means of validation losses, each clipped at {}.", short_number(bound)));
  }
  if (const auto given = layers.find("group")) {
    if (const auto group = problems.take(read_identifier(*given))) row.group = *group;
  } else if (base_id && !expanded.id_suffix.empty()) {
    row.group = *base_id;
  }
  // A row shared by panels may have a label that only some of them have a use for.
  if (const auto given = layers.find("paper"); given && frame.paper && epsilons) {
    read_paper(*given, frame, *epsilons, row, problems);
  }
  if (problems.added() > before) return std::nullopt;
  row.id = *base_id + expanded.id_suffix;
  row.method = method->name;
  row.title = *title + expanded.title_suffix;
  row.label = baselines::to_string(baselines::reading_of(*method, *options).label);
  row.options = std::move(*options);
  row.seeds = std::move(*seeds);
  row.epsilons = *epsilons;
  row.steps = *steps;
  return row;
}

std::vector<std::string> method_names() {
  std::vector<std::string> names;
  for (const auto& method : baselines::registry()) names.push_back(method.name);
  return names;
}

// The row that a panel's plain text asks for: a shared one, or one of the method of that name.
std::optional<Entry> row_named(const Entry& reference, const std::vector<Entry>& shared, Problems& problems) {
  const auto wanted = problems.take(reference.text());
  if (!wanted) return std::nullopt;
  std::vector<std::string> ids;
  Problems said_elsewhere("");  // of the shared rows
  for (const auto& row : shared) {
    const auto id = row_id(Layers({row}), said_elsewhere);
    if (!id) continue;
    if (*id == *wanted) return row;
    ids.push_back(*id);
  }
  if (baselines::find_baseline(*wanted)) return reference.nested({"method"}, reference.path());
  auto known = ids;
  for (const auto& name : method_names()) {
    if (std::find(known.begin(), known.end(), name) == known.end()) known.push_back(name);
  }
  const auto what = ids.empty() ? std::string("is not a method")
                                : "is neither a method nor one of the rows " + join(ids, ", ");
  problems.add(reference.wrong_inside(fmt::format("'{}' {}.{} Methods: {}", *wanted, what,
                                                  did_you_mean(*wanted, known), join(method_names(), ", ")),
                                      ""));
  return std::nullopt;
}

// The layers of each row that a panel asks for, the topmost first.
std::vector<Layers> rows_wanted(const Entry& panel, const std::optional<Entry>& rows,
                                const std::vector<Entry>& shared, const PanelFrame& frame,
                                Problems& problems) {
  std::vector<Layers> wanted;
  if (!rows || rows->is_text()) {
    if (rows && rows->text().value() != "default") {
      problems.add(rows->wrong("must be 'default' (all rows of the top-level 'rows') or a list"));
      return wanted;
    }
    if (shared.empty() && frame.shared_are_known) {
      if (rows) {
        problems.add(rows->wrong("has no rows: the top level has no 'rows'"));
      } else {
        panel.need("rows", problems);
      }
    }
    for (const auto& row : shared) wanted.emplace_back(std::vector{row});
    return wanted;
  }
  const auto items = problems.take(rows->list());
  if (!items) return wanted;
  if (items->empty()) problems.add(rows->wrong("must have at least one row"));
  for (const auto& item : *items) {
    Layers layers;
    const auto reference = item.is_map() ? item.find("use") : std::optional<Entry>(item);
    if (item.is_map()) layers.add(item);
    if (reference) {
      const auto row = row_named(*reference, shared, problems);
      if (!row) continue;
      layers.add(*row);
    }
    wanted.push_back(std::move(layers));
  }
  return wanted;
}

// Columns of a table are told apart by their headings.
std::string headed_alike(double one, double other) {
  return fmt::format("has {} and {}, and both columns would be headed {}; leave one out", one, other,
                     short_number(one));
}

// Numbers that are valid, each once and at least one; a single number is a list of one. `what`: one
// of them.
std::optional<std::vector<double>> read_distinct(const Entry& entry, const std::string& what,
                                                 bool (*is_valid)(double), const std::string& otherwise,
                                                 Problems& problems) {
  const auto before = problems.added();
  std::vector<Entry> entries{entry};
  if (entry.is_list()) entries = entry.list().value();
  std::vector<double> numbers;
  std::map<std::string, double> seen;  // by their heading
  for (const auto& one : entries) {
    const auto number = problems.take(one.number());
    if (!number) continue;
    if (!is_valid(*number)) {
      problems.add(one.wrong(otherwise));
      continue;
    }
    const auto [known, is_new] = seen.emplace(short_number(*number), *number);
    if (!is_new) {
      problems.add(
          one.wrong(known->second == *number ? "repeats " + what : headed_alike(known->second, *number)));
    }
    numbers.push_back(*number);
  }
  if (entries.empty()) problems.add(entry.wrong("must have at least one " + what.substr(what.find(' ') + 1)));
  if (problems.added() > before) return std::nullopt;
  return numbers;
}

}  // namespace

Result<std::string> read_identifier(const Entry& entry) {
  const auto text = entry.text();
  if (!text) return text.error();
  if (auto checked = check_identifier(entry, *text); !checked) return checked.error();
  return *text;
}

bool is_identifier(const std::string& name) {
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.';
  };
  return !name.empty() && name.front() != '.' && std::all_of(name.begin(), name.end(), allowed);
}

Result<void> check_identifier(const Entry& place, const std::string& name) {
  if (name.size() > kLongestName) {
    return place.wrong(
        fmt::format("has {} characters, and a name may have {}, since files are named by it: '{}...'",
                    name.size(), kLongestName, name.substr(0, 20)));
  }
  if (is_identifier(name)) return {};
  return place.wrong(fmt::format("must be a name of letters, digits, '-', '_' and '.', not '{}'", name));
}

Result<std::vector<std::string>> read_texts(const std::optional<Entry>& entry) {
  std::vector<std::string> texts;
  if (!entry) return texts;
  std::vector<Entry> entries{*entry};
  if (entry->is_list()) entries = entry->list().value();
  for (const auto& one : entries) {
    const auto text = one.text();
    if (!text) return text.error();
    texts.push_back(*text);
  }
  return texts;
}

std::optional<std::vector<std::int64_t>> read_seeds(const Entry& entry, Problems& problems) {
  const auto before = problems.added();
  const auto entries = problems.take(entry.list());
  if (!entries) return std::nullopt;
  std::vector<std::int64_t> seeds;
  for (const auto& one : *entries) {
    const auto seed = problems.take(one.integer());
    if (!seed) continue;
    if (*seed < 0) problems.add(one.wrong("must not be negative"));
    if (std::find(seeds.begin(), seeds.end(), *seed) != seeds.end()) {
      problems.add(one.wrong(fmt::format("repeats the seed {}", *seed)));
    }
    seeds.push_back(*seed);
  }
  if (entries->empty()) problems.add(entry.wrong("must have at least one seed"));
  if (problems.added() > before) return std::nullopt;
  return seeds;
}

std::optional<std::vector<double>> read_epsilons(const Entry& entry, Problems& problems) {
  return read_distinct(
      entry, "an epsilon", [](double epsilon) { return epsilon > 0; },
      "must be positive (or inf for the non-private arm)", problems);
}

std::optional<std::vector<double>> read_noise_multipliers(const Entry& entry, Problems& problems) {
  return read_distinct(
      entry, "a noise multiplier", [](double noise) { return noise > 0 && std::isfinite(noise); },
      "must be positive and finite (without noise: epsilon: [inf])", problems);
}

std::vector<Entry> read_shared_rows(const Entry& rows, Problems& problems) {
  std::vector<Entry> shared;
  const auto items = problems.take(rows.list());
  if (!items) return shared;
  for (const auto& item : *items) {
    if (item.is_text()) {
      if (const auto row = row_named(item, {}, problems)) shared.push_back(*row);
    } else if (item.check_keys(nullptr, problems)) {
      shared.push_back(item);
    }
  }
  return shared;
}

std::optional<std::vector<spec::Row>> read_rows(const Entry& panel, const std::optional<Entry>& rows,
                                                const std::vector<Entry>& shared, const PanelFrame& frame,
                                                Problems& problems) {
  const auto before = problems.added();
  std::vector<spec::Row> resolved;
  std::set<std::string> ids;
  std::map<std::string, double> columns;  // by their heading
  for (const auto& layers : rows_wanted(panel, rows, shared, frame, problems)) {
    for (const auto& one : expand_each(layers, problems)) {
      auto row = read_row(one, frame, problems);
      if (!row) continue;
      const auto& id = row->id;
      const auto& place = layers.maps().front();
      if (id.size() > kLongestRow) {
        problems.add(place.wrong_inside(
            fmt::format(
                "'each' makes a row's id of {} characters, and it may have {}, since files are named by "
                "it: '{}...'",
                id.size(), kLongestRow, id.substr(0, 40)),
            ""));
      }
      for (const double epsilon : row->epsilons) {
        const auto column = columns.emplace(short_number(epsilon), epsilon).first;
        if (column->second == epsilon) continue;
        problems.add(layers.find("epsilon").value_or(place).wrong(headed_alike(column->second, epsilon), ""));
      }
      if (!ids.insert(id).second) {
        problems.add(place.wrong(fmt::format("is a second row '{}'{}; give it another 'id'", id,
                                             panel.path().empty() ? "" : " in " + panel.path()),
                                 "id: " + id + "-2"));
      }
      resolved.push_back(std::move(*row));
    }
  }
  if (problems.added() > before) return std::nullopt;
  if (const auto train = panel.find("train"); train && train->is_map()) {
    const auto probes = [](const auto& row) { return (*baselines::find_baseline(row.method))->probes; };
    check_probe_precision(Layers({*train}), std::ranges::any_of(resolved, probes), problems);
    if (problems.added() > before) return std::nullopt;
  }
  return resolved;
}

}  // namespace hyfreedp::runner
