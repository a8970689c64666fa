// The figures of a spec, made from the store: those that the spec lists (`figures`; kinds in
// results/table/figure_spec.h), or by default these:
//
//   accuracy   test accuracy against epsilon: a box for each panel, a line for each row, bars of
//              one sample standard deviation. The non-private column stands apart at the right. If
//              a few rows lie far below the rest, the axis is broken
//   step_size  the step size of the learning-rate-free methods over steps (log axis): a box for
//              each (panel, epsilon), the median over seeds, and a band from the smallest to the
//              largest
//   test_loss  test loss over steps, in the same boxes, as the median over seeds
//
// A default figure without data (no learning-rate-free row, loss evaluated only at the end) is left
// out; a figure that the spec lists is then named with the reason. With a confidential table, runs
// of private selection are shown and every figure is watermarked.
#pragma once

#include <string>
#include <vector>

#include "plots/figure.h"
#include "plots/runs.h"
#include "results/store/store.h"
#include "results/table/table_model.h"

namespace hyfreedp::plots {

struct LeftOut {
  std::string name;
  std::string why;  // not a whole sentence: "no finished run has ..."
};
struct SpecFigures {
  std::vector<Figure> figures;
  std::vector<LeftOut> left_out;
};
Result<SpecFigures> figures_of(const results::Store& store, const results::TableModel& table);
Result<Outcome> build_figure(const Source& source, const results::FigureRequest& request);

struct DrawnFigure {
  Figure figure;
  std::string script, svg, png;  // paths
};
// Writes FOLDER/NAME.gp for each figure and runs gnuplot on it. The error is kNoGnuplot if gnuplot
// is absent.
Result<std::vector<DrawnFigure>> draw(const std::vector<Figure>& figures, const std::string& folder);

// Writes one figure as one file that a user names (write_named_file()), whose suffix (svg, png or
// pdf) gives its kind. No other file is left behind, and an existing PATH stays if gnuplot fails.
// `drawable` checks beforehand: another suffix, or no gnuplot (kNoGnuplot), is an error.
Result<FileKind> drawable(const std::string& path);
Result<void> draw_file(const Figure& figure, const std::string& path, bool owner_only = false);

// The name of the scalar that is a trial's present step size if the method chooses it: "eta" of a
// controller that probes, "d" of D-Adaptation and Prodigy, ...; nothing for fixed rates.
std::optional<std::string> step_size_scalar(const json::object& trial_config);

}  // namespace hyfreedp::plots
