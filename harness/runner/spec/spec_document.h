// The YAML of a spec before its keys are read: what its file includes, and what `--set` changes.
//
//   include: base.yaml             or a list; at the top level of any of the files
// Laid below what the file itself says, a later one of a list over earlier ones: maps are merged
// key by key, everything else is replaced. What a file says itself is laid over the presets of the
// files below it, too. A relative path starts at the file that has it.
//
//   --set KEY=VALUE
// KEY is the path of a value in the top level as the preset makes it: names of keys, and of
// elements of a list their id, method or position from 0, joined by dots: defaults.train.steps,
// panels.main.rows.0.title. VALUE is YAML. What lacks on the way is made, and a plain name that
// stands for a map (`model: mlp`, a shared row) becomes it. It is the same as that change of the
// file, but for errors, which name `--set KEY`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/runner/spec/spec_entry.h"
#include "harness/runner/spec/spec_file.h"

namespace hyfreedp::runner {

// Says whether each layer keeps its `defaults`, or has them at the top level (spec_defaults.h).
enum class Defaults { as_written, at_top_level };

struct SpecDocument {
  std::vector<Entry> layers;  // what each file says, without `include`, the lowest first
  std::string text;           // of the file, and as comments those of the files that it includes
};

// `text`: that of the file `path`. None if a file is missing, is no YAML, has a key twice where it
// is to be merged, or includes itself.
std::optional<SpecDocument> parse_document(const std::string& path, const std::string& text,
                                           Defaults defaults, Problems& problems);

// The settings are made in their order.
Result<Entry> with_settings(const Entry& document, const std::vector<std::string>& settings,
                            Defaults defaults);
// The key of one, "a.b" of "a.b=VALUE".
std::string key_of_setting(const std::string& setting);
// A spec's text, with the settings in comments.
std::string text_with(const std::string& text, const std::vector<std::string>& settings);

}  // namespace hyfreedp::runner
