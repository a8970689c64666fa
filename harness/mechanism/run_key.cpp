#include "harness/mechanism/run_key.h"

#include "harness/random/key_file.h"

namespace hyfreedp::mechanism {
namespace {

Result<std::optional<random::LabelledKey>> stored_key(const std::string& key_file) {
  if (key_file.empty()) return error("An unseeded trial needs the path of its key file ('key').");
  return random::read_key(key_file);
}

}  // namespace

Result<EarlierAttempts> earlier_attempts(const trial::TrialConfig& config, const std::string& key_file) {
  if (config.noise_seed && key_file.empty()) return EarlierAttempts{};
  const auto stored = stored_key(key_file);
  if (!stored) return stored.error();
  if (!*stored) return EarlierAttempts{};
  return EarlierAttempts{.key = (**stored).label, .has_old_key = !(**stored).label};
}

Result<random::Key> run_key(const trial::TrialConfig& config, const std::string& key_file,
                            const JournalWriter& journal) {
  if (config.noise_seed && key_file.empty()) return seeded_key(config);
  const auto stored = stored_key(key_file);
  if (!stored) return stored.error();
  auto key = *stored && (**stored).label && (**stored).label->nonce == journal.nonce()
                 ? Result<random::Key>((**stored).key)
                 : random::replace_key(key_file, {.nonce = journal.nonce(),
                                                  .trial = config.id(),
                                                  .attempt = journal.attempt(),
                                                  .config = config.to_json()});
  return key && config.noise_seed ? seeded_key(config) : key;
}

random::Key seeded_key(const trial::TrialConfig& config) {
  HYFREEDP_CHECK(config.noise_seed.has_value(), "an unseeded run takes its key from a key file");
  // A run that is trained again, by other code, has the noise that it has in a new folder.
  auto first = config;
  first.repetition %= trial::kRepetitionsPerRelease;
  // So that a GPU's rows can be compared with a processor's.
  first.device = "cpu";
  return random::key_from_seed(*config.noise_seed + "/" + first.id());
}

}  // namespace hyfreedp::mechanism
