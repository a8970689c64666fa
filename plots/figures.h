// The figures of a spec, from the store: those that it lists (`figures`, kinds in results/figure_spec.h), or the usual ones:
//
//   accuracy   test accuracy against epsilon, a box a panel, a line a row, bars of one sample standard deviation; the
//              non-private arm stands apart at the right. Where a few rows lie far below the rest, the axis is broken.
//   step_size  the step size in force of the learning-rate-free methods over steps (log axis), a box a (panel, epsilon):
//              median over seeds, band from the smallest to the largest
//   test_loss  test loss over steps, the same boxes, median over seeds
//
// A figure without data (no learning-rate-free row, loss evaluated only at the end) is left out; one that the spec lists is
// named with the reason. With a confidential table, runs of private selection are shown and every figure is watermarked.
#pragma once

#include <string>
#include <vector>

#include "plots/figure.h"
#include "plots/runs.h"
#include "results/store.h"
#include "results/table_model.h"

namespace hyfreedp::plots {

struct LeftOut {
  std::string name;
  std::string why;  // no sentence: "no finished run has ..."
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
// Writes FOLDER/NAME.gp and runs gnuplot on it. The error is kNoGnuplot where gnuplot is absent.
Result<std::vector<DrawnFigure>> draw(const std::vector<Figure>& figures, const std::string& folder);

// One figure as one file, svg, png or pdf by its suffix: nothing else is left behind, and an older PATH stays where gnuplot
// fails. `drawable` says beforehand what would hinder it: another suffix, or no gnuplot (kNoGnuplot).
Result<FileKind> drawable(const std::string& path);
Result<void> draw_file(const Figure& figure, const std::string& path);

// The scalar that is a trial's step size in force, where the method chooses it by itself: "eta" of a controller that
// probes, "d" of D-Adaptation and Prodigy, ...; none for fixed rates.
std::optional<std::string> step_size_scalar(const json::object& trial_config);

}  // namespace hyfreedp::plots
