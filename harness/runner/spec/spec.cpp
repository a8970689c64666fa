#include "harness/runner/spec/spec.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <fmt/format.h>
#include <set>

#include "harness/base/text.h"
#include "harness/runner/lineage/test_data.h"
#include "harness/runner/spec/plan.h"
#include "harness/runner/spec/spec_document.h"
#include "harness/runner/spec/spec_figures.h"
#include "harness/runner/spec/spec_kind.h"
#include "harness/runner/spec/spec_paper_settings.h"
#include "harness/runner/spec/spec_presets.h"
#include "harness/runner/spec/spec_regress.h"
#include "harness/runner/spec/spec_settings.h"
#include "harness/runner/spec/spec_sources.h"
#include "harness/runner/spec/spec_table.h"
#include "harness/runner/spec/spec_unread.h"

namespace hyfreedp::runner {
namespace {

const std::vector<std::string>& spec_keys() {
  static const std::vector<std::string> keys = [] {
    std::vector<std::string> all = {"name",    "title",          "description",  "noise_seed", "defaults",
                                    "rows",    "panels",         "reproduces",   "presets",    "include",
                                    "assumed", "contradictions", "not_runnable", "analytic",   "table",
                                    "figures", "regress"};
    all.insert(all.end(), default_keys().begin(), default_keys().end());
    return all;
  }();
  return keys;
}

// Each is a row of the database, and a run at least; planning holds all of them in memory.
constexpr std::size_t kMostStudies = 1'000'000;

std::size_t count_studies(const spec::Spec& spec) {
  std::size_t count = 0;
  for (const auto& panel : spec.panels) {
    for (const auto& row : panel.rows) {
      // The epsilons of fixed noise are computed later.
      count += std::max(row.epsilons.size(), panel.noise_multipliers.size()) * row.seeds.size();
    }
  }
  return count;
}

std::string text_at(const Entry& document, const std::string& key, const std::string& default_value,
                    Problems& problems) {
  const auto entry = document.find(key);
  return entry ? problems.take(entry->text()).value_or("") : default_value;
}

// Returns the requests for panels. If there is no `panels`, the top level is the only one.
std::vector<PanelRequest> panels_asked(const Entry& document, Problems& problems) {
  std::vector<PanelRequest> requests;
  const auto panels = document.find("panels");
  if (!panels) {
    requests.push_back({.panel = document, .defaults = {}, .shared = {}, .is_document = true});
    return requests;
  }
  for (const auto& key : default_keys()) {
    if (const auto given = document.find(key)) {
      problems.add(given->wrong("is not read beside 'panels'; put it under 'defaults'", ""));
    }
  }
  const auto entries = problems.take(panels->list());
  if (!entries) return requests;
  if (entries->empty()) problems.add(panels->wrong("must have at least one panel"));
  for (const auto& entry : *entries) requests.push_back({.panel = entry, .defaults = {}, .shared = {}});
  return requests;
}

std::optional<std::vector<spec::Panel>> read_panels(const Entry& document, const PaperValues* paper,
                                                    Problems& problems) {
  const auto before = problems.added();
  const auto defaults = document.find("defaults");
  if (defaults) defaults->check_keys(&default_keys(), problems);
  std::vector<Entry> shared;
  const auto before_rows = problems.added();
  if (const auto rows = document.find("rows")) shared = read_shared_rows(*rows, problems);
  const bool shared_are_known = problems.added() == before_rows;
  std::vector<spec::Panel> resolved;
  std::set<std::string> ids;
  for (auto& request : panels_asked(document, problems)) {
    request.defaults = defaults;
    request.shared = shared;
    request.shared_are_known = shared_are_known;
    request.paper = paper;
    if (const auto id = request.panel.find("id"); id && !ids.insert(id->shown()).second) {
      problems.add(id->wrong(fmt::format("repeats the panel id {}", id->shown())));
    }
    if (auto panel = read_panel(request, problems)) resolved.push_back(std::move(*panel));
  }
  if (problems.added() > before) return std::nullopt;
  return resolved;
}

// Refuses a panel that tests on what another panel trains on.
void check_test_sets_of_others(const Entry& document, const std::vector<spec::Panel>& panels,
                               Problems& problems) {
  for (const auto& tested : panels) {
    for (const auto& trained : panels) {
      if (&tested == &trained) continue;
      const auto where = fmt::format("panel '{}'", trained.id);
      const auto take = [&](const Result<void>& checked) {
        if (checked) return;
        problems.add(document.find("panels")->wrong_inside(
            fmt::format("in '{}' {}", tested.id, checked.error().message), ""));
      };
      take(check_no_test_record_is_trained_on(tested.dataset, trained.dataset, where));
      for (const auto& test : tested.ood_test) {
        take(check_no_record_is_in_both(test, trained.dataset, where));
      }
    }
  }
}

// Reads the keys of the whole spec that not every spec has.
void read_further(const Entry& document, const std::optional<PaperValues>& paper, spec::Spec& spec,
                  Problems& problems) {
  if (paper) {
    spec.reproduces = paper->reproduces();
    if (const auto* table = paper->table()) spec.paper_table = table->whole;
  }
  for (const auto& [key, texts] :
       {std::pair{"assumed", &spec.assumed}, std::pair{"contradictions", &spec.contradictions}}) {
    if (auto read = problems.take(read_texts(document.find(key)))) *texts = std::move(*read);
  }
  if (const auto table = document.find("table")) spec.table = read_table_options(*table, problems);
  if (const auto regress = document.find("regress")) spec.regress = read_regress(*regress, problems);
}

// Returns true if the spec says why it trains nothing.
bool read_kind(const Entry& document, spec::Spec& spec, Problems& problems) {
  const auto not_runnable = document.find("not_runnable");
  const auto analytic = document.find("analytic");
  if (not_runnable && analytic) {
    problems.add(analytic->wrong("and 'not_runnable' exclude each other; keep one", ""));
  }
  if (not_runnable) spec.not_runnable = read_not_runnable(*not_runnable, problems);
  if (analytic) spec.analytic = read_analytic(*analytic, problems);
  return not_runnable || analytic;
}

// Adds what the whole spec assumes to the footnotes of every panel, and what contradicts the
// paper's own values to those of each panel that shows them.
void add_footnotes(const LeftOut& left_out, spec::Spec& spec) {
  for (auto& panel : spec.panels) {
    for (const auto& text : spec.assumed) {
      if (!left_out.is_left_out(panel.id, text)) panel.footnotes.push_back("Assumed: " + text);
    }
    if (!panel.paper) continue;
    for (const auto& text : spec.contradictions)
      panel.footnotes.push_back("Of the paper's own values: " + text);
  }
}

// True for words that other readers of YAML take for a switch, and people for "none".
bool is_no_word(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::tolower(c); });
  return std::ranges::count(std::array{"no", "off", "none", "false", "yes", "on", "true"}, text) > 0;
}

std::optional<std::string> read_noise_seed(const Entry& document, Problems& problems) {
  const auto entry = document.find("noise_seed");
  if (!entry) return std::nullopt;
  auto given = problems.take(entry->written());
  if (given && given->empty()) {
    problems.add(entry->wrong("must not be empty; leave it out for private noise"));
  } else if (given && is_no_word(*given)) {
    problems.add(
        entry->wrong(fmt::format("is '{}', and any text is a seed that makes the noise public; leave "
                                 "'noise_seed' out for private noise",
                                 *given)));
  }
  return given;
}

std::string read_name(const Entry& document, const std::string& preset, Problems& problems) {
  const auto entry = document.find("name");
  if (!entry) {
    document.need("name", problems);
    return "";
  }
  const auto name = problems.take(read_identifier(*entry)).value_or("");
  return preset.empty() ? name : name + "-" + preset;
}

// Reads the top level as its preset makes it.
spec::Spec read_document(const Entry& document, const std::string& preset, Problems& problems) {
  spec::Spec spec;
  spec.name = read_name(document, preset, problems);
  spec.title = text_at(document, "title", spec.name, problems);
  spec.description = text_at(document, "description", "", problems);
  spec.noise_seed = read_noise_seed(document, problems);
  spec.preset = preset;
  std::optional<PaperValues> paper;
  if (const auto entry = document.find("reproduces")) paper = PaperValues::read(*entry, problems);
  const bool trains_nothing = read_kind(document, spec, problems);
  read_further(document, paper, spec, problems);
  if (trains_nothing) return spec;
  auto panels = read_panels(document, paper ? &*paper : nullptr, problems);
  if (const auto figures = document.find("figures")) {
    spec.figures = read_figures(*figures, panels ? &*panels : nullptr, problems);
  }
  if (!panels) return spec;
  if (panels->size() > 1) check_test_sets_of_others(document, *panels, problems);
  if (spec.table) check_table_rows(*document.find("table"), *spec.table, *panels, problems);
  warn_of_unread(document, spec, *panels, problems);
  spec.panels = std::move(*panels);
  const auto reproduces = document.find("reproduces");
  add_footnotes(paper ? leave_out_paper(*reproduces, spec, problems) : LeftOut{}, spec);
  return spec;
}

// Returns the content as canonical JSON; none if anything is wrong.
std::optional<std::string> content_of(const SpecSources& sources) {
  Problems problems(sources.path);
  const auto laid = laid_document(sources, &spec_keys(), problems);
  if (!laid) return std::nullopt;
  const auto content = read_document(laid->document, laid->preset, problems);
  return problems.empty() ? std::optional(canonical_json(as_json(content))) : std::nullopt;
}

}  // namespace

Result<Spec> load_spec(const std::string& path, const std::string& preset,
                       const std::vector<std::string>& settings) {
  const auto text = read_spec_file(path);
  if (!text) return text.error();
  const SpecSources sources{path, *text, preset, settings};
  Problems problems(path);
  const auto laid = laid_document(sources, &spec_keys(), problems);
  if (!laid) return problems.error();
  auto content = read_document(laid->document, laid->preset, problems);
  if (problems.empty() && !settings.empty()) {
    check_settings(sources, laid->document, canonical_json(as_json(content)), content_of, problems);
  }
  if (!problems.empty()) return problems.error();
  Spec spec{.path = path,
            .text = laid->text,
            .content = std::move(content),
            .warnings = problems.warnings(),
            .settings = settings};
  if (const auto count = count_studies(spec.content); count > kMostStudies) {
    return error(
        fmt::format("{}: the spec makes {} studies (rows x epsilons x seeds), and one may make {}; split it "
                    "into several.",
                    path, count, kMostStudies));
  }
  if (auto priced = price_fixed_noise(spec); !priced) return in_context(path, priced.error());
  if (auto used = check_own_settings(spec); !used) return in_context(path, used.error());
  return spec;
}

Result<std::vector<std::string>> presets_of(const std::string& path) {
  const auto text = read_spec_file(path);
  if (!text) return text.error();
  Problems problems(path);
  const auto read = parse_document(path, *text, Defaults::as_written, problems);
  if (!read) return problems.error();
  const auto document = laid_over_each_other(read->layers);
  const bool has_keys = document.check_keys(&spec_keys(), problems);
  const auto names = has_keys ? preset_names(document, problems) : std::nullopt;
  if (!names || !problems.empty()) return problems.error();
  return *names;
}

bool is_runnable(const Spec& spec) { return spec::is_runnable(spec.content); }

}  // namespace hyfreedp::runner
