// A table as GitHub-flavoured Markdown.
#pragma once

#include <string>

#include "results/document.h"

namespace hyfreedp::results {

std::string markdown_text(const Document& document);
std::string markdown_table(const TableModel& table);

}  // namespace hyfreedp::results
