// Events counted by kind: thousands of executed runs reduced to the few different events that they
// consist of.
//
// Two events are of one kind if they differ in their count alone: same sampling, noise, purpose and
// split. Composition does not depend on the order, so a tally costs the same epsilon as the list
// that it was made from, and is priced much faster.
//   add        adds the events of another list: counts of a kind add up
//   raise_to   the larger count of each kind, for the largest cost among several runs. The result
//              costs at least as much as either, because it contains all events of each. It costs
//              exactly as much as the larger one if that contains the other, as for runs of one
//              plan that differ in how often they were restarted
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
  // Returns what it has more of than `other`.
  EventTally beyond(const EventTally& other) const;

  bool empty() const { return kinds_.empty(); }
  // True if this tally has at least as many events of each kind as `other`.
  bool contains(const EventTally& other) const;
  // One event of each kind, in the order of first appearance.
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
