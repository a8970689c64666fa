// table, plot, report, export and the database half of epsilon, on a small made-up database.
#include <filesystem>
#include <gtest/gtest.h>
#include <sstream>

#include "harness/base/files.h"
#include "harness/cli/commands.h"
#include "harness/cli/common/outputs.h"
#include "plots/gnuplot.h"
#include "tests/results/small_database.h"

namespace hyfreedp::cli {
namespace results_commands_test {

class ResultsCommands : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / ("hyfreedp-commands-" + std::to_string(::getpid()));
    std::filesystem::remove_all(folder_);
    out_ = folder_.string();
    auto store = *results::Store::open(database(), results::Store::Mode::read_write);
    ASSERT_TRUE(small::fill(*store));
    put_derivable_study(*store);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string database() const { return out_ + "/hyfreedp.sqlite"; }

  // A study whose epsilon does follow from its events, and one that claims half of it.
  static void put_derivable_study(results::Store& store) {
    for (const double factor : {1.0, 0.5}) {
      auto study = small::study("a", "prodigy", factor == 1.0 ? 7.0 : 8.0, 0);
      study.id = factor == 1.0 ? "honest" : "liar";
      study.trials = {"trial-" + study.id};
      study.reported_trial = study.trials[0];
      ASSERT_TRUE(store.put_trial(small::trial(study.trials[0]), small::steps(), small::metrics(0.5)));
      study.state = results::StudyState::concluded;
      study.composition = {.rule = trial::Composition::Rule::trial, .trials = {study.trials[0]}};
      study.total = *accounting::report_epsilon({.events = small::trial("x").events}, study.delta);
      study.total->epsilon *= factor;
      study.training = study.total;
      ASSERT_TRUE(store.put_study(study));
    }
  }

  int run(const std::string& command, Arguments arguments) {
    said_.str("");
    complained_.str("");
    arguments.insert(arguments.begin(), command);
    return dispatch(arguments, said_, complained_);
  }
  std::string said() const { return said_.str(); }
  std::string complained() const { return complained_.str(); }
  std::string file(const std::string& name) const { return read_file(out_ + "/small/" + name).value(); }

  std::filesystem::path folder_;
  std::string out_;
  std::ostringstream said_, complained_;
};

TEST_F(ResultsCommands, HelpHasAnExample) {
  for (const char* command : {"table", "plot", "report", "export"}) {
    EXPECT_EQ(run(command, {"--help"}), 0);
    EXPECT_NE(said().find("Example: hyfreedp"), std::string::npos) << said();
  }
  for (const char* what : {"rows", "values", "events"}) {
    EXPECT_EQ(run("export", {what, "--help"}), 0);
    EXPECT_NE(said().find("Example: hyfreedp"), std::string::npos);
  }
}

TEST_F(ResultsCommands, BadInputIsOneSentenceAndExitCode2) {
  for (const char* command : {"table", "plot", "report"}) {
    EXPECT_EQ(run(command, {}), 2);
    EXPECT_NE(complained().find("name a spec"), std::string::npos);
    EXPECT_EQ(run(command, {"smal", "--out", out_}), 2);
    EXPECT_NE(complained().find("Did you mean 'small'?"), std::string::npos) << complained();
    EXPECT_EQ(run(command, {"small", "--out", out_ + "/nowhere"}), 2);
    EXPECT_NE(complained().find("there is no folder " + out_ + "/nowhere"), std::string::npos)
        << complained();
    EXPECT_EQ(run(command, {"small", "--nonsense"}), 2);
    EXPECT_TRUE(said().empty());
  }
  EXPECT_EQ(run("export", {}), 2);
  EXPECT_EQ(run("export", {"everything"}), 2);
  EXPECT_EQ(run("export", {"events", "--out", out_}), 2);
  EXPECT_EQ(run("export", {"events", "--trial", "nobody", "--out", out_}), 2);
  EXPECT_EQ(run("table", {"small", "--out", out_, "--format", "word"}), 2);
}

TEST_F(ResultsCommands, AFolderWithoutADatabaseNamesThoseNearIt) {
  const auto nights = out_ + "/nights";
  std::filesystem::create_directories(nights + "/tonight");
  EXPECT_EQ(run("table", {"small", "--out", nights}), 2);
  EXPECT_NE(complained().find("the folder " + nights + " has no database (hyfreedp.sqlite)"),
            std::string::npos)
      << complained();
  std::filesystem::copy_file(database(), nights + "/tonight/hyfreedp.sqlite");
  EXPECT_EQ(run("table", {"small", "--out", nights}), 2);
  EXPECT_NE(complained().find("; there is a database in " + nights + "/tonight"), std::string::npos)
      << complained();
}

TEST_F(ResultsCommands, AnArchiveIsNoOutputFolder) {
  const auto archive = out_ + "/frozen";
  std::filesystem::create_directories(archive);
  std::filesystem::copy_file(database(), archive + "/slice.sqlite");
  EXPECT_EQ(run("table", {"small", "--out", archive}), 2);
  EXPECT_NE(complained().find(archive + " is an archive, not an output folder. `hyfreedp archive --check " +
                              archive + "`"),
            std::string::npos)
      << complained();
  EXPECT_NE(complained().find("copy " + archive + "/slice.sqlite to hyfreedp.sqlite in a new folder"),
            std::string::npos)
      << complained();
}

// Read in Python as results/README.md shows: pandas.read_csv wants a header and as many fields in
// each line.
TEST_F(ResultsCommands, ValuesAreALongCsv) {
  ASSERT_EQ(run("export", {"values", "small", "--out", out_}), 0) << complained();
  EXPECT_TRUE(said().starts_with("spec,panel,row,epsilon,seed,step,metric,value\r\n")) << said();
  EXPECT_NE(said().find("\r\nsmall,p,a,1,0,10,test_accuracy_percent,80\r\n"), std::string::npos) << said();
  EXPECT_EQ(said().find("CONFIDENTIAL"), std::string::npos);
  EXPECT_EQ(said().find(",d,"), std::string::npos);
  ASSERT_EQ(run("export", {"values", "small", "--steps", "--out", out_}), 0);
  EXPECT_NE(said().find(",d,"), std::string::npos);
  ASSERT_EQ(run("export", {"values", "small", "--confidential", "--out", out_}), 0);
  EXPECT_NE(said().find("CONFIDENTIAL"), std::string::npos);
  ASSERT_EQ(run("export", {"values", "small", "--format", "jsonl", "--out", out_}), 0) << complained();
  EXPECT_TRUE(said().starts_with(R"({"epsilon":)")) << said();
  EXPECT_EQ(run("export", {"values", "small", "--format", "xml", "--out", out_}), 2);
  EXPECT_NE(complained().find("--format must be one of csv, jsonl, not 'xml'"), std::string::npos)
      << complained();
  EXPECT_EQ(run("export", {"values", "smal", "--out", out_}), 2);
  EXPECT_NE(complained().find("Did you mean 'small'?"), std::string::npos) << complained();
  EXPECT_EQ(run("export", {"value", "small"}), 2);
  EXPECT_NE(complained().find("Did you mean 'values'?"), std::string::npos) << complained();
}

TEST_F(ResultsCommands, TablePrintsAndWritesFiles) {
  ASSERT_EQ(run("table", {"small", "--out", out_, "--width", "120"}), 0) << complained();
  EXPECT_NE(said().find("82.0 ± 2.0"), std::string::npos);
  EXPECT_NE(file("table.md").find("82.0 ± 2.0"), std::string::npos);
  EXPECT_NE(file("table.csv").find("paper accounting"), std::string::npos);
  EXPECT_EQ(run("table", {"small", "--out", out_, "--format", "csv", "--width", "120"}), 2);
  EXPECT_EQ(run("table", {"small", "--out", out_, "--width", "-3"}), 2);
  ASSERT_EQ(run("table", {"small", "--out", out_, "--format", "csv"}), 0);
  EXPECT_EQ(said(), file("table.csv"));
  for (const auto& [format, name] :
       {std::pair{"md", "table.md"}, {"tex", "table.tex"}, {"html", "table.html"}}) {
    ASSERT_EQ(run("table", {"small", "--out", out_, "--format", format}), 0) << format;
    EXPECT_EQ(said(), file(name)) << format;
  }
}

TEST_F(ResultsCommands, ReportsOfSeveralSpecsAreOnePage) {
  const std::string values = std::string(HYFREEDP_SOURCE_DIR) + "/experiments/papers/mohapatra/table-1.yaml";
  ASSERT_EQ(run("report", {"small", values, "--out", out_}), 0) << complained();
  EXPECT_EQ(said().substr(0, said().find('\n')), "Written: " + out_ + "/report.html");
  const auto html = read_file(out_ + "/report.html").value();
  EXPECT_NE(html.find("Report of 2 specs"), std::string::npos);
  EXPECT_NE(html.find("id=\"small-ledger\""), std::string::npos);
  EXPECT_NE(html.find("Nothing was trained for this."), std::string::npos);
  EXPECT_EQ(html.find(small::kPlantedDigits), std::string::npos);
  ASSERT_EQ(run("report", {values, "--out", out_ + "/none", "--output", out_ + "/alone.html"}), 0)
      << complained();
  EXPECT_EQ(run("report", {"small", "small", "--out", out_}), 2);
  EXPECT_NE(complained().find("twice"), std::string::npos);
}

TEST_F(ResultsCommands, PlotsOfAnotherFormatAndOfConfidentialRunsHaveTheirPlace) {
  if (!find_program("gnuplot")) GTEST_SKIP() << plots::kNoGnuplot;
  ASSERT_EQ(run("plot", {"small", "--out", out_, "--format", "pdf"}), 0) << complained();
  EXPECT_EQ(read_file(out_ + "/small/plots/accuracy.pdf").value().substr(0, 5), "%PDF-");
  EXPECT_FALSE(std::filesystem::exists(out_ + "/small/plots.confidential"));
  ASSERT_EQ(run("plot", {"small", "--out", out_, "--confidential"}), 0) << complained();
  EXPECT_TRUE(std::filesystem::exists(out_ + "/small/plots.confidential/accuracy.svg"));
  EXPECT_NE(complained().find("CONFIDENTIAL"), std::string::npos);
  EXPECT_EQ(run("plot", {"small", "--out", out_, "--format", "gif"}), 2);
}

TEST_F(ResultsCommands, TableWritesToAFileOfItsOwn) {
  const auto path = out_ + "/mine.tex";
  ASSERT_EQ(run("table", {"small", "--out", out_, "--format", "tex-table", "--output", path}), 0);
  EXPECT_EQ(said(), "Written: " + path + "\n");
  const auto text = read_file(path).value();
  EXPECT_NE(text.find("\\toprule"), std::string::npos);
  EXPECT_EQ(text.find("\\documentclass"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(out_ + "/small/table.md"));
}

TEST_F(ResultsCommands, ConfidentialTablesAreWatermarkedAndLeaveTheFilesAlone) {
  ASSERT_EQ(run("table", {"small", "--out", out_}), 0);
  EXPECT_EQ(said().find("CONFIDENTIAL"), std::string::npos);
  const auto before = file("table.md");
  ASSERT_EQ(run("table", {"small", "--out", out_, "--confidential"}), 0);
  EXPECT_NE(said().find("CONFIDENTIAL"), std::string::npos);
  EXPECT_NE(said().find("validation 65.4"), std::string::npos);
  EXPECT_EQ(file("table.md"), before);
}

TEST_F(ResultsCommands, OutputsLeaveAllFilesAndNoConfidentialValue) {
  auto store = *results::Store::open(database(), results::Store::Mode::read_only);
  std::ostringstream terminal;
  const auto written = write_outputs(*store, "small", out_ + "/small", terminal);
  ASSERT_TRUE(written) << written.error().message;
  EXPECT_NE(terminal.str().find("82.0 ± 2.0"), std::string::npos);
  std::vector<std::string> names = {"table.md", "table.csv", "table.tex", "table.html", "report.html"};
  if (find_program("gnuplot")) {
    names.insert(names.end(), {"plots/accuracy.svg", "plots/accuracy.png", "plots/step_size.svg"});
  } else {
    std::printf("SKIPPED: plots. %s\n", plots::kNoGnuplot);
    EXPECT_NE(terminal.str().find("gnuplot-nox"), std::string::npos);
  }
  for (const auto& name : names) EXPECT_TRUE(std::filesystem::exists(out_ + "/small/" + name)) << name;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(out_ + "/small")) {
    if (!entry.is_regular_file() || entry.path().extension() == ".png") continue;
    const auto text = read_file(entry.path().string()).value();
    EXPECT_EQ(text.find(small::kPlantedDigits), std::string::npos) << entry.path();
    EXPECT_EQ(text.find("CONFIDENTIAL"), std::string::npos) << entry.path();
  }
}

TEST_F(ResultsCommands, ReportAndPlotRebuildFromTheDatabase) {
  if (!find_program("gnuplot")) GTEST_SKIP() << plots::kNoGnuplot;
  ASSERT_EQ(run("plot", {"small", "--out", out_}), 0) << complained();
  EXPECT_TRUE(std::filesystem::exists(out_ + "/small/plots/accuracy.png"));
  ASSERT_EQ(run("report", {"small", "--out", out_}), 0) << complained();
  const auto first = file("report.html");
  ASSERT_EQ(run("report", {"small", "--out", out_}), 0);
  EXPECT_EQ(file("report.html"), first);
}

TEST_F(ResultsCommands, AConfidentialReportIsAFileOfItsOwn) {
  ASSERT_EQ(run("report", {"small", "--out", out_}), 0) << complained();
  EXPECT_EQ(complained(), "");
  const auto publishable = file("report.html");
  ASSERT_EQ(run("report", {"small", "--confidential", "--out", out_}), 0) << complained();
  EXPECT_EQ(file("report.html"), publishable);
  EXPECT_NE(file("report.confidential.html").find(results::kWatermark), std::string::npos);
  EXPECT_NE(said().find("report.confidential.html"), std::string::npos);
  EXPECT_NE(complained().find(results::kWatermark), std::string::npos);
}

TEST_F(ResultsCommands, RowsAreTheSameBytesEachTime) {
  ASSERT_EQ(run("export", {"rows", "small", "--out", out_}), 0) << complained();
  const auto first = said();
  ASSERT_EQ(run("export", {"rows", "small", "--out", out_}), 0);
  EXPECT_EQ(said(), first);
  EXPECT_NE(first.find("\"type\":\"study\""), std::string::npos);
}

TEST_F(ResultsCommands, ExportedEventsPriceToTheSameEpsilon) {
  ASSERT_EQ(run("export", {"events", "--trial", "trial-honest", "--out", out_}), 0) << complained();
  const auto events = accounting::events_from_json(*parse_json(said(), "events"), "events");
  ASSERT_TRUE(events) << events.error().message;
  auto store = *results::Store::open(database(), results::Store::Mode::read_only);
  EXPECT_EQ(accounting::report_epsilon(*events, 1e-5)->epsilon, (**store->study("honest")).total->epsilon);
}

TEST_F(ResultsCommands, ExportKnowsNearNames) {
  ASSERT_EQ(run("export", {"events", "trial-honest", "--out", out_}), 0) << complained();
  const auto refuses = [&](const Arguments& arguments, const std::string& part) {
    EXPECT_EQ(run("export", arguments), 2);
    EXPECT_NE(complained().find(part), std::string::npos) << complained();
  };
  refuses({"events", "trial-honst", "--out", out_}, "Did you mean 'trial-honest'?");
  refuses({"events", "trial-study-c-1-0-7", "--out", out_}, "no trial 'trial-study-c-1-0-7'");
  EXPECT_EQ(complained().find("trial-study-c-1-0-1"), std::string::npos)
      << "a losing run is named: " << complained();
  refuses({"events", "a", "--trial", "b", "--out", out_}, "give one trial");
  refuses({"rows", "smal", "--out", out_}, "Did you mean 'small'?");
  refuses({"row"}, "Did you mean 'rows'?");
}

TEST_F(ResultsCommands, TraceFindsTheCell) {
  ASSERT_EQ(run("trace", {"small", "a", "1", "--out", out_}), 0) << complained();
  EXPECT_NE(said().find("82.0 ± 2.0"), std::string::npos) << said();
  ASSERT_EQ(run("trace", {"small", "c", "1", "--panel", "p", "--json", "--out", out_}), 0) << complained();
  EXPECT_TRUE(parse_json(said(), "json"));
  EXPECT_EQ(said().find(small::kPlantedDigits), std::string::npos);
  for (const auto& [arguments, part] : std::vector<std::pair<Arguments, std::string>>{
           {{"small", "a"}, "the column is missing"},
           {{"small", "a", "1", "2"}, "'2' belongs to no option"},
           {{"small", "d", "1", "--out", out_}, "Rows: a, b, c"},
           {{"small", "a", "7", "--out", out_}, "has no column '7'. Its columns (target ε): 1"},
           {{"smal", "a", "1", "--out", out_}, "Did you mean 'small'?"}}) {
    EXPECT_EQ(run("trace", arguments), 2);
    EXPECT_EQ(said(), "");
    EXPECT_NE(complained().find(part), std::string::npos) << complained();
  }
}

TEST_F(ResultsCommands, EpsilonOfAStudyIsDerivedFromItsEvents) {
  const auto derive = [&](const std::string& kind, const std::string& id, bool as_json = false) {
    Arguments arguments{"--out", out_, "--" + kind, id};
    if (as_json) arguments.emplace_back("--json");
    return run("epsilon", arguments);
  };
  EXPECT_EQ(derive("study", "honest"), 0) << complained();
  EXPECT_NE(said().find("the same"), std::string::npos) << said();
  EXPECT_EQ(derive("study", "liar"), 1);
  EXPECT_NE(said().find("DIFFERENT"), std::string::npos);
  EXPECT_EQ(derive("trial", "trial-honest"), 0);
  EXPECT_EQ(derive("study", "honest", true), 0);
  EXPECT_TRUE(parse_json(said(), "json"));
  EXPECT_EQ(derive("study", "nobody"), 2);
  EXPECT_EQ(derive("trial", "nobody"), 2);
  EXPECT_EQ(derive("study", "study-b-1-1"), 2);
  EXPECT_NE(complained().find("failed"), std::string::npos) << complained();
}

TEST_F(ResultsCommands, EpsilonAndExportRefuseTheSameTrialsInTheSameWords) {
  const auto epsilon = [&](const std::string& trial) {
    return run("epsilon", {"--out", out_, "--trial", trial});
  };
  const auto store = *results::Store::open(database(), results::Store::Mode::read_write);
  ASSERT_TRUE(store->put_trial(small::trial("orphan"), small::steps(), small::metrics(0.5)));
  for (const std::string losing : {"trial-study-c-1-0-1", "orphan"}) {
    EXPECT_EQ(epsilon(losing), 2);
    EXPECT_EQ(said(), "");
    const auto sentence = complained().substr(complained().find("trial "));
    EXPECT_NE(sentence.find("stay secret"), std::string::npos) << sentence;
    EXPECT_EQ(run("export", {"events", "--trial", losing, "--out", out_}), 2);
    EXPECT_NE(complained().find(sentence.substr(0, sentence.size() - 1)), std::string::npos) << complained();
  }
  // The made-up row did not come from its events: 1, not 2.
  EXPECT_EQ(epsilon("trial-study-c-1-0-0"), 1) << "the reported run: " << complained();
}

TEST_F(ResultsCommands, ALostSelectionHasNoEpsilonYet) {
  auto study = small::study("c", "dp-hyper", 9.0, 0);
  study.id = "lost";
  study.state = results::StudyState::failed;
  study.failure_message = "It was lost.";
  study.composition = {.rule = trial::Composition::Rule::selection};
  ASSERT_TRUE((*results::Store::open(database(), results::Store::Mode::read_write))->put_study(study));
  EXPECT_EQ(run("epsilon", {"--out", out_, "--study", "lost"}), 2);
  EXPECT_NE(complained().find("no epsilon yet: It was lost."), std::string::npos) << complained();
}

}  // namespace results_commands_test
}  // namespace hyfreedp::cli
