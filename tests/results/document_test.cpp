// One document, every writer: nothing is lost, and what is written is valid in its own format.
#include "results/table/document.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <map>
#include <regex>
#include <sstream>

#include "harness/base/files.h"
#include "results/table/cell_text.h"
#include "results/table/csv_writer.h"
#include "results/table/html_writer.h"
#include "results/table/latex_writer.h"
#include "results/table/markdown_writer.h"
#include "results/table/terminal_writer.h"
#include "tests/results/fake_database.h"
#include "tests/results/small_database.h"

namespace hyfreedp::results {
namespace document_test {

constexpr const char* kNasty = "50 % of _x_ & {y} # $z ~ ^ \\ <b> \"q\" | [1] ε ± σ² 漢 é – ∞";

ValueCell value(std::optional<double> ours, std::optional<double> paper,
                std::optional<double> tolerance = {}) {
  ValueCell cell;
  cell.ours = ours;
  cell.paper = paper;
  cell.tolerance = tolerance;
  return cell;
}

ValueTable small_values() {
  ValueTable table{.name = "mohapatra-table-1",
                   .title = "A table of values",
                   .description = "What an accountant computes.",
                   .unit = "epsilon",
                   .row_fields = {"Dataset", "Optimizer"},
                   .columns = {"σ = 1", "σ = 2"},
                   .footnotes = {"Not printed in the paper."},
                   .notes = {"How to read it."}};
  auto noted = value(3.141, std::nullopt);
  noted.notes = {1};
  ValueCell text;
  text.text = "not stated";
  table.rows = {{{"Adult", "Adam"}, {value(1.001, 1.0, 0.005), value(0.5, 0.6, 0.005)}},
                {{"ENRON", "SGD"}, {noted, value(std::nullopt, 2.5)}},
                {{"Gisette", "SGD"}, {text, ValueCell{}}}};
  return table;
}

// As many columns and rows as the widest table of the papers, with long names and everything that
// needs escaping.
ValueTable large_values() {
  ValueTable table{
      .name = "large", .title = kNasty, .description = kNasty, .row_fields = {kNasty, "second field"}};
  for (int column = 0; column < 20; ++column) table.columns.push_back(fmt::format("column {} of &", column));
  for (int row = 0; row < 90; ++row) {
    ValueRow made{.labels = {fmt::format("row {} {}", row, kNasty), "[second]"}};
    for (int column = 0; column < 20; ++column) {
      auto cell = value(row + column * 0.01, row + column * 0.01 + 0.3, 0.05);
      cell.paper_sd = 0.12;
      made.cells.push_back(cell);
    }
    table.rows.push_back(std::move(made));
  }
  table.footnotes = {kNasty};
  table.rows[0].cells[0].notes = {1};
  return table;
}

Document small_document(bool confidential = false) {
  auto store = *Store::in_memory();
  EXPECT_TRUE(small::fill(*store));
  return document_of(*build_table(*store, "small", {.confidential = confidential}));
}

Document fake_document() {
  auto store = *Store::in_memory();
  EXPECT_TRUE(fake::fill(*store));
  return document_of(*build_table(*store, "fake"));
}

using Words = std::map<std::string, int>;

void count_words(const std::string& text, Words& words) {
  std::istringstream in(text);
  for (std::string word; in >> word;) ++words[word];
}

Words words_of(const std::string& text) {
  Words words;
  count_words(text, words);
  return words;
}

// Every word of a document that a reader must be able to find.
Words words_of(const Document& document) {
  Words words;
  count_words(document.title, words);
  for (const auto& list : {document.banners, document.footnotes, document.notes}) {
    for (const auto& text : list) count_words(text, words);
  }
  for (const auto& panel : document.panels) {
    count_words(panel.title + " " + panel.settings, words);
    for (const auto& column : panel.columns) count_words(column.title, words);
    for (const auto& row : panel.rows) {
      for (const auto& head : row.heads) count_words(head, words);
      count_words(row.label, words);
      for (const auto& cell : row.cells) {
        count_words(cell.main + " " + marker(cell.notes) + " " + cell.confidential, words);
        for (const auto& detail : cell.details) count_words(detail, words);
      }
    }
  }
  return words;
}

TEST(Documents, TerminalLosesNoWordAtAnyWidth) {
  for (const auto& document : {small_document(), small_document(true), fake_document(),
                               document_of(small_values()), document_of(large_values())}) {
    const auto wanted = words_of(document);
    for (const std::size_t width : {40u, 80u, 200u}) {
      const auto text = terminal_text(document, {width, false});
      const auto shown = words_of(text);
      for (const auto& [word, count] : wanted) {
        const auto found = shown.find(word);
        ASSERT_TRUE(found != shown.end()) << word << " at width " << width << "\n" << text.substr(0, 4000);
        EXPECT_GE(found->second, count) << word << " at width " << width;
      }
      std::istringstream in(text);
      for (std::string line; std::getline(in, line);) EXPECT_LE(display_width(line), width) << line;
    }
  }
}

TEST(Documents, ColourChangesNoCharacterThatIsShown) {
  const auto document = fake_document();
  const auto plain = terminal_text(document, {80, false});
  const auto coloured = terminal_text(document, {80, true});
  EXPECT_NE(coloured, plain);
  EXPECT_EQ(std::regex_replace(coloured, std::regex("\x1b\\[[0-9;]*m"), ""), plain);
}

TEST(Values, TerminalShowsBothValuesAndTheVerdict) {
  const auto text = terminal_text(document_of(small_values()), {100, false});
  const std::string golden =
      "A table of values\n"
      "What an accountant computes.\n"
      "\n"
      "Values: epsilon\n"
      "\n"
      "Dataset   Optimizer   σ = 1                      σ = 2\n"
      "──────────────────────────────────────────────────────────────────────────────\n"
      "Adult     Adam        1.00                       0.50\n"
      "                      paper 1.00                 paper 0.60\n"
      "                      difference 0.00, in band   difference -0.10, out of band\n"
      "ENRON     SGD         3.14 [1]                   2.50\n"
      "                                                 paper\n"
      "Gisette   SGD         not stated                 -\n"
      "\n"
      "[1] Not printed in the paper.\n";
  EXPECT_EQ(text.substr(0, golden.size()), golden) << text;
}

TEST(Values, MarkdownShowsThem) {
  const auto text = markdown_text(document_of(small_values()));
  EXPECT_NE(text.find("| Dataset | Optimizer | σ = 1 | σ = 2 |\n| --- | --- | ---: | ---: |\n"
                      "| Adult | Adam | 1.00<br>paper 1.00<br>difference 0.00, in band | 0.50<br>paper "
                      "0.60<br>difference "
                      "-0.10, out of band |\n"
                      "| ENRON | SGD | 3.14 <sup>1</sup> | 2.50<br>paper |\n"
                      "| Gisette | SGD | not stated | - |\n"),
            std::string::npos)
      << text;
}

TEST(Values, CsvHoldsEveryNumberWithoutRoundingNoise) {
  const auto text = csv_values(small_values());
  EXPECT_TRUE(text.starts_with(
      "table,Dataset,Optimizer,column,ours,paper,paper_sd,difference,tolerance,in_band,text,unit,notes\r\n"
      "mohapatra-table-1,Adult,Adam,σ = 1,1.001,1,,0.001,0.005,yes,,epsilon,\r\n"
      "mohapatra-table-1,Adult,Adam,σ = 2,0.5,0.6,,-0.1,0.005,no,,epsilon,\r\n"
      "mohapatra-table-1,ENRON,SGD,σ = 1,3.141,,,,,,,epsilon,Not printed in the paper.\r\n"))
      << text;
}

TEST(Values, ThePapersValuesAloneSaySo) {
  auto table = small_values();
  for (auto& row : table.rows) {
    for (auto& cell : row.cells) cell.ours.reset();
  }
  const auto document = document_of(table);
  EXPECT_EQ(document.notes.back(), "These are the paper's own values; nothing was computed or run here.");
  EXPECT_EQ(document.panels[0].rows[0].cells[0].main, "1.00");
  EXPECT_TRUE(document.panels[0].rows[0].cells[0].details.empty()) << "every cell is the paper's";
}

TEST(ValueDocument, AFootnoteOfNoCellIsANoteOfTheTable) {
  auto table = small_values();
  table.footnotes = {"said of all", "said of one", "said of all, too"};
  table.notes = {"how to read it"};
  for (auto& row : table.rows) {
    for (auto& cell : row.cells) cell.notes.clear();
  }
  table.rows[0].cells[0].notes = {2};
  const auto document = document_of(table);
  EXPECT_EQ(document.footnotes, std::vector<std::string>{"said of one"});
  EXPECT_EQ(document.panels[0].rows[0].cells[0].notes, std::vector<int>{1});
  ASSERT_GE(document.notes.size(), 3U);
  EXPECT_EQ(document.notes[0], "said of all");
  EXPECT_EQ(document.notes[1], "said of all, too");
  EXPECT_EQ(document.notes[2], "how to read it");
}

TEST(ValueDocument, AFormulasValueIsNotCalledThePapers) {
  auto table = small_values();
  table.source = ValueTable::Source::formula;
  const auto text = terminal_text(document_of(table), {100, false});
  EXPECT_NE(text.find("formula 1.00"), std::string::npos) << text;
  EXPECT_NE(text.find("which the paper does not print"), std::string::npos) << text;
  EXPECT_EQ(text.find("paper 1.00"), std::string::npos) << text;
  EXPECT_NE(csv_values(table).find(",ours,formula,"), std::string::npos);
}

TEST(ValueDocument, ThePapersValueHasItsOwnDigits) {
  auto cell = value(32.9, 33);
  cell.paper_decimals = 0;
  EXPECT_EQ(text_of(cell).main, "32.90");
  EXPECT_EQ(text_of(cell).details.front(), "paper 33");
  cell.ours.reset();
  EXPECT_EQ(text_of(cell).main, "33");
}

TEST(Values, ASmallNumberNeverReadsAsZero) {
  EXPECT_EQ(text_of(value(0.0001, std::nullopt)).main, "1.0e-04");
  EXPECT_EQ(text_of(value(0, std::nullopt)).main, "0.00");
  EXPECT_EQ(text_of(value(INFINITY, std::nullopt)).main, "∞");
  EXPECT_EQ(text_of(value(-0.004, std::nullopt)).main, "-4.0e-03");
}

std::string latex_log(const std::string& text, const std::string& name, int& status) {
  const auto folder =
      std::filesystem::temp_directory_path() / fmt::format("hyfreedp-latex-{}-{}", name, ::getpid());
  EXPECT_TRUE(write_file_atomically((folder / "table.tex").string(), text));
  status = std::system(
      fmt::format("cd '{}' && pdflatex -halt-on-error -interaction=nonstopmode table.tex > /dev/null 2>&1",
                  folder.string())
          .c_str());
  auto log = read_file((folder / "table.log").string());
  std::filesystem::remove_all(folder);
  return log ? *log : "no log";
}

void expect_compiles(const std::string& text, const std::string& name) {
  int status = 1;
  const auto log = latex_log(text, name, status);
  EXPECT_EQ(status, 0) << name << "\n" << log.substr(log.size() - std::min<std::size_t>(log.size(), 1500));
  for (const char* trouble : {"Overfull", "LaTeX Warning", "Missing character"}) {
    const auto at = log.find(trouble);
    EXPECT_EQ(at, std::string::npos) << name << ": " << log.substr(at, 200);
  }
}

TEST(Latex, Compiles) {
  if (std::system("command -v pdflatex > /dev/null 2>&1") != 0) {
    GTEST_SKIP()
        << "pdflatex is not installed. Debian: apt-get install texlive-latex-base texlive-latex-recommended";
  }
  expect_compiles(latex_text(small_document()), "small");
  expect_compiles(latex_text(small_document(true)), "confidential");
  expect_compiles(latex_text(fake_document()), "fake");
  expect_compiles(latex_text(document_of(small_values())), "values");
  expect_compiles(latex_text(document_of(large_values())), "large");
  const auto tables = latex_text(fake_document(), LatexPart::tables);
  EXPECT_EQ(tables.find("\\documentclass"), std::string::npos);
  expect_compiles("\\documentclass{article}\\usepackage{booktabs,array,graphicx}\\begin{document}\n" +
                      tables + "\\end{document}\n",
                  "tables");
}

TEST(Latex, ShowsWhatTheOthersShow) {
  const auto text = latex_text(small_document());
  EXPECT_NE(
      text.find(
          "{}Row A & {\\scriptsize end-to-end DP} & \\textbf{82.0 $\\pm$ 2.0} & 90.0 $\\pm$ 0.0 & 500 ms "
          "\\\\*\n"),
      std::string::npos)
      << text;
  EXPECT_NE(text.find("\\textit{diverged}$^{3}$"), std::string::npos) << text;
  EXPECT_EQ(latex_escaped("a_b & 50 % ε 漢"), "a\\_b \\& 50 \\% $\\varepsilon$ [U+6F22]");
  EXPECT_EQ(latex_escaped("\xff|"), "[U+FFFD]\\textbar{}");
}

TEST(HtmlPage, IsValidAndAsksNobody) {
  const auto page = html_page(document_of(large_values()), "body { color: black; }");
  EXPECT_EQ(page.find("http"), std::string::npos);
  EXPECT_EQ(page.find("<script"), std::string::npos);
  if (std::system("command -v tidy > /dev/null 2>&1") != 0) {
    GTEST_SKIP() << "tidy is not installed. Debian: apt-get install tidy";
  }
  int number = 0;
  for (const auto& document :
       {document_of(large_values()), document_of(small_values()), fake_document(), small_document(true)}) {
    const auto path = (std::filesystem::temp_directory_path() /
                       fmt::format("hyfreedp-page-{}-{}.html", ::getpid(), number++))
                          .string();
    ASSERT_TRUE(write_file_atomically(path, html_page(document, "body { color: black; }")));
    EXPECT_EQ(std::system(fmt::format("tidy -e -q '{}'", path).c_str()), 0) << "warnings of tidy above";
    std::filesystem::remove(path);
  }
}

TEST(HtmlPage, DocumentsOnOnePageKeepTheirFootnotesApart) {
  const auto text = html_tables(small_document(), "a-") + html_tables(small_document(), "b-");
  EXPECT_NE(text.find("<li id=\"a-note-1\">"), std::string::npos);
  EXPECT_NE(text.find("<li id=\"b-note-1\">"), std::string::npos);
  EXPECT_NE(text.find("<a href=\"#b-note-4\">4</a>"), std::string::npos);
}

TEST(HtmlPage, ConfidentialOnesAreWatermarked) {
  EXPECT_NE(html_page(small_document(true), "").find(kWatermark), std::string::npos);
  EXPECT_NE(latex_text(small_document(true)).find(kWatermark), std::string::npos);
  EXPECT_EQ(html_page(small_document(), "").find("CONFIDENTIAL"), std::string::npos);
  EXPECT_EQ(latex_text(small_document()).find("CONFIDENTIAL"), std::string::npos);
  EXPECT_EQ(latex_text(small_document()).find(small::kPlantedDigits), std::string::npos);
}

}  // namespace document_test
}  // namespace hyfreedp::results
