#include "harness/runner/spec/spec_paper_settings.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <optional>

#include "harness/base/files.h"
#include "harness/base/text.h"

namespace hyfreedp::runner {
namespace {

constexpr std::size_t kDigits = 12;

std::string digest(const json::value& value) { return sha256_hex(canonical_json(value)).substr(0, kDigits); }

// Removes where files lie, and what is known of them once they are there: that depends on the
// machine.
void forget_places(json::value& value) {
  if (auto* list = value.if_array()) {
    for (auto& element : *list) forget_places(element);
  }
  auto* object = value.if_object();
  if (object == nullptr) return;
  for (const char* key : {"path", "files_mark", "sha256", "weights_sha256", "adapter_sha256",
                          "tokenizer_sha256", "feature_width"})
    object->erase(key);
  for (auto& member : *object) forget_places(member.value());
}

Result<std::set<std::string>> digests(const json::object& table, const char* key, const std::string& where) {
  const auto* list = table.if_contains(key);
  if (list == nullptr) return error(fmt::format("{}: there is no '{}'", where, key));
  const auto read = from_json<std::vector<std::string>>(*list, where + "." + key);
  if (!read) return read.error();
  return std::set<std::string>(read->begin(), read->end());
}

Result<std::optional<PaperSettings>> settings_beside(const Entry& reproduces, const std::string& id) {
  const auto path = (std::filesystem::path(reproduces.file()).parent_path() / "settings.json").string();
  if (!std::filesystem::exists(path)) return std::optional<PaperSettings>();
  const auto file = read_json_file(path);
  if (!file) return file.error();
  const auto* table = file->is_object() ? file->get_object().if_contains(id) : nullptr;
  if (table == nullptr || !table->is_object()) return std::optional<PaperSettings>();
  const auto where = path + ": " + id;
  auto panels = digests(table->get_object(), "panels", where);
  auto rows = digests(table->get_object(), "rows", where);
  auto texts = digests(table->get_object(), "texts", where);
  for (const auto* one : {&panels, &rows, &texts}) {
    if (!*one) return one->error();
  }
  return std::optional(PaperSettings{std::move(*panels), std::move(*rows), std::move(*texts)});
}

// Returns whether any had a value.
bool forget_values(spec::Row& row) {
  const bool had = !row.paper.empty() || !row.paper_ood_test.empty();
  row.paper.clear();
  row.paper_ood_test.clear();
  return had;
}

void forget_panel(spec::Panel& panel, const PaperSettings& known) {
  panel.paper.reset();
  for (auto& row : panel.rows) forget_values(row);
  if (known.texts.contains(digest_of_text(panel.title))) {
    panel.title = panel.dataset.name + ", " + panel.model.name;
  }
  std::erase_if(panel.footnotes,
                [&](const std::string& text) { return known.texts.contains(digest_of_text(text)); });
}

}  // namespace

std::string digest_of_settings(const spec::Panel& panel) {
  json::value settings = as_json(panel);
  for (const char* key :
       {"id", "title", "seeds", "sequential", "epsilons", "noise_multipliers", "footnotes", "paper", "table",
        "rows", "device", "evaluate_every", "gradient_norms", "released_norms", "noise_residual"}) {
    settings.get_object().erase(key);
  }
  if (auto* training = settings.get_object().if_contains("training"); training && training->is_object()) {
    for (const char* key : {"microbatch", "tf32"}) training->get_object().erase(key);
    if (training->get_object().empty()) settings.get_object().erase("training");
  }
  forget_places(settings);
  return digest(settings);
}

std::string digest_of_settings(const spec::Row& row) {
  json::value settings = as_json(row);
  for (const char* key :
       {"id", "title", "label", "seeds", "epsilons", "footnotes", "group", "paper", "paper_ood_test"}) {
    settings.get_object().erase(key);
  }
  return digest(settings);
}

std::string digest_of_text(const std::string& text) { return digest(json::value(text)); }

LeftOut leave_out_paper(const Entry& reproduces, spec::Spec& spec, Problems& problems) {
  LeftOut left_out;
  const auto& id = spec.reproduces->id;
  const auto known = problems.take(settings_beside(reproduces, id));
  if (!known || !*known) return left_out;
  left_out.texts = (**known).texts;
  std::vector<std::string> changed;
  for (auto& panel : spec.panels) {
    if (!(**known).panels.contains(digest_of_settings(panel))) {
      forget_panel(panel, **known);
      panel.footnotes.push_back(fmt::format(
          "Trained with other settings than those of the paper's {}: its values and what was assumed for it "
          "are left out.",
          id));
      left_out.panels.insert(panel.id);
      changed.push_back("panel " + panel.id);
      continue;
    }
    for (auto& row : panel.rows) {
      if ((**known).rows.contains(digest_of_settings(row)) || !forget_values(row)) continue;
      row.footnotes.push_back(
          fmt::format("With other settings than the row of the paper's {}: its values are left out.", id));
      changed.push_back(fmt::format("panel {}, row {}", panel.id, row.id));
    }
  }
  if (changed.empty()) return left_out;
  constexpr std::size_t kMostNamed = 4;
  const auto more = changed.size() > kMostNamed ? changed.size() - kMostNamed : 0;
  changed.resize(changed.size() - more);
  problems.warn(reproduces.remark(
      fmt::format("the paper's values, and what was assumed for them, are left out where the settings are "
                  "not those of its "
                  "{}: {}{}.",
                  id, join(changed, "; "), more > 0 ? fmt::format("; and {} more", more) : "")));
  if (left_out.panels.size() == spec.panels.size()) {
    std::erase_if(spec.assumed,
                  [&](const std::string& text) { return left_out.texts.contains(digest_of_text(text)); });
  }
  return left_out;
}

}  // namespace hyfreedp::runner
