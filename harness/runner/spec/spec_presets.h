// Presets: variants of one spec in one file. A preset is laid over the top level: maps are merged
// key by key, everything else is replaced.
//
//   presets:
//     paper: {...}
//     small: {...}
//     smoke: {from: small, ...}     # laid over what `small` gives
//
// The preset of an included file is laid over that file, below what includes it.
//
// The default preset is `small` if there is one, else the first. A preset may have any top-level
// key except `name` (to which the preset's name is added), `presets`, and `include` and
// `reproduces`, which belong to the whole file.
#pragma once

#include <string>
#include <vector>

#include "harness/runner/spec/spec_entry.h"

namespace hyfreedp::runner {

struct ChosenPreset {
  Entry document;      // the top level as the preset makes it, without `presets`
  std::string preset;  // empty where the spec has none
};

// Layers without their presets laid over each other, the lowest first.
Entry laid_over_each_other(const std::vector<Entry>& layers);
// The names of the presets in the order of the file; empty if there are none; absent if a name is
// wrong. `document`: with all presets.
std::optional<std::vector<std::string>> preset_names(const Entry& document, Problems& problems);
// `layers`: what each file says, the lowest first; at least one. An unknown name, or one where
// there are no presets, is a mistake that names those there are; the answer is absent then.
std::optional<ChosenPreset> choose_preset(const std::vector<Entry>& layers, const std::string& wanted,
                                          const std::vector<std::string>& spec_keys, Problems& problems);

}  // namespace hyfreedp::runner
