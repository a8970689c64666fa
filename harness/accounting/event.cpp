#include "harness/accounting/event.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <optional>
#include <utility>

#include "harness/accounting/selection.h"
#include "harness/base/text.h"

namespace hyfreedp::accounting {
namespace {

constexpr int kMaxNesting = 10;  // the JSON parser itself stops at 32 brackets
constexpr std::int64_t kMaxCount = 1'000'000'000'000;

std::string at(const std::string& where, std::string_view key) {
  return where + ": '" + std::string(key) + "'";
}

Result<void> only_keys(const json::object& object, const std::vector<std::string>& allowed,
                       const std::string& where) {
  for (const auto& member : object) {
    const std::string key(member.key());
    if (std::find(allowed.begin(), allowed.end(), key) == allowed.end()) {
      return error(fmt::format("{}: unknown field '{}'; valid fields are {}.{}", where, key,
                               join(allowed, ", "), did_you_mean(key, allowed)));
    }
  }
  return {};
}

Result<double> get_rate(const json::object& object, const std::string& where, bool required) {
  if (!required && !object.contains("sample_rate")) return 1.0;
  auto rate = get_double(object, "sample_rate", where);
  if (!rate) return rate.error();
  if (!(*rate > 0 && *rate <= 1)) {
    return error(
        fmt::format("{} is {}; a sampling rate must lie in (0, 1].", at(where, "sample_rate"), *rate));
  }
  return rate;
}

Result<double> get_noise(const json::object& object, const std::string& where) {
  auto noise = get_double(object, "noise_multiplier", where);
  if (!noise) return noise.error();
  if (!(*noise > 0) || !std::isfinite(*noise)) {
    return error(fmt::format("{} is {}; a noise multiplier must be a positive, finite number.",
                             at(where, "noise_multiplier"), *noise));
  }
  if (*noise > kMaxNoiseMultiplier) {
    return error(fmt::format("{} is {}; a noise multiplier must be at most {}.",
                             at(where, "noise_multiplier"), *noise, kMaxNoiseMultiplier));
  }
  return noise;
}

Result<std::int64_t> get_count(const json::object& object, const std::string& where) {
  if (!object.contains("count")) return std::int64_t{1};
  auto count = get_int(object, "count", where);
  if (!count) return count.error();
  if (*count < 1 || *count > kMaxCount) {
    return error(fmt::format("{} is {}; a count must be a whole number from 1 to {}.", at(where, "count"),
                             *count, kMaxCount));
  }
  return count;
}

Result<Noise> get_noise_kind(const json::object& object, const std::string& where) {
  if (!object.contains("noise")) return Noise::gaussian;
  auto name = get_string(object, "noise", where);
  if (!name) return name.error();
  return enum_from<Noise>(*name, at(where, "noise"));
}

Result<Release> release_from_json(const json::value& value, const std::string& where) {
  if (!value.is_object()) return error(where + " must be an object such as {\"noise_multiplier\": 1.0}.");
  const auto& object = value.get_object();
  if (auto ok = only_keys(object, {"noise_multiplier", "count", "noise", "purpose"}, where); !ok)
    return ok.error();
  const auto noise = get_noise(object, where);
  if (!noise) return noise.error();
  const auto count = get_count(object, where);
  if (!count) return count.error();
  const auto kind = get_noise_kind(object, where);
  if (!kind) return kind.error();
  Release release{*noise, *count, *kind, {}};
  if (object.contains("purpose")) {
    auto purpose = get_string(object, "purpose", where);
    if (!purpose) return purpose.error();
    release.purpose = *purpose;
  }
  return release;
}

Result<Event> event_at_depth(const json::value& value, const std::string& where, int depth);

Result<const json::array*> get_array(const json::object& object, std::string_view key,
                                     const std::string& where) {
  const auto* found = object.if_contains(key);
  if (found == nullptr) return error(at(where, key) + " is missing.");
  if (!found->is_array()) return error(at(where, key) + " must be a list.");
  return &found->get_array();
}

Result<std::vector<Event>> events_list(const json::object& object, std::string_view key,
                                       const std::string& where, int depth) {
  if (depth > kMaxNesting)
    return error(fmt::format("{}: events are nested more than {} deep.", where, kMaxNesting));
  const auto list = get_array(object, key, where);
  if (!list) return list.error();
  std::vector<Event> events;
  events.reserve((*list)->size());
  for (std::size_t i = 0; i < (*list)->size(); ++i) {
    auto event = event_at_depth((**list)[i], fmt::format("{}: {}[{}]", where, key, i), depth);
    if (!event) return event.error();
    events.push_back(std::move(*event));
  }
  return events;
}

Result<Event> single_release(const json::object& object, const std::string& where, bool rate_required,
                             bool rate_allowed, Noise noise) {
  std::vector<std::string> keys = {"type", "noise_multiplier", "count", "split"};
  if (rate_allowed) keys.insert(keys.begin() + 1, "sample_rate");
  if (auto ok = only_keys(object, keys, where); !ok) return ok.error();
  const auto rate = rate_allowed ? get_rate(object, where, rate_required) : Result<double>(1.0);
  if (!rate) return rate.error();
  const auto sigma = get_noise(object, where);
  if (!sigma) return sigma.error();
  const auto count = get_count(object, where);
  if (!count) return count.error();
  return Event{Batch{*rate, {Release{*sigma, 1, noise, {}}}, *count}, {}};
}

Result<Event> batch_from_json(const json::object& object, const std::string& where) {
  if (auto ok = only_keys(object, {"type", "sample_rate", "releases", "count", "split"}, where); !ok) {
    return ok.error();
  }
  const auto rate = get_rate(object, where, true);
  if (!rate) return rate.error();
  const auto count = get_count(object, where);
  if (!count) return count.error();
  const auto list = get_array(object, "releases", where);
  if (!list) return list.error();
  if ((*list)->empty())
    return error(at(where, "releases") + " is empty; a batch needs at least one release.");
  Batch batch{*rate, {}, *count};
  for (std::size_t i = 0; i < (*list)->size(); ++i) {
    auto release = release_from_json((**list)[i], fmt::format("{}: releases[{}]", where, i));
    if (!release) return release.error();
    batch.releases.push_back(std::move(*release));
  }
  return Event{std::move(batch), {}};
}

Result<Event> repeat_from_json(const json::object& object, const std::string& where, int depth) {
  if (auto ok = only_keys(object, {"type", "base", "count", "split"}, where); !ok) return ok.error();
  const auto count = get_count(object, where);
  if (!count) return count.error();
  auto base = events_list(object, "base", where, depth + 1);
  if (!base) return base.error();
  return Event{Repeat{std::move(*base), *count}, {}};
}

// A member that is absent and one that is null say the same.
bool is_given(const json::object& object, std::string_view key) {
  const auto* found = object.if_contains(key);
  return found != nullptr && !found->is_null();
}

struct NamedDistribution {
  const char* name;
  Selection::Distribution distribution;
  std::optional<double> eta;  // where the name fixes it
};

const std::vector<NamedDistribution>& distributions() {
  using Distribution = Selection::Distribution;
  static const std::vector<NamedDistribution> all = {
      {"geometric", Distribution::truncated_negative_binomial, 1.0},
      {"logarithmic", Distribution::truncated_negative_binomial, 0.0},
      {"truncated-negative-binomial", Distribution::truncated_negative_binomial, std::nullopt},
      {"poisson", Distribution::poisson, std::nullopt},
      {"liu-talwar", Distribution::liu_talwar, std::nullopt}};
  return all;
}

// "truncated negative binomial", as papers write it, is taken too.
Result<NamedDistribution> get_distribution(const json::object& object, const std::string& where) {
  auto name = get_string(object, "distribution", where);
  if (!name) return name.error();
  std::replace(name->begin(), name->end(), ' ', '-');
  std::vector<std::string> names;
  for (const auto& known : distributions()) {
    if (*name == known.name) return known;
    names.emplace_back(known.name);
  }
  return error(fmt::format("{} is '{}'; valid distributions are {}.{}", at(where, "distribution"), *name,
                           join(names, ", "), did_you_mean(*name, names)));
}

Result<double> get_eta(const json::object& object, const NamedDistribution& named, const std::string& where) {
  if (!is_given(object, "eta")) {
    if (named.eta) return *named.eta;
    return error(at(where, "eta") + " is missing; the truncated negative binomial needs a shape.");
  }
  auto eta = get_double(object, "eta", where);
  if (!eta) return eta.error();
  if (!(*eta > -1 && std::isfinite(*eta))) {
    return error(fmt::format("{} is {}; the shape must be greater than -1.", at(where, "eta"), *eta));
  }
  if (named.eta && *named.eta != *eta) {
    return error(fmt::format("{} is {}, but the distribution '{}' has eta {}.", at(where, "eta"), *eta,
                             named.name, *named.eta));
  }
  return eta;
}

// Reads the mean of the truncated negative binomial: 'mean', or 'gamma' in its place, or both if
// they say the same.
Result<double> get_tnb_mean(const json::object& object, double eta, const std::string& where) {
  if (!is_given(object, "gamma")) {
    if (is_given(object, "mean")) return get_double(object, "mean", where);
    return error(at(where, "mean") + " is missing: the mean number of runs, or 'gamma' in its place.");
  }
  const auto gamma = get_double(object, "gamma", where);
  if (!gamma) return gamma.error();
  if (!(*gamma > 0 && *gamma <= 1)) {
    return error(fmt::format("{} is {}; it must lie in (0, 1].", at(where, "gamma"), *gamma));
  }
  const double implied = mean_from_gamma(eta, *gamma);
  if (!is_given(object, "mean")) return implied;
  auto mean = get_double(object, "mean", where);
  if (mean && !(std::abs(implied / *mean - 1) < 1e-6)) {
    return error(
        fmt::format("{} is {}, which means {} runs on average, but 'mean' is {}; give one of the two.",
                    at(where, "gamma"), *gamma, implied, *mean));
  }
  return mean;
}

Result<double> get_plain_mean(const json::object& object, const NamedDistribution& named,
                              const std::string& where) {
  for (const char* key : {"eta", "gamma"}) {
    if (!is_given(object, key)) continue;
    return error(fmt::format("{} does not belong to the distribution '{}'; give its 'mean'.", at(where, key),
                             named.name));
  }
  if (!is_given(object, "mean")) return error(at(where, "mean") + " is missing: the mean number of runs.");
  return get_double(object, "mean", where);
}

Result<void> check_mean(double mean, bool is_poisson, const std::string& where) {
  if (mean > 0 && mean >= (is_poisson ? 0 : 1) && mean <= 1e9) return {};
  return error(fmt::format("{} is {}; the mean number of runs must be {} and at most 1e9.", at(where, "mean"),
                           mean, is_poisson ? "positive" : "at least 1"));
}

Result<Event> selection_from_json(const json::object& object, const std::string& where, int depth) {
  if (auto ok = only_keys(object, {"type", "distribution", "eta", "mean", "gamma", "base", "split"}, where);
      !ok) {
    return ok.error();
  }
  const auto named = get_distribution(object, where);
  if (!named) return named.error();
  Selection selection;
  selection.distribution = named->distribution;
  Result<double> mean;
  if (named->distribution == Selection::Distribution::truncated_negative_binomial) {
    auto eta = get_eta(object, *named, where);
    if (!eta) return eta.error();
    selection.eta = *eta;
    mean = get_tnb_mean(object, *eta, where);
  } else {
    mean = get_plain_mean(object, *named, where);
  }
  if (!mean) return mean.error();
  const bool is_poisson = named->distribution == Selection::Distribution::poisson;
  if (auto ok = check_mean(*mean, is_poisson, where); !ok) return ok.error();
  selection.mean = *mean;
  auto base = events_list(object, "base", where, depth + 1);
  if (!base) return base.error();
  if (base->empty()) return error(at(where, "base") + " is empty; a selection needs the events of one run.");
  selection.base = std::move(*base);
  return Event{std::move(selection), {}};
}

Result<Event> event_of_type(const json::object& object, const std::string& type, const std::string& where,
                            int depth) {
  if (type == "poisson-gaussian") return single_release(object, where, true, true, Noise::gaussian);
  if (type == "gaussian") return single_release(object, where, false, false, Noise::gaussian);
  if (type == "laplace") return single_release(object, where, false, true, Noise::laplace);
  if (type == "batch") return batch_from_json(object, where);
  if (type == "repeat") return repeat_from_json(object, where, depth);
  if (type == "selection") return selection_from_json(object, where, depth);
  if (type == "not-accountable") {
    if (auto ok = only_keys(object, {"type", "reason", "split"}, where); !ok) return ok.error();
    auto reason = get_string(object, "reason", where);
    if (!reason) return reason.error();
    return Event{NotAccountable{*reason}, {}};
  }
  const std::vector<std::string> types = {"poisson-gaussian", "gaussian",  "laplace",        "batch",
                                          "repeat",           "selection", "not-accountable"};
  return error(fmt::format("{} is '{}'; valid types are {}.{}", at(where, "type"), type, join(types, ", "),
                           did_you_mean(type, types)));
}

bool is_split_name(const std::string& name) {
  return !name.empty() &&
         name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_-") == std::string::npos;
}

Result<Event> event_at_depth(const json::value& value, const std::string& where, int depth) {
  if (!value.is_object()) return error(where + ": an event must be an object with a 'type'.");
  const auto& object = value.get_object();
  const auto type = get_string(object, "type", where);
  if (!type) return type.error();
  auto event = event_of_type(object, *type, where, depth);
  if (!event) return event;
  if (object.contains("split")) {
    auto split = get_string(object, "split", where);
    if (!split) return split.error();
    if (!is_split_name(*split)) {
      return error(fmt::format("{} is {}; a split's name consists of a-z, 0-9, _ and -, at least one.",
                               at(where, "split"), boost::json::serialize(*split)));
    }
    event->split = *split;
  }
  return event;
}

json::array list_to_json(const std::vector<Event>& events) {
  json::array list;
  for (const auto& event : events) list.push_back(event_to_json(event));
  return list;
}

json::object batch_to_json(const Batch& batch) {
  if (batch.releases.size() == 1 && batch.releases[0].count == 1 &&
      batch.releases[0].noise == Noise::gaussian && batch.releases[0].purpose.empty()) {
    return {{"type", "poisson-gaussian"},
            {"sample_rate", batch.sample_rate},
            {"noise_multiplier", batch.releases[0].noise_multiplier},
            {"count", batch.count}};
  }
  json::array releases;
  for (const auto& release : batch.releases) {
    json::object object{{"noise_multiplier", release.noise_multiplier}, {"count", release.count}};
    if (release.noise == Noise::laplace) object["noise"] = "laplace";
    if (!release.purpose.empty()) object["purpose"] = release.purpose;
    releases.push_back(std::move(object));
  }
  return {
      {"type", "batch"}, {"sample_rate", batch.sample_rate}, {"releases", releases}, {"count", batch.count}};
}

json::object selection_to_json(const Selection& selection) {
  json::object object{{"type", "selection"},
                      {"distribution", name_of(selection.distribution)},
                      {"mean", selection.mean},
                      {"base", list_to_json(selection.base)}};
  if (selection.distribution == Selection::Distribution::truncated_negative_binomial) {
    object["eta"] = selection.eta;
  }
  return object;
}

}  // namespace

Event poisson_gaussian(double sample_rate, double noise_multiplier, std::int64_t count) {
  return batch(sample_rate, {Release{noise_multiplier, 1, Noise::gaussian, {}}}, count);
}

Event batch(double sample_rate, std::vector<Release> releases, std::int64_t count) {
  return Event{Batch{sample_rate, std::move(releases), count}, {}};
}

json::value event_to_json(const Event& event) {
  json::object object;
  if (const auto* b = std::get_if<Batch>(&event.what)) {
    object = batch_to_json(*b);
  } else if (const auto* repeat = std::get_if<Repeat>(&event.what)) {
    object = {{"type", "repeat"}, {"base", list_to_json(repeat->base)}, {"count", repeat->count}};
  } else if (const auto* selection = std::get_if<Selection>(&event.what)) {
    object = selection_to_json(*selection);
  } else {
    object = {{"type", "not-accountable"}, {"reason", std::get<NotAccountable>(event.what).reason}};
  }
  if (!event.split.empty()) object["split"] = event.split;
  return object;
}

json::value events_to_json(const Events& events) {
  return json::object{
      {"neighbouring", events.neighbouring == Neighbouring::add_remove ? "add-remove" : "replace-one"},
      {"events", list_to_json(events.events)}};
}

Result<Events> events_from_json(const json::value& value, const std::string& where) {
  if (!value.is_object()) return error(where + " must be an object with 'events'.");
  const auto& object = value.get_object();
  if (auto ok = only_keys(object, {"neighbouring", "events"}, where); !ok) return ok.error();
  Events events;
  if (object.contains("neighbouring")) {
    const auto name = get_string(object, "neighbouring", where);
    if (!name) return name.error();
    if (*name == "replace-one") {
      events.neighbouring = Neighbouring::replace_one;
    } else if (*name != "add-remove") {
      return error(fmt::format("{} is '{}'; valid relations are add-remove and replace-one.",
                               at(where, "neighbouring"), *name));
    }
  }
  auto list = events_list(object, "events", where, 0);
  if (!list) return list.error();
  events.events = std::move(*list);
  return events;
}

}  // namespace hyfreedp::accounting
