#include "harness/runner/charge.h"

#include <filesystem>

#include "harness/base/files.h"
#include "harness/trial/event_tally.h"
#include "harness/trial/trial_config.h"

namespace hyfreedp::runner {
namespace {

using Events = std::vector<accounting::Event>;

void append(Events& events, const Events& more) { events.insert(events.end(), more.begin(), more.end()); }

}  // namespace

bool is_missing_journal(const std::string& path) {
  const auto text = read_file(path);
  return text ? text->find('\n') == std::string::npos : !std::filesystem::exists(path);
}

Result<std::optional<random::KeyLabel>> key_label(const std::string& path) {
  auto stored = random::read_key(path);
  if (!stored) return stored.error();
  if (!*stored) return std::optional<random::KeyLabel>{};
  return std::move((**stored).label);
}

Result<Events> charge_of(const trial::Journal* journal, const std::optional<random::KeyLabel>& key,
                         const Events& recorded) {
  Events events;
  if (journal != nullptr) events = journal->executed;
  if (key && (journal == nullptr || !journal->nonces.contains(key->nonce))) {
    const auto config = trial::TrialConfig::from_json(key->config, "the key file of trial " + key->trial);
    if (!config) return config.error();
    for (std::int64_t attempt = 0; attempt <= key->attempt; ++attempt) append(events, config->events());
  }
  if (!trial::EventTally(events).contains(trial::EventTally(recorded))) append(events, recorded);
  return events;
}

}  // namespace hyfreedp::runner
