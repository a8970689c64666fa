#include "harness/training/run_key.h"

#include "harness/random/key_file.h"
#include "harness/trial/test_seam.h"

namespace hyfreedp::training {

Result<random::Key> run_key(const trial::TrialConfig& config, const std::string& key_file) {
  if (planted(Bug::shared_key)) return random::key_from_seed("worker");
  if (config.noise_seed) return seeded_key(config);
  if (key_file.empty()) return error("An unseeded trial needs the path of its key file ('key').");
  return random::create_or_read_key(key_file);
}

random::Key seeded_key(const trial::TrialConfig& config) {
  HYFREEDP_CHECK(config.noise_seed.has_value(), "an unseeded run takes its key from a key file");
  return random::key_from_seed(*config.noise_seed + "/" + config.id());
}

}  // namespace hyfreedp::training
