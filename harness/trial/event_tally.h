// Events counted by kind: what thousands of runs executed, as the few different events that it comes down to.
//
// Two events are of one kind where they differ in their count alone: same sampling, same noise, same purpose, same
// split. Composition is order-free, so a tally is priced as the list that it was made from, and much faster.
//   add        the events in sequence: counts of a kind add up
//   raise_to   the dearest of several runs: of each kind the larger count. Composing the result costs at least as much as
//              composing either, since it contains all the events of each; it is no dearer than the dearer one where one
//              contains the other, as runs of one plan do that differ in how often they were begun anew.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "harness/accounting/event.h"

namespace hyfreedp::trial {

class EventTally {
 public:
  EventTally() = default;
  explicit EventTally(const std::vector<accounting::Event>& events) { add(events); }

  void add(const accounting::Event& event, std::int64_t times = 1);
  void add(const std::vector<accounting::Event>& events);
  void raise_to(const EventTally& other);

  bool empty() const { return kinds_.empty(); }
  // Of each kind at least as many as `other` has.
  bool contains(const EventTally& other) const;
  // One event a kind, in the order in which kinds first came up.
  std::vector<accounting::Event> events() const;

 private:
  struct Kind {
    std::string name;
    accounting::Event one;
    std::int64_t count = 0;
  };
  Kind& kind_of(const std::string& name, const accounting::Event& one);
  std::int64_t count_of(const std::string& name) const;

  std::vector<Kind> kinds_;
  std::map<std::string, std::size_t> places_;  // by name
};

}  // namespace hyfreedp::trial
