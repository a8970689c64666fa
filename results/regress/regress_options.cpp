#include "harness/base/json.h"
#include "results/regress/regress.h"

namespace hyfreedp::results {
namespace {

Result<void> read_numbers(const json::object& object, const std::string& where,
                          const std::vector<std::pair<const char*, double*>>& members) {
  for (const auto& [key, target] : members) {
    if (!object.contains(key)) continue;
    const auto value = get_double(object, key, where);
    if (!value) return value.error();
    *target = *value;
  }
  return {};
}

}  // namespace

Result<RegressOptions> regress_options(const json::object& resolved) {
  RegressOptions options;
  const auto* block = resolved.if_contains("regress");
  if (block == nullptr) return options;
  const std::string where = "the spec's regress";
  if (!block->is_object()) return error(where + " must be an object");
  const auto& object = block->get_object();
  if (auto read = read_numbers(object, where,
                               {{"false_alarms_per_night", &options.false_alarms_per_night},
                                {"equivalence_level", &options.equivalence_level},
                                {"power", &options.power}});
      !read) {
    return read.error();
  }
  if (string_or(object, "control", "holm") == "fdr") options.control = FalseAlarmControl::fdr;
  options.hashes = bool_or(object, "hashes", true);
  const auto* margin = object.if_contains("margin");
  if (margin == nullptr || !margin->is_object()) return options;
  auto& to = options.margin;
  if (auto read = read_numbers(margin->get_object(), where + ".margin",
                               {{"accuracy", &to.accuracy},
                                {"loss", &to.loss},
                                {"norm", &to.norm},
                                {"noise", &to.noise},
                                {"epsilon", &to.epsilon},
                                {"speed", &to.speed},
                                {"memory", &to.memory}});
      !read) {
    return read.error();
  }
  return options;
}

}  // namespace hyfreedp::results
