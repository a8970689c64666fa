// The specs of the papers: all presets load, plan and find their cells; every table and figure has
// one.
#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <regex>
#include <set>

#include "harness/base/json.h"
#include "harness/runner/spec/plan.h"

namespace hyfreedp::runner {
namespace {

namespace fs = std::filesystem;

const std::string kPapers = HYFREEDP_SOURCE_DIR "/experiments/papers";

std::vector<fs::path> spec_files() {
  std::vector<fs::path> files;
  for (const auto& file : fs::recursive_directory_iterator(kPapers)) {
    if (file.path().extension() == ".yaml") files.push_back(file.path());
  }
  return files;
}

TEST(PaperSpecFiles, EveryPresetLoadsAndPlans) {
  std::set<std::string> names;
  for (const auto& file : spec_files()) {
    auto presets = presets_of(file.string());
    ASSERT_TRUE(presets) << presets.error().message;
    if (presets->empty()) presets->emplace_back();
    for (const auto& preset : *presets) {
      const auto spec = load_spec(file.string(), preset);
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
      if (preset != "small" && preset != "smoke") continue;
      const auto spec = load_spec(file.string(), preset);
      ASSERT_TRUE(spec) << spec.error().message;
      if (!is_runnable(*spec)) continue;
      const auto title = spec->content.title;
      const bool says = preset == "smoke" ? title.find("seconds") != std::string::npos ||
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
      const auto spec = load_spec(file.string(), preset);
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
    const auto spec = load_spec(file.string(), "smoke");
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

}  // namespace
}  // namespace hyfreedp::runner
