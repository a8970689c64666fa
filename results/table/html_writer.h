// Writes a document (results/table/document.h) as HTML5 without scripts: fragments for another
// page, such as the report (plots/report.cpp), or a complete page.
//
// Every data cell has the title of its column in the attribute data-column. On a narrow screen the
// report's style sheet shows each row as a block with these titles. `prefix` is put before the ids
// of footnotes, so that several documents can be in one page.
#pragma once

#include <string>

#include "results/table/document.h"

namespace hyfreedp::results {

// `text` with the characters & < > " ' as character references.
std::string html_escaped(const std::string& text);

// The tables of all panels, then html_notes().
std::string html_tables(const Document& document, const std::string& prefix = "");
// The numbered footnotes, to which the markers link, and the notes on how to read the table.
std::string html_notes(const Document& document, const std::string& prefix = "");

// A complete page with title, description, banners, tables and notes. `style` is CSS. The page
// loads no other files. A confidential document has a warning at the top and at the bottom.
std::string html_page(const Document& document, const std::string& style);

}  // namespace hyfreedp::results
