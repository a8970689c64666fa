// How a spec wants its table to look: columns, parts of a cell, notes, titles. Values stay.
#include <cstdlib>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/base/files.h"
#include "results/table/csv_writer.h"
#include "results/table/document.h"
#include "results/table/html_writer.h"
#include "results/table/latex_writer.h"
#include "results/table/markdown_writer.h"
#include "results/table/terminal_writer.h"
#include "tests/results/small_database.h"

namespace hyfreedp::results {
namespace table_look_test {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

TableModel with_table(const json::object& table) {
  auto store = *Store::in_memory();
  EXPECT_TRUE(small::fill(*store));
  auto spec = small::spec();
  auto other = *Store::in_memory();
  spec.resolved["table"] = table;
  EXPECT_TRUE(other->put_spec(spec));
  for (const auto& trial : store->trials().value()) {
    EXPECT_TRUE(
        other->put_trial(trial, store->steps(trial.id).value(), store->metrics(trial.id, true).value()));
  }
  for (const auto& study : store->studies("small").value()) EXPECT_TRUE(other->put_study(study));
  auto model = build_table(*other, "small");
  EXPECT_TRUE(model) << model.error().message;
  return model ? std::move(*model) : TableModel{};
}

std::string markdown(const json::object& table) { return markdown_text(document_of(with_table(table))); }

TEST(TableLook, WithoutAnyTheTableIsAsItWas) {
  auto store = *Store::in_memory();
  ASSERT_TRUE(small::fill(*store));
  EXPECT_EQ(markdown({}), markdown_text(document_of(*build_table(*store, "small"))));
}

TEST(TableLook, ShowsTheColumnsThatAreAskedForInTheirOrder) {
  EXPECT_THAT(markdown({}), HasSubstr("| Method | Label, flags | ε = 1 | non-private | Time |\n"));
  EXPECT_THAT(markdown({{"columns", {"time"}}}), HasSubstr("| Method | ε = 1 | non-private | Time |\n"));
  EXPECT_THAT(markdown({{"columns", {"time", "label"}}}), HasSubstr("| Method | Label, flags | ε = 1 |"));
  const auto none = with_table({{"columns", json::array{}}});
  EXPECT_THAT(markdown_text(document_of(none)), HasSubstr("| Method | ε = 1 | non-private |\n"));
  EXPECT_THAT(html_tables(document_of(none)), Not(HasSubstr("end-to-end DP</small>")));
  EXPECT_THAT(terminal_text(document_of(none), {}), Not(HasSubstr("  end-to-end DP")));
}

// Whoever leaves the column out still learns of a row that is not what the others are.
TEST(TableLook, WithoutItsColumnALabelOfItsOwnIsAFootnote) {
  const auto document = document_of(with_table({{"columns", json::array{}}}));
  EXPECT_THAT(document.footnotes, Contains(HasSubstr("Label: end-to-end DP; paper accounting")));
  const auto& rows = document.panels.at(0).rows;
  EXPECT_TRUE(rows[0].notes.empty());
  EXPECT_THAT(rows[1].notes, Contains(static_cast<int>(document.footnotes.size())));
  EXPECT_THAT(document_of(with_table({})).footnotes, Not(Contains(HasSubstr("Label:"))));
}

TEST(TableLook, ShowsThePartsOfACellThatAreAskedFor) {
  const auto text = [](const json::object& table) {
    const auto document = document_of(with_table(table));
    const auto& cell = document.panels.at(0).rows.at(0).cells.at(0);
    std::string all = cell.main;
    for (const auto& detail : cell.details) all += " / " + detail;
    return all;
  };
  EXPECT_EQ(text({}), "82.0 ± 2.0 / ε 0.99, n 3");
  EXPECT_EQ(text({{"cells", {"mean"}}}), "82.0");
  EXPECT_EQ(text({{"cells", {"mean", "sd"}}}), "82.0 ± 2.0");
  EXPECT_EQ(text({{"cells", {"median", "n"}}}), "82.0 / n 3");
  EXPECT_EQ(text({{"cells", {"median", "range", "epsilon"}}}), "82.0 [80.0, 84.0] / ε 0.99");
}

TEST(TableLook, AMedianIsTheSeedsMiddleAndNotTheirMean) {
  auto table = with_table({{"cells", {"median", "n"}}});
  table.panels[0].rows[0].cells[0].seeds[2].value = 99;
  EXPECT_EQ(document_of(table).panels[0].rows[0].cells[0].main, "82.0");
  table.panels[0].rows[0].cells[0].seeds[0].value.reset();
  EXPECT_EQ(document_of(table).panels[0].rows[0].cells[0].main, "90.5") << "of two seeds";
  EXPECT_THAT(table.notes, Contains(HasSubstr("after its last step: median over n seeds")));
  EXPECT_THAT(table.notes, Not(Contains(HasSubstr("standard deviation over n seeds"))));
}

TEST(TableLook, ShowsTheNotesThatAreAskedFor) {
  const auto all = document_of(with_table({}));
  ASSERT_FALSE(all.notes.empty());
  const auto footnotes = document_of(with_table({{"notes", "footnotes"}}));
  EXPECT_EQ(footnotes.footnotes, all.footnotes);
  EXPECT_TRUE(footnotes.notes.empty());
  auto table = with_table({{"notes", "none"}});
  table.banners = {"The noise is reproducible."};
  table.confidential = true;
  const auto none = document_of(table);
  EXPECT_TRUE(none.footnotes.empty());
  for (const auto& text : {markdown_text(none), latex_text(none, LatexPart::tables), html_tables(none)}) {
    EXPECT_THAT(text, Not(HasSubstr("<sup>")));
    EXPECT_THAT(text, Not(HasSubstr("$^{")));
  }
  for (const auto& text : {markdown_text(none), latex_text(none, LatexPart::document), html_page(none, "")}) {
    EXPECT_THAT(text, HasSubstr("The noise is reproducible."));
    EXPECT_THAT(text, HasSubstr("CONFIDENTIAL"));
  }
}

TEST(TableLook, GivesRowsAndPanelsTheirTitles) {
  const json::object labels{{"a", "Prodigy, as published"}, {"p", "MNIST"}};
  const auto text = markdown({{"labels", labels}});
  EXPECT_THAT(text, HasSubstr("| Prodigy, as published | end-to-end DP |"));
  EXPECT_THAT(text, HasSubstr("## MNIST"));
  EXPECT_THAT(text, Not(HasSubstr("Row A")));
  EXPECT_THAT(text, HasSubstr("Row C"));
}

TEST(TableLook, TellsRowsOfOneTitleApartByTheirIds) {
  const auto store = Store::in_memory().value();
  auto spec = small::spec();
  auto& rows = spec.resolved["panels"].as_array()[0].as_object()["rows"].as_array();
  rows[1].as_object()["title"] = "Row A";
  store->put_spec(spec).value();
  const auto table = build_table(*store, "small").value();
  const auto document = document_of(table);
  for (const auto& text : {markdown_text(document), terminal_text(document, {}), html_tables(document),
                           latex_text(document, LatexPart::tables), csv_table(table)}) {
    EXPECT_THAT(text, HasSubstr("Row A (a)"));
    EXPECT_THAT(text, HasSubstr("Row A (b)"));
    EXPECT_THAT(text, HasSubstr("Row C"));
    EXPECT_THAT(text, Not(HasSubstr("Row C (")));
  }
}

TEST(TableLook, CsvHasEverythingWhateverIsShown) {
  const auto plain = csv_table(with_table({}));
  EXPECT_EQ(csv_table(with_table({{"columns", json::array{}}, {"cells", {"median"}}, {"notes", "none"}})),
            plain);
}

TEST(TableLook, CompilesAsLatex) {
  if (std::system("command -v pdflatex > /dev/null 2>&1") != 0) {
    GTEST_SKIP()
        << "pdflatex is not installed. Debian: apt-get install texlive-latex-base texlive-latex-recommended";
  }
  const auto text = latex_text(document_of(with_table({{"columns", {"time"}},
                                                       {"cells", {"median", "range", "n"}},
                                                       {"notes", "none"},
                                                       {"labels", {{"a", "A_b & 50 %"}}}})),
                               LatexPart::document);
  EXPECT_THAT(text, HasSubstr("\\toprule"));
  EXPECT_THAT(
      text,
      HasSubstr("{}A\\_b \\& 50 \\% & \\textbf{82.0 [80.0, 84.0]} & 90.0 [90.0, 90.0] & 500 ms \\\\*\n"));
  const auto folder = ScratchFolder::make().value();
  ASSERT_TRUE(write_file_atomically(folder.path() + "/t.tex", text));
  const auto command =
      "cd '" + folder.path() + "' && pdflatex -halt-on-error -interaction=nonstopmode t.tex > log 2>&1";
  EXPECT_EQ(std::system(command.c_str()), 0) << read_file(folder.path() + "/log").value();
}

TEST(TableLook, PartsThatDoNotGoTogetherAreRefused) {
  const auto wrong = [](std::vector<spec::CellPart> cells) {
    spec::Table table;
    table.cells = std::move(cells);
    const auto look = table_look(table, "table");
    return look ? "" : look.error().message;
  };
  using enum spec::CellPart;
  EXPECT_THAT(wrong({sd, n}), HasSubstr("table.cells needs either 'mean' or 'median'"));
  EXPECT_THAT(wrong({mean, median}), HasSubstr("needs either 'mean' or 'median'"));
  EXPECT_THAT(wrong({}), HasSubstr("needs either"));
  EXPECT_THAT(wrong({median, sd}), HasSubstr("'range' goes with the median"));
  EXPECT_EQ(wrong({median, range, epsilon, n}), "");
}

}  // namespace table_look_test
}  // namespace hyfreedp::results
