#include <gtest/gtest.h>
#include <sstream>

#include "results/table/cell_text.h"
#include "results/table/csv_writer.h"
#include "results/table/html_writer.h"
#include "results/table/markdown_writer.h"
#include "results/table/terminal_writer.h"
#include "tests/results/fake_database.h"
#include "tests/results/small_database.h"

namespace hyfreedp::results {
namespace writers_test {

TableModel small_table(bool confidential = false) {
  auto store = *Store::in_memory();
  EXPECT_TRUE(small::fill(*store));
  return *build_table(*store, "small", {.confidential = confidential});
}

std::string html_of(const TableModel& table) { return html_tables(document_of(table)); }

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

// RFC 4180, read independently of the writer.
std::vector<std::vector<std::string>> parse_csv(const std::string& text) {
  std::vector<std::vector<std::string>> records(1);
  std::string field;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c == '"' && i + 1 < text.size() && text[i + 1] == '"')
        field += '"', ++i;
      else if (c == '"')
        quoted = false;
      else
        field += c;
    } else if (c == '"') {
      quoted = true;
    } else if (c == ',') {
      records.back().push_back(std::move(field)), field.clear();
    } else if (c == '\r' && i + 1 < text.size() && text[i + 1] == '\n') {
      records.back().push_back(std::move(field)), field.clear();
      records.emplace_back(), ++i;
    } else {
      field += c;
    }
  }
  records.pop_back();
  return records;
}

TEST(CellText, EpsilonIsRoundedUp) {
  EXPECT_EQ(epsilon_text(0.99994), "1.00");
  EXPECT_EQ(epsilon_text(1.001), "1.01");
  EXPECT_EQ(epsilon_text(1.0000000001), "1.00");
  EXPECT_EQ(epsilon_text(1e-9), "<0.01");
  EXPECT_EQ(epsilon_text(0), "0.00");
  EXPECT_EQ(epsilon_text(INFINITY), "∞");
}

TEST(CellText, WidthCountsCharactersNotBytes) { EXPECT_EQ(display_width("ε ± 1"), 5u); }

TEST(Terminal, Golden) {
  const auto text = terminal_table(small_table(), {100, false});
  const std::string golden =
      "A small table\n"
      "\n"
      "Panel, one [1]\n"
      "N = 1000, d = 20, T = 10, q = 0.1, δ = 1e-05, optimizer prodigy\n"
      "\n"
      "Method                                     ε = 1                     non-private    Time\n";
  EXPECT_EQ(text.substr(0, golden.size()), golden);
  EXPECT_NE(
      text.find(
          "\nRow A                                      82.0 ± 2.0 *              90.0 ± 0.0     500 ms\n"
          "  end-to-end DP                            ε 0.99, n 3               n 3\n"
          "Row \"B\", quoted                            71.0 ± 1.4 [2]            diverged [3]   500 ms\n"
          "  end-to-end DP; paper accounting:         ε 1.30 (claimed 1), n 2\n"
          "  epsilon understated [4]\n"
          "Row C                                      61.0 ± 1.0                n/a            500 ms\n"),
      std::string::npos)
      << text;
}

TEST(Terminal, NeverCutsAValueHoweverNarrow) {
  const auto model = small_table();
  for (const std::size_t width : {200u, 100u, 60u, 45u, 10u}) {
    const auto text = terminal_table(model, {width, false});
    for (const char* value : {"82.0 ± 2.0", "90.0 ± 0.0", "71.0 ± 1.4 [2]", "ε 1.30 (claimed 1), n 2",
                              "diverged [3]", "61.0 ± 1.0", "500 ms"}) {
      EXPECT_NE(text.find(value), std::string::npos) << value << " at " << width;
    }
    if (width < 60) continue;
    for (const auto& line : lines_of(text)) EXPECT_LE(display_width(line), width) << line;
  }
}

TEST(Terminal, ColourOnlyWhenAskedFor) {
  EXPECT_EQ(terminal_table(small_table(), {100, false}).find('\x1b'), std::string::npos);
  EXPECT_NE(terminal_table(small_table(), {100, true}).find("\x1b[1m"), std::string::npos);
}

TEST(Markdown, Golden) {
  const auto text = markdown_text(document_of(small_table()));
  EXPECT_NE(
      text.find("| Method | Label, flags | ε = 1 | non-private | Time |\n| --- | --- | ---: | ---: | ---: |\n"
                "| Row A | end-to-end DP | **82.0 ± 2.0**<br>ε 0.99, n 3 | 90.0 ± 0.0<br>n 3 | 500 ms |\n"
                "| Row \"B\", quoted <sup>4</sup> | end-to-end DP; paper accounting: epsilon understated | "
                "71.0 ± 1.4 "
                "<sup>2</sup><br>ε 1.30 (claimed 1), n 2 | diverged <sup>3</sup> | 500 ms |\n"),
      std::string::npos)
      << text;
}

TEST(Markdown, MemoryHasAColumnWhereItIsKnown) {
  auto model = small_table();
  model.panels[0].rows[0].memory = {.host = 412'000'000, .device = 3'140'000'000};
  const auto text = markdown_text(document_of(model));
  for (const char* part :
       {"| non-private | Time | Memory |\n", "| 500 ms | 412 MB, GPU 3.14 GB |\n", "| 500 ms | - |\n"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << text;
  }
}

TEST(Markdown, EveryTableLineHasTheSameNumberOfCells) {
  auto model = small_table();
  model.panels[0].rows[0].title = "a | b * c <d>";
  for (const auto& line : lines_of(markdown_text(document_of(model)))) {
    if (!line.starts_with("| ")) continue;
    int bars = 0;
    for (std::size_t i = 0; i < line.size(); ++i) bars += line[i] == '|' && (i == 0 || line[i - 1] != '\\');
    EXPECT_EQ(bars, 6) << line;
  }
}

TEST(Csv, ReadsBack) {
  const auto records = parse_csv(csv_table(small_table()));
  ASSERT_EQ(records.size(), 1u + 6u);
  for (const auto& record : records) EXPECT_EQ(record.size(), records[0].size());
  const auto at = [&](std::size_t line, const std::string& column) {
    const auto found = std::find(records[0].begin(), records[0].end(), column);
    EXPECT_NE(found, records[0].end()) << column;
    return records[line][static_cast<std::size_t>(found - records[0].begin())];
  };
  EXPECT_NEAR(std::stod(at(1, "accuracy_mean")), 82, 1e-12);
  EXPECT_NEAR(std::stod(at(1, "accuracy_sd")), 2, 1e-12);
  EXPECT_EQ(at(1, "epsilon"), "0.99");
  EXPECT_EQ(at(2, "epsilon_target"), "inf");
  EXPECT_EQ(at(3, "title"), "Row \"B\", quoted");
  EXPECT_EQ(at(3, "flags"), "paper accounting: epsilon understated");
  EXPECT_EQ(at(3, "failed_seeds"), "1: diverged");
  EXPECT_EQ(at(3, "n"), "2");
  EXPECT_EQ(at(4, "state"), "failed");
  EXPECT_EQ(at(4, "failure"), "diverged");
  EXPECT_EQ(at(6, "state"), "not planned");
}

TEST(Csv, MemoryHasColumnsWhereItIsKnown) {
  EXPECT_EQ(csv_table(small_table()).find("peak_bytes"), std::string::npos);
  auto model = small_table();
  auto& row = model.panels[0].rows[0];
  row.memory = row.cells[0].memory = {.host = 412'000'000, .device = 3'140'000'000};
  const auto records = parse_csv(csv_table(model));
  for (const auto& record : records) ASSERT_EQ(record.size(), records[0].size());
  const auto last = records[0].size() - 1;
  EXPECT_EQ(records[0][last - 1], "peak_bytes");
  EXPECT_EQ(records[0][last], "device_peak_bytes");
  EXPECT_EQ(records[1][last - 1], "412000000");
  EXPECT_EQ(records[1][last], "3140000000");
  EXPECT_EQ(records[2][last - 1], "") << "not recorded";
}

TEST(Csv, QuotesWhatNeedsIt) {
  EXPECT_EQ(csv_record({"a", "b,c", "d\"e", "f\ng"}), "a,\"b,c\",\"d\"\"e\",\"f\ng\"\r\n");
}

TEST(Html, EscapesAndLinksFootnotes) {
  const auto text = html_of(small_table());
  EXPECT_NE(text.find("Row &quot;B&quot;, quoted<sup><a href=\"#note-4\">4</a></sup>"), std::string::npos)
      << text;
  EXPECT_NE(text.find("<li id=\"note-4\">"), std::string::npos);
  EXPECT_NE(text.find("<td class=\"failed\" data-column=\"non-private\"><span>diverged<sup>"),
            std::string::npos);
  EXPECT_EQ(html_escaped("<a href='x'>&\""), "&lt;a href=&#39;x&#39;&gt;&amp;&quot;");
}

TEST(Writers, ConfidentialValuesNeverLeakAndAreWatermarkedWhenAskedFor) {
  const std::string shown = "validation 65.4";
  const auto model = small_table();
  for (const auto& text :
       {terminal_table(model, {}), markdown_text(document_of(model)), csv_table(model), html_of(model)}) {
    EXPECT_EQ(text.find("65.4"), std::string::npos);
    EXPECT_EQ(text.find(small::kPlantedDigits), std::string::npos);
    EXPECT_EQ(text.find("validation 6"), std::string::npos);
    EXPECT_EQ(text.find("runs,"), std::string::npos);
  }
  const auto open = small_table(true);
  for (const auto& text : {terminal_table(open, {}), markdown_text(document_of(open)), html_of(open)}) {
    EXPECT_NE(text.find(shown), std::string::npos) << text;
  }
  for (const auto& text : {terminal_table(open, {}), markdown_text(document_of(open)), csv_table(open)}) {
    EXPECT_NE(text.find("CONFIDENTIAL"), std::string::npos);
  }
}

TEST(Writers, TheWholeFakeTableHasNoBlankCell) {
  auto store = *Store::in_memory();
  ASSERT_TRUE(fake::fill(*store));
  const auto table = build_table(*store, "fake");
  ASSERT_TRUE(table);
  for (const auto& panel : table->panels) {
    for (const auto& row : panel.rows) {
      ASSERT_EQ(row.cells.size(), 4u);
      for (const auto& cell : row.cells) EXPECT_FALSE(text_of(cell).main.empty()) << row.id;
    }
  }
}

}  // namespace writers_test
}  // namespace hyfreedp::results
