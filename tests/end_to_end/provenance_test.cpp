// What stands behind the cells of a table that was really run: trace, export-cell and verify.
#include <set>

#include "results/provenance/cell_file.h"
#include "results/store/store.h"
#include "results/table/table_model.h"
#include "tests/end_to_end/program.h"

namespace hyfreedp::end_to_end {
namespace provenance_test {

using ::testing::HasSubstr;
using ::testing::Not;

struct CellName {
  std::string panel, row, column;
  std::vector<std::string> arguments(const std::string& command) const {
    return {command, "smoke", row, column, "--panel", panel};
  }
};

class Provenance : public Program {
 protected:
  void SetUp() override {
    Program::SetUp();
    if (IsSkipped()) return;
    draw_no_pictures();
    ASSERT_EQ(run({"run", kSmoke, "--quiet"}).code, 0);
  }

  // Those that have a value.
  std::vector<CellName> cells() const {
    const auto store =
        results::Store::open((folder_ / "out/hyfreedp.sqlite").string(), results::Store::Mode::read_only);
    const auto table = results::build_table(**store, "smoke");
    std::vector<CellName> names;
    for (const auto& panel : table->panels) {
      for (const auto& row : panel.rows) {
        for (const auto& cell : row.cells) {
          if (cell.kind != results::CellModel::Kind::value) continue;
          names.push_back({panel.id, row.id, cell.epsilon_target ? "3" : "inf"});
        }
      }
    }
    return names;
  }

  // Runs of private selections that no row reports.
  std::set<std::string> losing_runs() const {
    const auto store =
        results::Store::open((folder_ / "out/hyfreedp.sqlite").string(), results::Store::Mode::read_only);
    std::set<std::string> losing;
    const auto studies = (**store).studies("smoke");
    for (const auto& study : *studies) {
      if (!study.composition.shows_run_count()) losing.insert(study.trials.begin(), study.trials.end());
    }
    for (const auto& study : *studies) losing.erase(study.reported_trial);
    return losing;
  }
};

TEST_F(Provenance, EveryCellIsVerifiedByItsFileAlone) {
  const auto all = cells();
  ASSERT_GT(all.size(), 40U);
  const auto losing = losing_runs();
  ASSERT_FALSE(losing.empty());
  std::vector<std::string> files;
  for (const auto& cell : all) {
    auto arguments = cell.arguments("export-cell");
    files.push_back(cell.panel + "-" + cell.row + "-" + cell.column + ".json");
    arguments.insert(arguments.end(), {"--output", files.back()});
    const auto ended = run(arguments);
    EXPECT_EQ(ended.code, 0) << files.back() << ended.out << ended.err;
    const auto traced = run(cell.arguments("trace"));
    EXPECT_EQ(traced.code, 0) << traced.err;
    const auto file = read_file((folder_ / files.back()).string()).value();
    for (const auto& id : losing) {
      EXPECT_THAT(file, Not(HasSubstr(id))) << files.back();
      EXPECT_THAT(traced.out, Not(HasSubstr(id))) << files.back();
    }
  }
  fs::rename(folder_ / "out", folder_ / "gone");
  for (const auto& file : files) {
    const auto ended = run({"verify", file});
    EXPECT_EQ(ended.code, 0) << file << ended.out << ended.err;
    EXPECT_THAT(ended.out, HasSubstr("agrees"));
  }
}

// Each digit of a file in turn, some hundreds of them.
TEST_F(Provenance, AChangedDigitIsFound) {
  for (const char* row : {"prodigy", "dp-hyper"}) {
    ASSERT_EQ(run({"export-cell", "smoke", row, "3", "--output", "cell.json"}).code, 0);
    ASSERT_EQ(run({"verify", "cell.json"}).code, 0);
    const auto honest = read_file((folder_ / "cell.json").string()).value();
    std::size_t changed = 0;
    for (std::size_t i = 0; i < honest.size(); ++i) {
      if (std::isdigit(static_cast<unsigned char>(honest[i])) == 0 || i % 17 != 0) continue;
      auto text = honest;
      text[i] = text[i] == '9' ? '8' : static_cast<char>(text[i] + 1);
      write("changed.json", text);
      EXPECT_NE(run({"verify", "changed.json"}).code, 0)
          << row << " at " << i << ": " << honest.substr(i, 20);
      ++changed;
    }
    EXPECT_GT(changed, 50U);
  }
}

// Changes that enter no number, made alike wherever the file has them, under a new checksum.
TEST_F(Provenance, AResealedFileOfAnotherRowIsFound) {
  ASSERT_EQ(run({"export-cell", "smoke", "prodigy", "3", "--output", "cell.json"}).code, 0);
  const auto honest =
      parse_json(read_file((folder_ / "cell.json").string()).value(), "cell.json").value().as_object();
  const auto verified = [&](json::object file) {
    results::seal_cell(file);
    write("changed.json", pretty_json(file));
    return run({"verify", "changed.json"});
  };
  ASSERT_EQ(verified(honest).code, 0);
  const auto expect_found = [&](const json::object& file, const char* words) {
    const auto ended = verified(file);
    EXPECT_EQ(ended.code, 1) << words;
    EXPECT_THAT(ended.out, HasSubstr(words));
  };
  auto method = honest;
  method["row"].as_object()["method"] = "d-adaptation";
  expect_found(method, "DIFFERENT  seed 0: study");
  auto column = honest;
  column["column"] = 8;
  column["row"].as_object()["epsilons"] = {3, 8, "inf"};
  expect_found(column, "DIFFERENT  seed 0: study");
  auto label = honest;
  label["row"].as_object()["label"] = "simulated";
  for (auto& seed : label["seeds"].as_array()) {
    seed.as_object()["label"] = "simulated";
    seed.as_object()["claimed_epsilon"] = 3;
    seed.as_object()["flags"] = json::array{};
  }
  expect_found(label, "DIFFERENT  label of the row, its method's: the file says simulated");
  expect_found(label, "DIFFERENT  seed 0: flag of reproducible noise");
  auto fewer = honest;
  fewer["seeds"].as_array().pop_back();
  expect_found(fewer, "DIFFERENT  seeds, those that the row asks for");
  auto no_row = honest;
  no_row["row"].as_object().erase("options");
  expect_found(no_row, "DIFFERENT  row, planned again");
}

TEST_F(Provenance, WhatCannotBeReadIsSaidSo) {
  EXPECT_EQ(run({"verify", "none.json"}).code, 2);
  write("text.json", "no JSON");
  write("other.json", "{\"format\": \"other\", \"format_version\": 1}");
  for (const char* file : {"text.json", "other.json"}) {
    const auto ended = run({"verify", file});
    EXPECT_EQ(ended.code, 2) << ended.out;
    EXPECT_THAT(ended.err, HasSubstr(file));
  }
  const auto unknown = run({"export-cell", "smoke", "prodgy", "3"});
  EXPECT_EQ(unknown.code, 2);
  EXPECT_THAT(unknown.err, HasSubstr("Did you mean 'prodigy'?"));
}

}  // namespace provenance_test
}  // namespace hyfreedp::end_to_end
