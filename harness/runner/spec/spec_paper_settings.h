// The settings that a paper's values, the assumptions about it and titles were said of.
//
// A spec that `reproduces` a table says in its presets what was trained for which printed cell, and
// what was assumed for it. That belongs to these settings: where a panel is trained otherwise, by
// an edit, an including file, another preset or --set, its paper's values, assumptions and title
// would be of something else. settings.json beside values.json knows the settings of each table's
// panels and rows, by digests; tests/runner/paper_settings_test.cpp writes it.
//
//   {"table 2": {"panels": [DIGEST, ...], "rows": [DIGEST, ...], "texts": [DIGEST, ...]}, ...}
//
// A digest is of all that decides a run but seeds, epsilon, device, and where files lie on this
// machine. `texts`: titles and footnotes of the panels, and what is assumed.
#pragma once

#include <set>
#include <string>

#include "harness/runner/spec/spec_entry.h"
#include "harness/spec/spec.h"

namespace hyfreedp::runner {

struct PaperSettings {
  std::set<std::string> panels, rows, texts;
};

std::string digest_of_settings(const spec::Panel& panel);
std::string digest_of_settings(const spec::Row& row);
std::string digest_of_text(const std::string& text);

// Texts about other settings than a panel's.
struct LeftOut {
  std::set<std::string> panels;  // ids
  std::set<std::string> texts;   // digests
  bool is_left_out(const std::string& panel, const std::string& text) const {
    return panels.contains(panel) && texts.contains(digest_of_text(text));
  }
};
// Takes the paper's values from panels and rows with other settings than those known of what the
// spec reproduces, and what was said of them from such panels; says so in a footnote of each and a
// warning. Nothing is left out where there is no settings.json, or it does not have the table.
LeftOut leave_out_paper(const Entry& reproduces, spec::Spec& spec, Problems& problems);

}  // namespace hyfreedp::runner
