#include <fmt/format.h>

#include "harness/analytic/cells.h"
#include "harness/analytic/items.h"
#include "harness/analytic/panda_composition.h"

namespace hyfreedp::analytic {
namespace {

struct SearchOptions {
  double delta = 1e-5, eps1 = 0.1, eps2 = 0.2, eps_f = 0.88, means = 0.05, total = 1;
  int runs = 3;
};
BOOST_DESCRIBE_STRUCT(SearchOptions, (), (delta, eps1, eps2, eps_f, means, total, runs))

Result<Analytic> compute_composition(const json::object& resolved, const PaperValues&) {
  const auto [delta, eps1, eps2, eps_f, means, total, runs] = read_options<SearchOptions>(resolved);
  const std::vector<std::pair<std::string, Runs>> parts = {
      {fmt::format("{} runs at eps1", runs), {eps1, runs}},
      {fmt::format("{} runs at eps2", runs), {eps2, runs}},
      {"final run", {eps_f, 1}},
      {"feature means", {means, 1}}};
  Analytic done;
  auto& table = done.table;
  table.name = "panda-imagenet-composition";
  table.title = "What the ImageNet search and its final run cost together";
  table.description =
      fmt::format("mu^2 added (Theorem 4.1) at delta = {}; each part's mu is that of its epsilon.", delta);
  table.unit = "epsilon";
  table.row_fields = {"part"};
  table.columns = {"epsilon of each", "of all so far"};
  std::vector<Runs> so_far;
  for (const auto& [title, part] : parts) {
    so_far.push_back(part);
    const auto composed = composed_epsilon(so_far, delta);
    if (!composed) return composed.error();
    const bool last = so_far.size() == parts.size();
    table.rows.push_back({{title},
                          {ours_alone(part.epsilon, 2),
                           last ? compared(*composed, total, 4, half_unit(2)) : ours_alone(*composed, 4)}});
  }
  auto& whole = table.rows.back().cells.back();
  footnote(
      table, whole,
      fmt::format("The paper says 'a cumulative privacy cost including HPO of {}'; compared to two decimals.",
                  total));
  table.notes = {fmt::format("The search and the means together cost what lies between {} and the total.",
                             parts[2].second.epsilon),
                 "The published program picks its runs by accuracy on the test set, which no epsilon of this "
                 "table covers."};
  return done;
}

}  // namespace

Item panda_imagenet_composition() {
  const auto epsilon = [](const char* name, const char* help) {
    return ranged_option(name, 1e-6, 100, help);
  };
  return {
      "panda-imagenet-composition",
      "What the ImageNet search and its final run cost together",
      "Panda et al. 2024, appendix A.1, figure 2, Theorem 4.1",
      "panda",
      options_of<SearchOptions>({ranged_option("delta", 1e-300, 0.5, "stated with the composition example"),
                                 epsilon("eps1", "epsilon of a run of the first sweep (stated)"),
                                 epsilon("eps2", "epsilon of a run of the second sweep (stated)"),
                                 epsilon("eps_f", "epsilon of the final run (stated)"),
                                 epsilon("means", "epsilon of the private mean of the features (stated)"),
                                 epsilon("total", "what the paper says it adds up to"),
                                 {.name = "runs", .help = "runs of each sweep (stated)", .min = 1}}),
      compute_composition};
}

}  // namespace hyfreedp::analytic
