// From the bytes of a text that a person wrote to one YAML document, before anything of it is read.
#pragma once

#include <memory>
#include <string>
#include <yaml-cpp/yaml.h>

#include "harness/base/result.h"

namespace hyfreedp::runner {

class Texts;

// An error where the text is not UTF-8, with the place of the first byte that is not, and how to
// mend it; UTF-16 and UTF-32 are named. `has_lines`: it is a file's, not that of an argument.
Result<void> check_encoding(const std::string& name, const std::string& text, bool has_lines);

// The document in a text that begins after line `begin` of `texts`, which knows it. An error, with
// its line, where it is no YAML, has a second document, is nested deeper than any spec is, or
// stands for itself (an alias inside the list or map that it names).
Result<std::shared_ptr<const YAML::Node>> load_yaml(const Texts& texts, const std::string& text, int begin);

}  // namespace hyfreedp::runner
