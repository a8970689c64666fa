// The runs that a figure reads: test metrics of finished runs of the rows that it names, by their
// settings.
//
// All runs of a row are read only if their number is public. The losing runs of a private selection
// and their number are confidential (results/README.md), so such a row is left out and named unless
// the table is confidential.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "plots/figure.h"
#include "results/store/store.h"
#include "results/table/figure_options.h"
#include "results/table/figure_spec.h"
#include "results/table/table_model.h"

namespace hyfreedp::plots {

// The sources from which a figure is drawn.
struct Source {
  const results::Store& store;
  const results::TableModel& table;
  const spec::Spec& spec;
};

// A figure, or the reason why there is none.
struct Outcome {
  std::optional<Figure> figure = {};
  std::string why = {};
};

struct Run {
  std::string panel, panel_title, row, row_title;
  std::string group;  // of the row; its id where it has none
  std::string method;
  std::optional<double> epsilon;  // target
  std::string arm;                // the same as a table's column is headed
  double delta = 0;
  std::int64_t seed = 0;
  std::string trial;
  json::object config;
  double seconds = 0;
  std::vector<accounting::Event> events;
  // step -> the test metric: accuracy in percent, loss in nats
  std::map<std::int64_t, double> curve;
  double last() const { return curve.rbegin()->second; }
};

struct RunList {
  std::vector<Run> runs;             // in the order of the spec
  std::vector<std::string> refused;  // titles of rows of private selection, left out
  bool any_unreleased = false;       // leave_out_unreleased() left some out
  bool any_left_open = false;
  // A sentence for the caption about what was left out; empty if nothing was.
  std::string refusal() const;
  // The reason why there is nothing to draw.
  std::string nothing(const std::string& wanted) const;
};

// Leaves out the runs whose journalled scalars are not releases (results/table/released_scalars.h),
// unless the table is confidential.
void leave_out_unreleased(const Source& source, RunList& list);

enum class Which { reported, all };
// The finished runs of concluded studies; with a `metric` ("accuracy" or "loss"), those that have
// it.
Result<RunList> runs_of(const Source& source, const results::FigureRequest& request, Which which,
                        const std::string& metric = {});

// The optimizer, controller, model or dataset of a run's configuration; without a name where the
// configuration says none.
trial::Named named_in(const json::object& config, const char* key);

// A number among a run's settings: "rate" (constant or scheduled), "epsilon", "steps", "seed", a
// name in the options of its optimizer, controller, privacy, model, dataset or training
// (in this order), a path of names joined by points, or a product of such names ("rate * steps").
std::optional<double> setting(const Run& run, const std::string& name);
// Reads settings such as "rate=0.001, beta1=0.9".
Result<std::vector<std::pair<std::string, double>>> parse_settings(const std::string& text);
bool has_settings(const Run& run, const std::vector<std::pair<std::string, double>>& wanted);
// The text for an axis: "learning rate η".
std::string setting_label(const std::string& name);
// "test accuracy (%)"; a loss has no unit.
std::string metric_label(const std::string& metric);
// The same as a caption begins with it.
std::string metric_sentence(const std::string& metric);

// The group of each row, by (panel, row), for the rows that have one.
std::map<std::pair<std::string, std::string>, std::string> row_groups(const spec::Spec& spec);

// The runs of one (panel, epsilon).
struct RunCell {
  std::string title;
  std::vector<const Run*> runs;
};
std::vector<RunCell> cells_of(const Source& source, const std::vector<Run>& runs);

// Runs that differ in their seed alone.
struct Candidate {
  std::string family;  // group or row
  std::vector<const Run*> runs;
  double value() const;  // mean of last() over seeds
  // The mean over seeds at the steps that all of them have.
  std::map<std::int64_t, double> curve() const;
};
using results::By;
std::vector<Candidate> candidates_of(const RunCell& cell, By by);

// Groups or rows in order of appearance, with title and style.
struct Family {
  std::string id, title;
  LineStyle style;
};
std::vector<Family> families_of(const std::vector<Run>& runs, By by, const results::TableModel& table);

}  // namespace hyfreedp::plots
