#include "plots/figures.h"

#include "harness/base/files.h"
#include "plots/accuracy_figure.h"
#include "plots/curve_figures.h"
#include "plots/gnuplot.h"

namespace hyfreedp::plots {

Result<std::vector<Figure>> figures_of(const results::Store& store, const results::TableModel& table) {
  std::vector<Figure> figures;
  if (auto accuracy = accuracy_figure(table)) figures.push_back(std::move(*accuracy));
  for (auto* build : {step_size_figure, test_loss_figure}) {
    auto figure = build(store, table);
    if (!figure) return figure.error();
    if (*figure) figures.push_back(std::move(**figure));
  }
  return figures;
}

Result<std::vector<DrawnFigure>> draw(const std::vector<Figure>& figures, const std::string& folder) {
  const auto gnuplot = find_program("gnuplot");
  if (!gnuplot) return error(kNoGnuplot);
  std::vector<DrawnFigure> drawn;
  for (const auto& figure : figures) {
    const auto base = folder + "/" + figure.name;
    DrawnFigure result{figure, base + ".gp", base + ".svg", base + ".png"};
    if (auto written = write_file_atomically(result.script, gnuplot_script(figure, result.svg, result.png));
        !written) {
      return written.error();
    }
    if (auto ran = run_program(*gnuplot, {result.script}); !ran) return ran.error();
    drawn.push_back(std::move(result));
  }
  return drawn;
}

}  // namespace hyfreedp::plots
