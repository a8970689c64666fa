#include "plots/figures.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <utility>

#include "harness/base/files.h"
#include "harness/base/named_file.h"
#include "harness/base/text.h"
#include "plots/accuracy_figure.h"
#include "plots/curve_figures.h"
#include "plots/gnuplot.h"
#include "plots/kinds.h"
#include "results/store/records.h"

namespace hyfreedp::plots {

namespace {

// Draws the figures of a spec that lists none.
Result<std::vector<Figure>> usual_figures(const results::Store& store, const results::TableModel& table) {
  std::vector<Figure> figures;
  if (auto accuracy = accuracy_figure(table)) figures.push_back(std::move(*accuracy));
  for (auto* build : {step_size_figure, test_loss_figure}) {
    auto figure = build(store, table);
    if (!figure) return figure.error();
    if (*figure) figures.push_back(std::move(**figure));
  }
  return figures;
}

// Above everything, in every copy of the picture.
void add_watermark(Figure& figure) {
  constexpr double kRoom = 24;
  figure.height += kRoom;
  Text text{12, figure.height - 14, results::kWatermark, Text::Align::left, true, false};
  text.colour = "#B3261E";
  text.size = 11;
  figure.texts.push_back(std::move(text));
}

}  // namespace

std::string title_of(const results::FigureRequest& request) {
  return request.title.empty() ? results::find_figure_kind(request.kind).value()->title : request.title;
}

void name_sheet(const results::FigureRequest& request, Sheet& sheet) {
  sheet.name = request.name;
  sheet.title = title_of(request);
  sheet.look = request.look;
  sheet.box_width = request.box_width;
  sheet.box_height = request.box_height;
}

namespace {

constexpr double kPixelsPerInch = 96;
// Pixels: two sizes show how a figure grows with its boxes.
constexpr double kSmallBox = 200, kLargeBox = 300;
constexpr double kLeastBox = 50;

Result<Outcome> build_kind(const Source& source, const results::FigureRequest& request) {
  for (const auto& [kind, build] : kBuilders) {
    if (request.kind == kind) return build(source, request);
  }
  return results::find_figure_kind(request.kind).error();
}

// Builds a figure of the size that was asked for. The room beside its boxes depends on the figure,
// so it is built several times.
Result<Outcome> build_sized(const Source& source, results::FigureRequest request) {
  const auto sized = [&](double width, double height) {
    request.box_width = width;
    request.box_height = height;
    return build_kind(source, request);
  };
  const auto narrow = sized(kSmallBox, kLargeBox), low = sized(kLargeBox, kSmallBox),
             large = sized(kLargeBox, kLargeBox);
  for (const auto* one : {&narrow, &low, &large}) {
    if (!*one || !(**one).figure) return *one;
  }
  const double scale = large->figure->scale;
  const double width = request.look.size[0] * kPixelsPerInch / scale,
               height = request.look.size[1] * kPixelsPerInch / scale;
  // Boxes beside and above each other.
  const double across = (large->figure->width - narrow->figure->width) / (kLargeBox - kSmallBox),
               down = (large->figure->height - low->figure->height) / (kLargeBox - kSmallBox);
  double box_width = kLargeBox, box_height = kLargeBox;
  auto built = large;
  // Narrow boxes break titles into more lines, and so on.
  for (int time = 0; time < 3; ++time) {
    box_width += (width - built->figure->width) / across;
    box_height += (height - built->figure->height) / down;
    if (!(box_width >= kLeastBox && box_height >= kLeastBox)) {
      return Outcome{.why = fmt::format(
                         "its size of {} by {} inches has no room for its boxes; give it more, or a smaller "
                         "font_size, or fewer panels",
                         short_number(request.look.size[0]), short_number(request.look.size[1]))};
    }
    built = sized(box_width, box_height);
    if (!built || !built->figure) return built;
  }
  return built;
}

}  // namespace

Result<Outcome> build_figure(const Source& source, const results::FigureRequest& request) {
  auto coloured = source.table;
  coloured.colours = request.look.colours;
  const Source shown{.store = source.store, .table = coloured, .spec = source.spec};
  auto built = request.look.size.size() == 2 ? build_sized(shown, request) : build_kind(shown, request);
  if (!built || !built->figure) return built;
  for (const auto& box : built->figure->boxes) {
    for (const auto& [name, axis] : {std::pair{"x_range", &box.x}, std::pair{"y_range", &box.y}}) {
      if (axis->logarithmic && !(axis->from > 0))
        return Outcome{.why = fmt::format("its axis is logarithmic, and {} does not begin above 0", name)};
    }
  }
  return built;
}

Result<SpecFigures> figures_of(const results::Store& store, const results::TableModel& table) {
  const auto record = store.spec(table.spec);
  if (!record) return record.error();
  auto spec = *record ? results::spec_of(**record) : Result<spec::Spec>(spec::Spec{});
  if (!spec) return spec.error();
  spec::apply_labels(*spec);
  SpecFigures all;
  if (!spec->figures) {
    auto usual = usual_figures(store, table);
    if (!usual) return usual.error();
    all.figures = std::move(*usual);
    if (table.confidential) std::for_each(all.figures.begin(), all.figures.end(), add_watermark);
    return all;
  }
  for (const auto& request : results::figure_requests(*spec->figures)) {
    auto outcome = build_figure({.store = store, .table = table, .spec = *spec}, request);
    if (!outcome) return outcome.error();
    if (outcome->figure) {
      if (table.confidential) add_watermark(*outcome->figure);
      all.figures.push_back(std::move(*outcome->figure));
    } else {
      all.left_out.push_back({request.name, outcome->why});
    }
  }
  return all;
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
    if (auto ran = must_succeed({.program = *gnuplot, .arguments = {result.script}}); !ran)
      return ran.error();
    drawn.push_back(std::move(result));
  }
  return drawn;
}

Result<FileKind> drawable(const std::string& path) {
  constexpr std::pair<const char*, FileKind> kKinds[] = {
      {".svg", FileKind::svg}, {".png", FileKind::png}, {".pdf", FileKind::pdf}};
  const auto suffix = std::filesystem::path(path).extension();
  for (const auto& [known, kind] : kKinds) {
    if (suffix != known) continue;
    if (!find_program("gnuplot")) return error(kNoGnuplot);
    return kind;
  }
  return error("'" + path + "' does not end in .svg, .png or .pdf, which says what to draw.");
}

Result<void> draw_file(const Figure& figure, const std::string& path, bool owner_only) {
  const auto kind = drawable(path);
  if (!kind) return kind.error();
  // The files are not written beside PATH, which may be a device.
  const auto scratch = ScratchFolder::make();
  if (!scratch) return scratch.error();
  const auto script = scratch->path() + "/figure.gp", picture = scratch->path() + "/figure";
  if (auto written = write_file_atomically(script, gnuplot_script(figure, *kind, picture)); !written)
    return written;
  if (auto ran = must_succeed({.program = "gnuplot", .arguments = {script}}); !ran) return ran;
  const auto content = read_file(picture);
  if (!content) return content.error();
  return write_named_file(path, *content, owner_only);
}

}  // namespace hyfreedp::plots
