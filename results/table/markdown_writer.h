// Writes a document (results/table/document.h) as GitHub-flavoured Markdown.
#pragma once

#include <string>

#include "results/table/document.h"

namespace hyfreedp::results {

// The document: title, description, banners, one table for each panel, footnotes and notes. A
// confidential one has a warning at the beginning and at the end.
std::string markdown_text(const Document& document);
// The same for a comparison.
std::string markdown_table(const TableModel& table);

}  // namespace hyfreedp::results
