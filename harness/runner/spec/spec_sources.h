// The document that a spec is read from: its file with what that includes, one of its presets, and
// the settings of a command line, each laid over the one before.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/runner/spec/spec_entry.h"

namespace hyfreedp::runner {

struct SpecSources {
  std::string path;
  std::string text;                   // of the file
  std::string preset;                 // empty: the default one
  std::vector<std::string> settings;  // KEY=VALUE each
};

struct LaidDocument {
  Entry document;
  std::string preset;  // empty where the spec has none
  std::string text;    // of the files, and in comments the settings
};

// `keys`: those that the top level may have; null: any. None if something is wrong.
std::optional<LaidDocument> laid_document(const SpecSources& sources, const std::vector<std::string>* keys,
                                          Problems& problems);

}  // namespace hyfreedp::runner
