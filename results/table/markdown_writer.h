// Writes a document (results/table/document.h) as GitHub-flavoured Markdown.
#pragma once

#include <string>

#include "results/table/document.h"

namespace hyfreedp::results {

// The document: title, description, banners, one table for each panel, footnotes and notes. A
// confidential one has a warning at the beginning and at the end.
std::string markdown_text(const Document& document);

}  // namespace hyfreedp::results
