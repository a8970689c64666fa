// The table as GitHub-flavoured Markdown.
#pragma once

#include <string>

#include "results/table_model.h"

namespace hyfreedp::results {

std::string markdown_table(const TableModel& table);

}  // namespace hyfreedp::results
