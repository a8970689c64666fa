#include "harness/models/facts/microbatch.h"

#include <algorithm>

#include "harness/models/networks/registry.h"

namespace hyfreedp::models {

Result<std::int64_t> microbatch_of(const std::string& model, std::int64_t asked) {
  const auto facts = find_model(model);
  if (!facts) return facts.error();
  return asked > 0 ? asked : (**facts).microbatch;
}

std::int64_t samples_at_once(std::int64_t microbatch, std::int64_t copies) {
  return std::max<std::int64_t>(1, microbatch / std::max<std::int64_t>(1, copies));
}

}  // namespace hyfreedp::models
