// A table as HTML5, without script. plots/report.cpp puts fragments into its own page; html_page
// makes a whole one.
//
// On a narrow screen the report's style turns each row into a block, for which every data cell has
// its column's title in data-column. `prefix` is put before the ids of footnotes, so that several
// documents can share a page.
#pragma once

#include <string>

#include "results/document.h"

namespace hyfreedp::results {

std::string html_escaped(const std::string& text);

// All panels, then the footnotes (targets of the markers) and how to read the table.
std::string html_tables(const Document& document, const std::string& prefix = "");
std::string html_notes(const Document& document, const std::string& prefix = "");

// A page with title, description, banners, tables and notes; `style` is CSS. It loads nothing from
// elsewhere.
std::string html_page(const Document& document, const std::string& style);

}  // namespace hyfreedp::results
