#include "baselines/baseline.h"

#include <fmt/format.h>
#include <utility>

#include "harness/base/text.h"
#include "harness/random/stream.h"

namespace hyfreedp::baselines {

std::string to_string(Label label) {
  switch (label) {
    case Label::end_to_end:
      return "end-to-end DP";
    case Label::oracle:
      return "oracle";
    case Label::simulated:
      return "simulated";
    case Label::non_private:
      return "non-private";
  }
  return "?";
}

const Baseline& reading_of(const Baseline& entry, const json::object& options) {
  return entry.reading ? entry.reading(options) : entry;
}

Result<std::string> noise_accountant(const Baseline& method, const json::object& options,
                                     const std::string& asked) {
  const auto own = read_options<AccountantOption>(options).accountant;
  const auto wanted = own == "auto" ? asked : own;
  const auto& reading = reading_of(method, options);
  const auto why = reading.needs_rdp ? reading.needs_rdp(options) : "";
  if (why.empty()) return wanted.empty() ? "pld" : wanted;
  if (wanted != "pld") return std::string("rdp");
  return error(
      fmt::format("'accountant: pld' cannot set the noise of {} here, because {}; say 'accountant: rdp', or "
                  "leave it out: "
                  "RDP then sets the noise of this row, and PLD that of the others",
                  method.name, why));
}

Result<const Baseline*> find_baseline(const std::string& name) {
  std::vector<std::string> names;
  for (const auto& baseline : registry()) {
    if (baseline.name == name) return &baseline;
    names.push_back(baseline.name);
  }
  return error("unknown method '" + name + "'." + did_you_mean(name, names) +
               " Known methods: " + join(names, ", ") + ".");
}

double draw(const Cell& cell, const std::string& what, std::int64_t index) {
  const json::array address{"baseline draw",
                            cell.draw_secret.value_or(cell.base.noise_seed.value_or("public draws")),
                            cell.panel,
                            cell.row,
                            cell.epsilon ? number(*cell.epsilon) : json::value("inf"),
                            cell.seed,
                            what};
  double uniform = 0;
  random::fill_uniforms(random::key_from_seed(canonical_json(address)),
                        {.purpose = random::Purpose::selection}, static_cast<std::uint64_t>(index),
                        {&uniform, 1});
  return uniform;
}

}  // namespace hyfreedp::baselines
