#include "harness/spec/spec.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>

namespace hyfreedp::spec {
namespace {

void complete(Panel& panel) {
  if (panel.title.empty()) panel.title = panel.id;
  for (auto& row : panel.rows) {
    if (row.title.empty()) row.title = row.id;
    if (row.seeds.empty()) row.seeds = panel.seeds;
    if (row.epsilons.empty()) row.epsilons = panel.epsilons;
    if (row.steps == 0) row.steps = panel.train.steps;
  }
}

void add_once(std::vector<std::string>& names, const std::string& name) {
  if (!name.empty() && std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
}

template <class T>
const T* of_id(const std::vector<T>& list, const std::string& id) {
  const auto found = std::find_if(list.begin(), list.end(), [&](const T& one) { return one.id == id; });
  return found == list.end() ? nullptr : &*found;
}

}  // namespace

std::optional<double> target_of(double epsilon) {
  return std::isinf(epsilon) ? std::nullopt : std::optional(epsilon);
}

std::vector<std::optional<double>> targets_of(const std::vector<double>& epsilons) {
  std::vector<std::optional<double>> targets;
  targets.reserve(epsilons.size());
  for (const auto epsilon : epsilons) targets.push_back(target_of(epsilon));
  return targets;
}

std::string epsilon_text(double epsilon) { return fmt::format("{}", epsilon); }

Result<Spec> read_spec(const json::object& resolved, const std::string& where) {
  auto read = from_json<Spec>(resolved, where);
  if (!read) return read;
  if (read->title.empty()) read->title = read->name;
  for (auto& panel : read->panels) complete(panel);
  return read;
}

Result<Panel> read_panel(const json::object& panel, const json::object& row, const std::string& where) {
  auto read = from_json<Panel>(panel, where + ".panel");
  if (!read) return read;
  auto only = from_json<Row>(row, where + ".row");
  if (!only) return only.error();
  read->rows = {std::move(*only)};
  complete(*read);
  return read;
}

bool is_runnable(const Spec& spec) { return !spec.not_runnable && !spec.analytic; }

const Panel* find_panel(const Spec& spec, const std::string& id) { return of_id(spec.panels, id); }

const Row* find_row(const Panel& panel, const std::string& id) { return of_id(panel.rows, id); }

std::vector<std::string> row_names(const std::vector<Panel>& panels) {
  std::vector<std::string> names;
  for (const auto& panel : panels) {
    for (const auto& row : panel.rows) {
      add_once(names, row.id);
      add_once(names, row.group);
    }
  }
  return names;
}

std::vector<Named> datasets_of(const Panel& panel) {
  std::vector<Named> all = {panel.dataset};
  all.reserve(1 + panel.ood_test.size());
  for (const auto& shifted : panel.ood_test) all.push_back(shifted.dataset);
  return all;
}

bool has_sequential_seeds(const Panel& panel, const Row& row) {
  return panel.sequential && row.seeds == panel.seeds;
}

const Named& optimizer_of(const Panel& panel, const Row& row) {
  return row.optimizer ? *row.optimizer : panel.train.optimizer;
}

namespace {

// "fixed rate (adamw)" and "fixed rate (mine)": rows that a reader could not tell apart.
void tell_titles_apart(Panel& panel) {
  std::map<std::string, int> known;
  for (const auto& row : panel.rows) ++known[row.title];
  for (auto& row : panel.rows) {
    if (known[row.title] > 1) row.title += " (" + row.id + ")";
  }
}

}  // namespace

void apply_labels(Spec& spec) {
  for (auto& panel : spec.panels) {
    for (const auto* table : {&spec.table, &panel.table}) {
      if (!*table || !(**table).labels) continue;
      const auto& labels = *(**table).labels;
      const auto relabel = [&](const std::string& id, std::string& title) {
        if (const auto found = labels.find(id); found != labels.end()) title = found->second;
      };
      for (auto& row : panel.rows) relabel(row.id, row.title);
      relabel(panel.id, panel.title);
    }
    tell_titles_apart(panel);
  }
}

RecordedBy recorded_by(Metric metric) {
  switch (metric) {
    case Metric::accuracy:
    case Metric::loss:
    case Metric::perplexity:
    case Metric::seconds:
      return RecordedBy::always;
    case Metric::macro_accuracy:
    case Metric::auc:
    case Metric::mcc:
    case Metric::f1:
      return RecordedBy::by_class;
    case Metric::bleu_mteval13a:
    case Metric::nist_mteval13a:
    case Metric::meteor_nltk_exact_and_stem_13a:
    case Metric::rouge_l_coco_13a:
    case Metric::cider_coco_13a:
    case Metric::squad_exact_match:
    case Metric::squad_f1:
      break;
  }
  return RecordedBy::written;
}

Table laid_over(Table above, const Table& below) {
  boost::mp11::mp_for_each<description::Members<Table>>([&](auto member) {
    auto& field = above.*member.pointer;
    if (!field) field = below.*member.pointer;
  });
  return above;
}

}  // namespace hyfreedp::spec
