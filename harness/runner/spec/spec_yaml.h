// Makes one YAML document from the bytes of a text that a person wrote, before anything of it is
// read.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "harness/base/result.h"

namespace hyfreedp::runner {

class Texts;

// A value of a document, and all that is in it. Documents that are put together from others share
// their parts: a YAML::Node cannot, since whatever stands in one of its maps joins its document, at
// a cost that grows with both.
struct YamlNode {
  using Ref = std::shared_ptr<const YamlNode>;
  enum class Kind { null, scalar, list, map };
  Kind kind = Kind::null;
  int line = -1;        // from 0; below it: put together from others
  std::string scalar;   // as it is written, without quotes
  bool quoted = false;  // the scalar
  std::vector<Ref> elements;
  std::vector<std::pair<Ref, Ref>> members;  // keys and values in their order

  bool is(Kind other) const { return kind == other; }
};

// An error where the text is not UTF-8, with the place of the first byte that is not, and how to
// mend it; UTF-16 and UTF-32 are named. `has_lines`: it is a file's, not that of an argument.
Result<void> check_encoding(const std::string& name, const std::string& text, bool has_lines);

// The document in a text that begins after line `begin` of `texts`, which knows it. An error, with
// its line, where it is no YAML, has a second document, is nested deeper than any spec is, or
// stands for itself (an alias inside the list or map that it names).
Result<YamlNode::Ref> load_yaml(const Texts& texts, const std::string& text, int begin);

}  // namespace hyfreedp::runner
