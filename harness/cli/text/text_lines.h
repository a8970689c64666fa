// The texts of a file that a user names.
#pragma once

#include <string>
#include <vector>

#include "harness/base/result.h"

namespace hyfreedp::cli {

// The lines of the file, empty ones included; of standard input where `path` is "-". Of a file
// called *.jsonl, which has a JSON object a line, the texts of the member `member`. Texts are
// UTF-8; errors name the line.
Result<std::vector<std::string>> text_lines(const std::string& path, const std::string& member);

}  // namespace hyfreedp::cli
