// `defaults`: what all panels have unless they say otherwise. A spec without `panels` has one
// panel, of which both the top level and `defaults` may say something:
//
//   train: {steps: 100}                    a file
//   --set defaults.train.steps=500         what is laid over it: an including file, a preset, --set
//
// The setting that is laid over the other counts, under whichever name it stands; in one and the
// same layer both are a contradiction.
#pragma once

#include <string>
#include <vector>

#include "harness/runner/spec/spec_entry.h"

namespace hyfreedp::runner {

// True if a document without `panels` has a setting at the top level and under `defaults`.
bool says_twice(const Entry& document);

// A layer with the settings of its `defaults`, and of those of its presets, at the top level (of
// the preset). A mistake where they are there already with another value.
Entry folded(const Entry& layer, Problems& problems);

// A setting that `over` has under `defaults` and every panel of `below` has itself, not all with
// the same value.
struct UnreadDefault {
  Entry value;
  std::vector<std::string> own;  // where each panel says it
};
std::vector<UnreadDefault> unread_defaults(const Entry& over, const Entry& below);

// A mistake where `over` says something under `defaults` that every panel of what it is laid over
// says itself, so that nothing would change.
void check_reach(const Entry& over, const Entry& below, Problems& problems);

}  // namespace hyfreedp::runner
