#include "harness/accounting/mechanism.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <tuple>
#include <utility>

namespace hyfreedp::accounting {
namespace {

using Contents = std::vector<SplitContent>;

SplitContent& content_of(Contents& contents, const std::string& split) {
  const auto found =
      std::find_if(contents.begin(), contents.end(), [&](const SplitContent& c) { return c.split == split; });
  if (found != contents.end()) return *found;
  contents.push_back(SplitContent{split, {}, {}});
  return contents.back();
}

Error too_many() {
  return error(
      fmt::format("The events hold more than {} releases on sampled batches, more than the accountants "
                  "price; give fewer, or a smaller count.",
                  kMaxMechanisms));
}

// Counts stay small enough that sums and products of two fit an int64.
Result<std::int64_t> times(std::int64_t a, std::int64_t b) {
  if (a > kMaxMechanisms || b > kMaxMechanisms || a * b > kMaxMechanisms) return too_many();
  return a * b;
}

Result<void> check_batch(const Batch& batch) {
  if (!(batch.sample_rate > 0 && batch.sample_rate <= 1)) {
    return error(fmt::format("The sampling rate {} of a batch is outside (0, 1].", batch.sample_rate));
  }
  if (batch.count < 1) return error(fmt::format("The count {} of a batch is below 1.", batch.count));
  if (batch.releases.empty()) return error("A batch has no release.");
  for (const auto& release : batch.releases) {
    if (!(release.noise_multiplier > 0) || !std::isfinite(release.noise_multiplier)) {
      return error(fmt::format("The noise multiplier {} of a release is not a positive, finite number.",
                               release.noise_multiplier));
    }
    if (release.noise_multiplier > kMaxNoiseMultiplier) {
      return error(
          fmt::format("The noise multiplier {} of a release is above {}, the largest that is priced.",
                      release.noise_multiplier, kMaxNoiseMultiplier));
    }
    if (release.count < 1) return error(fmt::format("The count {} of a release is below 1.", release.count));
  }
  return {};
}

Result<void> add_batch(SplitContent& content, const Batch& batch, std::int64_t repeat) {
  if (auto ok = check_batch(batch); !ok) return ok;
  const auto count = times(batch.count, repeat);
  if (!count) return count.error();
  const bool all_gaussian = std::all_of(batch.releases.begin(), batch.releases.end(),
                                        [](const Release& r) { return r.noise == Noise::gaussian; });
  if (all_gaussian) {
    if (batch.releases.size() == 1 && batch.releases[0].count == 1) {
      content.mechanisms.push_back(
          {Noise::gaussian, batch.sample_rate, batch.releases[0].noise_multiplier, *count});
      return {};
    }
    double precision = 0;
    for (const auto& release : batch.releases) {
      const double scaled = 1 / release.noise_multiplier;
      precision += static_cast<double>(release.count) * scaled * scaled;
    }
    content.mechanisms.push_back({Noise::gaussian, batch.sample_rate, 1 / std::sqrt(precision), *count});
    return {};
  }
  if (batch.sample_rate < 1 && (batch.releases.size() > 1 || batch.releases[0].count > 1)) {
    return error(
        "A sampled batch holds several releases that are not all Gaussian; they share the batch's sampling "
        "coin and "
        "no accountant here folds Laplace noise, so use Gaussian noise for all of them, or a batch for "
        "each.");
  }
  for (const auto& release : batch.releases) {
    const auto all = times(*count, release.count);
    if (!all) return all.error();
    content.mechanisms.push_back({release.noise, batch.sample_rate, release.noise_multiplier, *all});
  }
  return {};
}

void merge_equal(SplitContent& content) {
  std::map<std::tuple<Noise, double, double>, std::size_t> seen;
  std::vector<Mechanism> merged;
  for (const auto& mechanism : content.mechanisms) {
    const auto [place, is_new] =
        seen.try_emplace({mechanism.noise, mechanism.sample_rate, mechanism.noise_multiplier}, merged.size());
    if (is_new) {
      merged.push_back(mechanism);
    } else {
      merged[place->second].count += mechanism.count;
    }
  }
  // A canonical order makes every answer independent of the order of the events.
  std::sort(merged.begin(), merged.end(), [](const Mechanism& a, const Mechanism& b) {
    return std::tie(a.noise, a.sample_rate, a.noise_multiplier) <
           std::tie(b.noise, b.sample_rate, b.noise_multiplier);
  });
  content.mechanisms = std::move(merged);
}

Result<void> add_events(Contents& contents, const std::vector<Event>& events, const std::string& split,
                        std::int64_t repeat);

Result<void> add_selection(Contents& contents, const Selection& selection, const std::string& split,
                           std::int64_t repeat) {
  using Distribution = Selection::Distribution;
  const bool is_poisson = selection.distribution == Distribution::poisson;
  if (!(selection.mean > 0 && selection.mean <= 1e9) || (!is_poisson && selection.mean < 1)) {
    return error(fmt::format("The mean number of runs {} of a selection is out of range (from {} to 1e9).",
                             selection.mean, is_poisson ? "above 0" : "1"));
  }
  if (selection.distribution == Distribution::truncated_negative_binomial &&
      !(selection.eta > -1 && std::isfinite(selection.eta))) {
    return error(fmt::format("The shape eta {} of a selection is not greater than -1.", selection.eta));
  }
  Contents base;
  if (auto ok = add_events(base, selection.base, split, 1); !ok) return ok;
  for (auto& part : base) {
    merge_equal(part);
    if (part.empty()) continue;
    auto& content = content_of(contents, part.split);
    content.selections.push_back(
        {selection.distribution, selection.eta, selection.mean, repeat, std::move(part)});
  }
  return {};
}

Result<void> add_events(Contents& contents, const std::vector<Event>& events, const std::string& split,
                        std::int64_t repeat) {
  for (const auto& event : events) {
    const std::string& here = event.split.empty() ? split : event.split;
    Result<void> added;
    if (const auto* batch = std::get_if<Batch>(&event.what)) {
      added = add_batch(content_of(contents, here), *batch, repeat);
    } else if (const auto* inner = std::get_if<Repeat>(&event.what)) {
      if (inner->count < 1) return error(fmt::format("The count {} of a repeat is below 1.", inner->count));
      const auto all = times(repeat, inner->count);
      if (!all) return all.error();
      added = add_events(contents, inner->base, here, *all);
    } else if (const auto* selection = std::get_if<Selection>(&event.what)) {
      added = add_selection(contents, *selection, here, repeat);
    } else {
      const auto& reason = std::get<NotAccountable>(event.what).reason;
      return error("An event cannot be accounted for: " + (reason.empty() ? "no reason was given." : reason));
    }
    if (!added) return added;
  }
  return {};
}

}  // namespace

bool SplitContent::empty() const { return mechanisms.empty() && selections.empty(); }

Result<std::vector<SplitContent>> split_contents(const Events& events) {
  Contents contents;
  if (auto ok = add_events(contents, events.events, kDefaultSplit, 1); !ok) return ok.error();
  std::int64_t total = 0;
  for (auto& content : contents) {
    merge_equal(content);
    for (const auto& mechanism : content.mechanisms) {
      total += mechanism.count;
      if (total > kMaxMechanisms) return too_many();
    }
  }
  std::erase_if(contents, [](const SplitContent& c) { return c.empty(); });
  return contents;
}

std::vector<std::string> split_names(const std::vector<SplitContent>& contents, std::size_t costliest) {
  std::vector<std::string> names;
  for (const auto& content : contents) names.push_back(content.split);
  if (!names.empty()) std::swap(names[0], names[costliest]);
  return names;
}

}  // namespace hyfreedp::accounting
