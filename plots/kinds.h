// The figure kinds of results/table/figure_spec.h: one builder for each, in a file of its own. To
// add one: its file, its lines here, and its options in figure_options.h and figure_spec.cpp.
#pragma once

#include "plots/runs.h"
#include "plots/sheet.h"

namespace hyfreedp::plots {

Result<Outcome> accuracy_kind(const Source& source, const results::FigureRequest& request);
Result<Outcome> curves_kind(const Source& source, const results::FigureRequest& request);
Result<Outcome> probe_fit_kind(const Source& source, const results::FigureRequest& request);
Result<Outcome> heat_map_kind(const Source& source, const results::FigureRequest& request);
Result<Outcome> box_kind(const Source& source, const results::FigureRequest& request);
Result<Outcome> candidates_kind(const Source& source, const results::FigureRequest& request);
Result<Outcome> pareto_kind(const Source& source, const results::FigureRequest& request);
Result<Outcome> bars_kind(const Source& source, const results::FigureRequest& request);
Result<Outcome> epsilon_steps_kind(const Source& source, const results::FigureRequest& request);
Result<Outcome> signal_kind(const Source& source, const results::FigureRequest& request);
Result<Outcome> tuning_cost_kind(const Source& source, const results::FigureRequest& request);

struct FigureBuilder {
  const char* kind;
  Result<Outcome> (*build)(const Source& source, const results::FigureRequest& request);
};

inline constexpr FigureBuilder kBuilders[] = {{"accuracy", accuracy_kind},
                                              {"curves", curves_kind},
                                              {"probe-fit", probe_fit_kind},
                                              {"heat-map", heat_map_kind},
                                              {"box", box_kind},
                                              {"candidates", candidates_kind},
                                              {"pareto", pareto_kind},
                                              {"bars", bars_kind},
                                              {"epsilon-steps", epsilon_steps_kind},
                                              {"signal", signal_kind},
                                              {"tuning-cost", tuning_cost_kind}};

// For the kind `curves`: the quantity that is the step size in force; the names in a list separated
// by commas; and the quantities that this program's own methods and its evaluation store.
inline constexpr const char* kStepSize = "step-size";
std::vector<std::string> quantities_of(const std::string& text);
std::vector<std::string> known_quantities();

// Sets name, title and look: those of the spec, or by default the kind's.
void name_sheet(const results::FigureRequest& request, Sheet& sheet);
// The title alone.
std::string title_of(const results::FigureRequest& request);

}  // namespace hyfreedp::plots
