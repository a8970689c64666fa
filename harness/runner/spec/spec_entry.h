// A place in a YAML file: a node that knows its line and key path, so that every error can name
// both.
//
//   experiments/quick.yaml:12: panels[1].train.steps must be a number, not 'many'. Example:
//   `steps: 100`.
//
// Parts of a document may come from several texts: files that include others, and `--set` of a
// command line. Errors name the text that a value was written in.
//
// A scalar without quotes is null (~, null or nothing), true or false, a whole number, a number
// (inf and .inf are infinite) or text, in this order; a quoted one is text. A key that occurs twice
// in one map is an error.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/base/describe.h"
#include "harness/runner/spec/mistakes/spec_problems.h"
#include "harness/runner/spec/spec_yaml.h"

namespace hyfreedp::runner {

// The texts of a document. A node knows its line and not its text, so the lines of all
// texts have one numbering: each text's follow those of the text before.
class Texts {
 public:
  // `name`: of a file, or "--set KEY". Returns the number of lines before its own.
  int add(const std::string& name, const std::string& text, bool has_lines);
  const std::string& name_at(int line) const;
  std::string place_at(int line) const;  // "FILE:12", "--set KEY"; lines count from 0

 private:
  struct Text {
    std::string name;
    int begin = 0;
    bool has_lines = true;
  };
  std::vector<Text> texts_;
  int lines_ = 0;
  const Text& at(int line) const;
};

class Entry {
 public:
  // The whole document. `file` is the name that errors use. Refused, with its line: what
  // spec_yaml.h says; tabs that indent, where they break the YAML.
  static Result<Entry> parse(const std::string& file, const std::string& text);
  // A further text of the same document: another file ...
  Result<Entry> parse_further(const std::string& file, const std::string& text) const;
  // ... or one that has no lines: `name` stands for it.
  Result<Entry> parse_argument(const std::string& name, const std::string& text) const;

  // "FILE:LINE: PATH what.", and an example of what may stand here: that of the path
  // (spec_examples.h), or the one given, a line of YAML.
  Error wrong(const std::string& what) const;
  Error wrong(const std::string& what, const std::string& example) const;
  // The same of something inside: "FILE:LINE: PATH: what."
  Error wrong_inside(const std::string& what, const std::string& example) const;
  // The same, for what somebody else found wrong with the value: "FILE:LINE: PATH: message".
  Error wrong(const Error& found) const;
  // "FILE:LINE: text", for what is no mistake.
  Error remark(const std::string& text) const;
  // The map lacks `key`. Nothing is added where it has a misspelt one.
  void need(const std::string& key, Problems& problems) const;
  std::string place() const;        // "FILE:LINE"
  std::string where() const;        // "FILE:LINE: PATH"
  const std::string& file() const;  // that it was written in
  const std::string& path() const { return path_; }

  bool is_map() const { return node_->is(YamlNode::Kind::map); }
  bool is_list() const { return node_->is(YamlNode::Kind::list); }
  bool is_text() const;
  bool is_null() const { return node_->is(YamlNode::Kind::null); }

  // Maps. check_keys: this is a map, its keys are text, none occurs twice and each is one of
  // `valid` (null: any). Returns whether it is a map. `options`: those among the valid keys that
  // have an example to show.
  bool check_keys(const std::vector<std::string>* valid, Problems& problems,
                  const std::vector<OptionSpec>* options = nullptr) const;
  std::vector<std::string> keys() const;  // those that are text
  std::optional<Entry> find(const std::string& key) const;

  // Lists; a single value is not a list.
  Result<std::vector<Entry>> list() const;

  // Scalars.
  Result<std::string> text() const;     // true and false without quotes are none
  Result<std::string> written() const;  // as it is written, true and false as well
  Result<double> number() const;
  Result<std::int64_t> integer() const;
  Result<json::value> to_json() const;  // scalars, and lists of scalars
  std::string shown() const;            // as an error quotes it: 'text', "a map"

  // This map with `over` laid over it: maps are merged key by key, everything else is replaced.
  // Errors still name the line in which a value was written.
  Entry overlaid(const Entry& over) const;
  // This map without one key.
  Entry without(const std::string& key) const;
  // This map with `value` under `key`, in its place where there is one.
  Entry with(const std::string& key, const Entry& value) const;
  // This list with `value` as its element `index`, which it has.
  Entry with(std::size_t index, const Entry& value) const;
  // A map with the path `path` that has this entry at a.b.c, given {"a", "b", "c"}.
  Entry nested(const std::vector<std::string>& keys, const std::string& path) const;

 private:
  Entry(YamlNode::Ref node, std::shared_ptr<Texts> texts, std::string path)
      : node_(std::move(node)), texts_(std::move(texts)), path_(std::move(path)) {}
  static Result<Entry> parse_into(std::shared_ptr<Texts> texts, const std::string& name,
                                  const std::string& text, bool has_lines);
  int line() const;

  YamlNode::Ref node_;
  std::shared_ptr<Texts> texts_;  // that all entries of a document share
  std::string path_;
};

// Levels of settings: maps laid over each other, where the first one that has a key decides.
class Layers {
 public:
  Layers() = default;
  explicit Layers(std::vector<Entry> maps) : maps_(std::move(maps)) {}
  void add(const std::optional<Entry>& map);  // below those there are; absent: nothing
  bool empty() const { return maps_.empty(); }
  const std::vector<Entry>& maps() const { return maps_; }
  std::optional<Entry> find(const std::string& key) const;
  // The maps that the levels have at `key`, the topmost first.
  Layers below(const std::string& key) const;
  void check_keys(const std::vector<std::string>& valid, Problems& problems,
                  const std::vector<OptionSpec>* options = nullptr) const;
  // The errors of Entry, for the topmost map. There must be a map.
  Error wrong(const std::string& what) const;
  void need(const std::string& key, Problems& problems) const;

 private:
  std::vector<Entry> maps_;
};

// The options of `table` that the layers give, checked one by one so that an error names its own
// line, with every default filled in. None if any is wrong. Keys that are no options are passed
// over.
std::optional<json::object> known_options(const std::vector<OptionSpec>& table, const Layers& layers,
                                          Problems& problems);
// The same, and every key is one of the options or of `other`, which belong to somebody else.
std::optional<json::object> options_from(const std::vector<OptionSpec>& table, const Layers& layers,
                                         Problems& problems, const std::vector<std::string>& other = {});
// The same as the struct whose members they are (options_of).
template <class T>
std::optional<T> read_options(const std::vector<OptionSpec>& table, const Layers& layers, Problems& problems,
                              const std::vector<std::string>& other = {}) {
  const auto options = options_from(table, layers, problems, other);
  if (!options) return std::nullopt;
  return from_json<T>(*options, "options").value();
}

}  // namespace hyfreedp::runner
