// The specs of the papers: all presets load, plan and find their cells; every table and figure has
// one.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <map>
#include <regex>
#include <set>

#include "harness/base/describe.h"
#include "harness/base/files.h"
#include "harness/base/json.h"
#include "harness/base/text.h"
#include "harness/mechanism/releases.h"
#include "harness/runner/spec/plan.h"
#include "harness/runner/spec/spec_paper_settings.h"

namespace hyfreedp::runner {
namespace paper_specs_test {

namespace fs = std::filesystem;

const std::string kPapers = HYFREEDP_SOURCE_DIR "/experiments/papers";

std::vector<fs::path> spec_files() {
  std::vector<fs::path> files;
  for (const auto& file : fs::recursive_directory_iterator(kPapers)) {
    if (file.path().extension() == ".yaml") files.push_back(file.path());
  }
  return files;
}

// Kept for the tests that follow: all presets take seconds.
const Result<Spec>& loaded(const fs::path& file, const std::string& preset) {
  static std::map<std::pair<fs::path, std::string>, Result<Spec>> specs;
  const auto found = specs.find({file, preset});
  if (found != specs.end()) return found->second;
  return specs.emplace(std::pair(file, preset), load_spec(file.string(), preset)).first->second;
}

TEST(PaperSpecFiles, EveryPresetLoadsAndPlans) {
  std::set<std::string> names;
  for (const auto& file : spec_files()) {
    auto presets = presets_of(file.string());
    ASSERT_TRUE(presets) << presets.error().message;
    if (presets->empty()) presets->emplace_back();
    for (const auto& preset : *presets) {
      const auto& spec = loaded(file, preset);
      ASSERT_TRUE(spec) << spec.error().message;
      EXPECT_TRUE(names.insert(spec->content.name).second)
          << file << ' ' << preset << ": two specs of one name share an output folder";
      const auto studies = plan(*spec);
      ASSERT_TRUE(studies) << studies.error().message;
      EXPECT_EQ(studies->empty(), !is_runnable(*spec)) << file << ' ' << preset;
    }
  }
}

// A preset that claims to be the paper's, small, or smoke says so in its title, so that no table
// passes for another.
TEST(PaperSpecFiles, TitlesSayTheScale) {
  for (const auto& file : spec_files()) {
    for (const auto& preset : presets_of(file.string()).value()) {
      if (preset != "small" && preset != "smoke" && preset != "tiny") continue;
      const auto& spec = loaded(file, preset);
      ASSERT_TRUE(spec) << spec.error().message;
      if (!is_runnable(*spec)) continue;
      const auto title = spec->content.title;
      const bool says = preset == "tiny"    ? title.find("on miniature files") != std::string::npos
                        : preset == "smoke" ? title.find("seconds") != std::string::npos ||
                                                  title.find("generated data") != std::string::npos
                                            : title.find("two cores") != std::string::npos;
      EXPECT_TRUE(says) << file << ' ' << preset << ": " << title;
    }
  }
}

// Where a small preset's rows have printed cells, those are of other data, and a footnote says so.
TEST(PaperSpecFiles, PrintedCellsBesideOtherDataAreFootnoted) {
  std::size_t beside = 0;
  for (const auto& file : spec_files()) {
    for (const auto& preset : presets_of(file.string()).value()) {
      const auto& spec = loaded(file, preset);
      ASSERT_TRUE(spec) << spec.error().message;
      for (const auto& panel : spec->content.panels) {
        bool has_cells = false;
        for (const auto& row : panel.rows) has_cells |= !row.paper.empty();
        if (!has_cells) continue;
        ++beside;
        EXPECT_FALSE(panel.footnotes.empty()) << file << ' ' << preset;
      }
    }
  }
  EXPECT_GT(beside, 0u);
}

// What a preset says of its rows holds there: a smoke preset laid over `small` repeats nothing that
// is of small's seeds, time, data or printed cells.
TEST(PaperSpecFiles, SmokesFootnotesAndTitlesAreOfSmoke) {
  const std::regex of_small(
      "instead of three|time of this table|on this data|cells beside ours|"
      "Of the paper's own values|Fashion-MNIST features|HOG");
  std::size_t smokes = 0;
  for (const auto& file : spec_files()) {
    const auto presets = presets_of(file.string()).value();
    if (std::ranges::count(presets, "smoke") == 0) continue;
    ++smokes;
    const auto& spec = loaded(file, "smoke");
    ASSERT_TRUE(spec) << spec.error().message;
    const auto check = [&](const auto& of) {
      auto texts = of.footnotes;
      texts.push_back(of.title);
      for (const auto& text : texts) {
        EXPECT_FALSE(std::regex_search(text, of_small)) << file << ": " << text;
      }
    };
    for (const auto& panel : spec->content.panels) {
      check(panel);
      for (const auto& row : panel.rows) check(row);
    }
  }
  EXPECT_GT(smokes, 20u);
}

// What decides how a row trains and which; not where the data is from.
json::object method_of(const spec::Row& row) {
  json::object method = {{"id", row.id}, {"method", row.method}, {"options", row.options}};
  if (row.optimizer) method["optimizer"] = row.optimizer->options;
  return method;
}

// Of the dataset all but where its files are and how many.
json::object preparation_of(const spec::Named& dataset) {
  auto options = dataset.options;
  for (const char* files : {"path", "sha256", "files_mark", "train", "validation", "test"})
    options.erase(files);
  options["name"] = dataset.name;
  return options;
}

// Also of the sets of ood_test, by their ids.
json::object preparation_of(const spec::Panel& panel) {
  auto all = preparation_of(panel.dataset);
  for (const auto& [id, dataset] : panel.ood_test) all["ood_test " + id] = preparation_of(dataset);
  return all;
}

// All but how many records a step has, how many steps there are, and what computes them.
json::object training_of(spec::Train train) {
  train.steps = 0;
  train.sample_rate = train.batch_size = 0;
  train.device.clear();
  train.training.microbatch = 0;
  return as_json(train);
}

// A `tiny` preset is the paper's body on miniature files: its panels are among the paper's, with
// the same network, what of it trains, preparation of images, training and methods. Every
// method and choice of what trains is there.
TEST(PaperSpecFiles, TinyIsThePapersBody) {
  std::size_t tinies = 0;
  for (const auto& file : spec_files()) {
    const auto presets = presets_of(file.string()).value();
    const auto paper =
        std::ranges::count(presets, "paper") == 0 ? std::nullopt : std::optional(loaded(file, "paper"));
    if (paper) {
      ASSERT_TRUE(*paper) << paper->error().message;
    }
    const bool on_files = paper && is_runnable(**paper) &&
                          std::ranges::any_of((**paper).content.panels, [](const spec::Panel& panel) {
                            return panel.model.options.contains("weights") ||
                                   panel.dataset.options.contains("weights") ||
                                   panel.dataset.name == "table-file";
                          });
    EXPECT_EQ(std::ranges::count(presets, "tiny") == 1, on_files) << file;
    if (!on_files) continue;
    ++tinies;
    const auto& tiny = loaded(file, "tiny");
    ASSERT_TRUE(tiny) << tiny.error().message;
    std::set<std::string> covered;
    const auto kinds_of = [](const spec::Panel& panel) {
      std::vector<std::string> kinds{string_or(panel.model.options, "trainable", "full")};
      for (const auto& row : panel.rows) kinds.push_back(row.id);
      return kinds;
    };
    for (const auto& small : tiny->content.panels) {
      SCOPED_TRACE(file.string() + " " + small.id);
      const auto& panels = (**paper).content.panels;
      const auto full = std::ranges::find(panels, small.id, &spec::Panel::id);
      ASSERT_NE(full, panels.end());
      EXPECT_EQ(small.model.name, full->model.name);
      EXPECT_EQ(small.model.options, full->model.options);
      EXPECT_EQ(preparation_of(small), preparation_of(*full));
      EXPECT_EQ(training_of(small.train), training_of(full->train));
      ASSERT_EQ(small.rows.size(), full->rows.size());
      for (std::size_t i = 0; i < small.rows.size(); ++i) {
        EXPECT_EQ(method_of(small.rows[i]), method_of(full->rows[i]));
      }
      for (auto& kind : kinds_of(small)) covered.insert(std::move(kind));
    }
    for (const auto& panel : (**paper).content.panels) {
      for (const auto& kind : kinds_of(panel)) EXPECT_TRUE(covered.contains(kind)) << file << ": " << kind;
    }
  }
  EXPECT_GE(tinies, 33u);
}

TEST(PaperSpecFiles, EveryTableAndFigureHasASpec) {
  for (const char* paper : {"hyfreedp", "mohapatra", "panda", "panda-draft"}) {
    const auto values = read_json_file(fmt::format("{}/{}/values.json", kPapers, paper));
    ASSERT_TRUE(values) << values.error().message;
    std::set<std::string> wanted;
    for (const auto& [key, kind] : {std::pair{"tables", "table"}, std::pair{"figures", "figure"}}) {
      const auto* list = values->as_object().if_contains(key);
      if (list == nullptr) continue;
      for (const auto& one : list->as_array()) {
        // "13", or "figure 13" of a table whose numbers a figure prints
        for (const char* member : {"id", "same_as"}) {
          const auto id = string_or(one.as_object(), member, "");
          if (id.empty()) continue;
          wanted.insert(id.find(' ') == std::string::npos ? fmt::format("{} {}", kind, id) : id);
        }
      }
    }
    ASSERT_FALSE(wanted.empty()) << paper;
    for (const auto& file : fs::directory_iterator(fmt::format("{}/{}", kPapers, paper))) {
      if (file.path().extension() != ".yaml") continue;
      const auto spec = load_spec(file.path().string());
      ASSERT_TRUE(spec) << spec.error().message;
      if (spec->content.reproduces) wanted.erase(spec->content.reproduces->id);
    }
    for (const auto& id : wanted) ADD_FAILURE() << paper << " has no spec of " << id;
  }
}

// What the spec itself says of a panel, without what the program notes of any panel like it.
std::vector<std::string> written_footnotes(const spec::Panel& panel) {
  auto texts = panel.footnotes;
  const auto notes = panel.train.training.notes();
  std::erase_if(texts, [&](const std::string& text) {
    const auto is_noted = [&](const auto& asked) { return asked.footnote == text; };
    return text.starts_with("Assumed: ") || text.starts_with("Of the paper's own values: ") ||
           std::ranges::count(notes, text) > 0 || std::ranges::any_of(mechanism::asked_releases(), is_noted);
  });
  return texts;
}

// The settings of every table of a paper's specs, as its file has them.
std::string settings_of(const fs::path& paper) {
  std::map<std::string, PaperSettings> tables;
  for (const auto& file : spec_files()) {
    if (file.parent_path() != paper) continue;
    auto presets = presets_of(file.string()).value();
    if (presets.empty()) presets.emplace_back();
    for (const auto& preset : presets) {
      const auto& spec = loaded(file, preset);
      EXPECT_TRUE(spec) << spec.error().message;
      if (!spec || !spec->content.reproduces || spec->content.panels.empty()) continue;
      auto& table = tables[spec->content.reproduces->id];
      for (const auto& text : spec->content.assumed) table.texts.insert(digest_of_text(text));
      for (const auto& panel : spec->content.panels) {
        table.panels.insert(digest_of_settings(panel));
        table.texts.insert(digest_of_text(panel.title));
        for (const auto& text : written_footnotes(panel)) table.texts.insert(digest_of_text(text));
        for (const auto& row : panel.rows) {
          if (!row.paper.empty() || !row.paper_ood_test.empty()) table.rows.insert(digest_of_settings(row));
        }
      }
    }
  }
  std::vector<std::string> parts;
  for (const auto& [id, table] : tables) {
    const auto list = [](const std::set<std::string>& digests) {
      return digests.empty() ? "[]"
                             : "[\n   \"" + join({digests.begin(), digests.end()}, "\",\n   \"") + "\"]";
    };
    parts.push_back(fmt::format(" \"{}\": {{\n  \"panels\": {},\n  \"rows\": {},\n  \"texts\": {}}}", id,
                                list(table.panels), list(table.rows), list(table.texts)));
  }
  return parts.empty() ? "" : "{\n" + join(parts, ",\n") + "\n}\n";
}

// HYFREEDP_WRITE_PAPER_SETTINGS=1 writes the files anew, after a change of what the specs say. Each
// is taken away first, for a spec that does not match it has lost what it said.
TEST(PaperSettingsFiles, AreThoseOfTheSpecs) {
  const bool writes = std::getenv("HYFREEDP_WRITE_PAPER_SETTINGS") != nullptr;
  for (const auto& paper : fs::directory_iterator(kPapers)) {
    const auto file = paper.path() / "settings.json";
    if (writes) fs::remove(file);
    const auto settings = settings_of(paper.path());
    if (writes && !settings.empty()) {
      ASSERT_TRUE(write_file_atomically(file.string(), settings));
    }
    EXPECT_EQ(fs::exists(file) ? read_file(file.string()).value() : "", settings)
        << file << " is not that of the specs: HYFREEDP_WRITE_PAPER_SETTINGS=1 test_runner "
        << "--gtest_filter=PaperSettingsFiles.* writes it";
  }
}

}  // namespace paper_specs_test
}  // namespace hyfreedp::runner
