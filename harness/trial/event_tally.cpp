#include "harness/trial/event_tally.h"

#include <algorithm>
#include <utility>

namespace hyfreedp::trial {
namespace {

using accounting::Batch;
using accounting::Event;
using accounting::Repeat;

struct Counted {
  Event one;
  std::int64_t count = 1;
};

Counted counted(const Event& event) {
  Counted result{event};
  if (auto* batch = std::get_if<Batch>(&result.one.what)) {
    result.count = std::exchange(batch->count, 1);
  } else if (auto* repeat = std::get_if<Repeat>(&result.one.what)) {
    result.count = std::exchange(repeat->count, 1);
  }
  return result;
}

Event repeated(const Event& one, std::int64_t count) {
  auto event = one;
  if (auto* batch = std::get_if<Batch>(&event.what)) {
    batch->count = count;
  } else if (auto* repeat = std::get_if<Repeat>(&event.what)) {
    repeat->count = count;
  } else if (count > 1) {
    auto inner = one;
    inner.split.clear();
    event.what = Repeat{.base = {std::move(inner)}, .count = count};
  }
  return event;
}

}  // namespace

EventTally::Kind& EventTally::kind_of(const std::string& name, const Event& one) {
  const auto [place, is_new] = places_.try_emplace(name, kinds_.size());
  if (is_new) kinds_.push_back({name, one, 0});
  return kinds_[place->second];
}

std::int64_t EventTally::count_of(const std::string& name) const {
  const auto found = places_.find(name);
  return found == places_.end() ? 0 : kinds_[found->second].count;
}

void EventTally::add(const Event& event, std::int64_t times) {
  const auto [one, count] = counted(event);
  kind_of(canonical_json(accounting::event_to_json(one)), one).count += count * times;
}

void EventTally::add(const std::vector<Event>& events) {
  for (const auto& event : events) add(event);
}

EventTally EventTally::beyond(const EventTally& other) const {
  EventTally rest;
  for (const auto& kind : kinds_) {
    const auto more = kind.count - other.count_of(kind.name);
    if (more > 0) rest.kind_of(kind.name, kind.one).count = more;
  }
  return rest;
}

void EventTally::raise_to(const EventTally& other) {
  for (const auto& kind : other.kinds_) {
    auto& mine = kind_of(kind.name, kind.one);
    mine.count = std::max(mine.count, kind.count);
  }
}

bool EventTally::contains(const EventTally& other) const {
  return std::ranges::all_of(other.kinds_,
                             [&](const Kind& kind) { return count_of(kind.name) >= kind.count; });
}

std::vector<Event> EventTally::events() const {
  std::vector<Event> events;
  events.reserve(kinds_.size());
  for (const auto& kind : kinds_) events.push_back(repeated(kind.one, kind.count));
  return events;
}

}  // namespace hyfreedp::trial
