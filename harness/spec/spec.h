// The content of a spec, with every default filled in: the one form in which plan, tables, figures,
// nightly comparisons and commands read it.
//
// harness/runner/spec makes a Spec from YAML, read_spec() from the JSON that the database and
// exported cells hold; as_json() (harness/base/describe.h) gives that JSON, whose canonical bytes
// are a spec's hash. So a member that is added later must be left out of the JSON where it is not
// used (kLeftOut), or every hash and study moves.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/base/describe.h"
#include "harness/spec/regress.h"
#include "harness/spec/table.h"
#include "harness/trial/trial_config.h"

namespace hyfreedp::spec {

using trial::Named;

// The parts of private training that cells of epsilon inf keep.
//   sampling-only   the private columns' batches without clipping: shows the cost of noise and
//                   clipping together
//   clip-only       their batches and their clipping: shows the cost of noise alone
//   none            shuffled batches of one size without clipping: shows the cost of private
//                   sampling as well
enum class Control { sampling_only, clip_only, none };
BOOST_DESCRIBE_ENUM(Control, sampling_only, clip_only, none)

// The training of all runs of a panel, but for what its methods choose.
struct Train {
  std::int64_t steps = 0;
  trial::Sampler sampler = trial::Sampler::poisson;
  double sample_rate = 0;
  double batch_size = 0;  // sample_rate times the population
  trial::Clipping clipping;
  trial::AskedReleases asked;
  std::string device = "cpu";
  Named optimizer;
  trial::TrainingOptions training;

  static constexpr bool kMayLack = true;
  static constexpr std::array kInlined = {"clipping", "asked"};
  static constexpr std::array kLeftOut = {"training"};
};
BOOST_DESCRIBE_STRUCT(Train, (),
                      (steps, sampler, sample_rate, batch_size, clipping, asked, device, optimizer, training))

// The values of a run that are journaled beside its last test accuracy
// (harness/trial/trial_config.h).
struct Evaluate {
  std::int64_t every = 0;
  trial::Recorded recorded;

  static constexpr bool kMayLack = true;
  static constexpr std::array kInlined = {"recorded"};
  static constexpr std::array kNames = {description::Name{"every", "evaluate_every"}};
};
BOOST_DESCRIBE_STRUCT(Evaluate, (), (every, recorded))

// An epsilon of a spec is a number, or infinite: the non-private arm. The rest of the program has
// no number there.
std::optional<double> target_of(double epsilon);
std::vector<std::optional<double>> targets_of(const std::vector<double>& epsilons);
// "1", "3.5", "inf".
std::string epsilon_text(double epsilon);

// A method with its options: one line of a panel's table.
struct Row {
  std::string id;
  std::string method;
  std::string title;
  std::string label;     // what its epsilon leaves out; the method's
  json::object options;  // of the method
  std::vector<std::int64_t> seeds;
  std::vector<double> epsilons;  // what its cells cost, where the panel fixes the noise
  std::int64_t steps = 0;
  std::vector<std::string> footnotes;
  Control control = Control::sampling_only;
  std::string group;  // rows of one `each`, or of a `group`; empty: none
  // The number of times it was trained anew (`run --retrain`) since the spec's release.
  std::int64_t release = 0;
  // The row's own, in place of the panel's:
  std::optional<Named> optimizer;
  std::optional<double> clipping_constant;
  std::optional<trial::TrainingOptions> training;
  // The paper's printed cells by epsilon ("1", "inf"), as its values.json has them (paper.h).
  std::map<std::string, json::object> paper;
  std::map<std::string, std::map<std::string, json::object>> paper_ood_test;  // by id of ood_test

  static constexpr bool kMayLack = true;
  static constexpr std::array kLeftOut = {"control",           "group",    "release", "optimizer",
                                          "clipping_constant", "training", "paper",   "paper_ood_test"};
};
BOOST_DESCRIBE_STRUCT(Row, (),
                      (id, method, title, label, options, seeds, epsilons, steps, footnotes, control, group,
                       release, optimizer, clipping_constant, training, paper, paper_ood_test))

// Seeds that are trained one after the other until a comparison of two rows is decided
// (results/table/sequential_seeds.h).
struct SequentialSeeds {
  std::string until;  // as the spec has it
  // The content of `until`: the rows compared, by id, the differences being first - second; the
  // width of the interval, in percentage points of test accuracy, that is narrow enough; whether an
  // interval without 0 is enough, too.
  std::string first, second;
  std::optional<double> narrower;
  bool excludes_zero = false;
  std::int64_t from = 0, to = 0;  // seeds before the first look, and at most
  double confidence = 0.95;

  static constexpr bool kMayLack = true;
  static constexpr std::array kLeftOut = {"narrower"};
};
BOOST_DESCRIBE_STRUCT(SequentialSeeds, (),
                      (until, first, second, narrower, excludes_zero, from, to, confidence))

// The ids of the paper's tables that print a panel's cells.
struct PaperTables {
  std::vector<std::string> tables;
};
BOOST_DESCRIBE_STRUCT(PaperTables, (), (tables))

// One dataset, model and way of training: one table.
struct Panel {
  std::string id;
  std::string title;
  Named dataset;
  std::vector<trial::OodTest> ood_test;  // further test sets, which nothing is selected by
  Named model;
  std::int64_t dimension = 0;
  std::int64_t population = 0, validation = 0, test = 0;  // records of the splits
  std::int64_t classes = 0;
  Train train;
  Evaluate evaluate;
  double delta = 0;
  // The accountant that sets the noise of all rows: "rdp"; empty: PLD, where no row needs RDP.
  std::string accountant = {};
  std::vector<std::int64_t> seeds;  // of sequential seeds 0 to `to` - 1
  std::optional<SequentialSeeds> sequential;
  std::vector<double> epsilons;
  // The noise multipliers of the gradients of all private runs, if the spec fixes them instead of
  // `epsilons`: the cells of a row are those of Row::epsilons, its i-th with the i-th of these.
  std::vector<double> noise_multipliers;
  std::vector<std::string> footnotes;
  std::optional<PaperTables> paper;
  std::optional<Table> table;
  std::vector<Row> rows;

  static constexpr bool kMayLack = true;
  static constexpr std::array kLeftOut = {"ood_test",          "accountant", "sequential",
                                          "noise_multipliers", "paper",      "table"};
  static constexpr std::array kInlined = {"train", "evaluate"};
};
BOOST_DESCRIBE_STRUCT(Panel, (),
                      (id, title, dataset, ood_test, model, dimension, population, validation, test, classes,
                       train, evaluate, delta, accountant, seeds, sequential, epsilons, noise_multipliers,
                       footnotes, paper, table, rows))

// The look of a figure; what is not given is the program's own.
struct FigureLook {
  std::vector<double> size;         // inches: width and height of the whole figure
  std::optional<std::string> font;  // a family
  std::optional<double> font_size;  // points in a PDF file; SVG and PNG in proportion
  std::optional<std::string> x_label, y_label;
  std::vector<double> x_range, y_range;        // from, to
  std::map<std::string, std::string> colours;  // "#RRGGBB" by the ids of rows or groups

  static constexpr bool kLeftOut = true;
};
BOOST_DESCRIBE_STRUCT(FigureLook, (), (size, font, font_size, x_label, y_label, x_range, y_range, colours))

// A figure that the spec asks for. A list without elements means all.
struct Figure {
  std::string kind;
  std::string name;                  // of its files; unique in the spec
  std::optional<std::string> title;  // none: the kind's own
  std::vector<std::string> rows;     // ids of rows or groups
  std::vector<std::string> panels;
  std::vector<double> epsilons;
  // The options of the kind (results/table/figure_spec.h) that are not the default.
  json::object options;
  FigureLook look;

  static constexpr bool kMayLack = true;
  static constexpr std::array kLeftOut = {"title", "rows", "panels", "epsilons"};
  static constexpr std::array kInlined = {"look"};
};
BOOST_DESCRIBE_STRUCT(Figure, (), (kind, name, title, rows, panels, epsilons, options, look))

// The table ("table 2") or figure that the spec repeats.
struct Reproduces {
  std::string paper;
  std::string id;
  static constexpr bool kMayLack = true;
};
BOOST_DESCRIBE_STRUCT(Reproduces, (), (paper, id))

// The reason why the spec cannot be run here, and what is not here.
struct NotRunnable {
  std::string reason;
  std::optional<std::vector<std::string>> datasets, models, weights, missing;
  static constexpr bool kMayLack = true;
  static constexpr std::array kLeftOut = {"datasets", "models", "weights", "missing"};
};
BOOST_DESCRIBE_STRUCT(NotRunnable, (), (reason, datasets, models, weights, missing))

struct Spec {
  std::string name;
  std::string title;
  std::string description;
  std::optional<std::string> noise_seed;  // none: private noise
  std::string preset;                     // empty: the spec has none
  std::optional<Reproduces> reproduces;
  json::object paper_table;  // the table that it reproduces, as values.json has it (paper.h)
  std::vector<std::string> assumed, contradictions;
  std::optional<NotRunnable> not_runnable;
  std::optional<Named> analytic;               // the computation (harness/analytic) asked for
  std::optional<Table> table;                  // of all panels
  std::optional<std::vector<Figure>> figures;  // none: the usual ones
  std::optional<Regress> regress;
  std::int64_t release = 0;  // of an unseeded spec: how often it was released anew
  std::vector<Panel> panels;

  static constexpr bool kMayLack = true;
  static constexpr std::array kLeftOut = {"preset",         "reproduces",   "paper_table", "assumed",
                                          "contradictions", "not_runnable", "analytic",    "table",
                                          "figures",        "regress",      "release"};
};
BOOST_DESCRIBE_STRUCT(Spec, (),
                      (name, title, description, noise_seed, preset, reproduces, paper_table, assumed,
                       contradictions, not_runnable, analytic, table, figures, regress, release, panels))

// A spec as the database holds it. What an older program did not write has its default; titles, and
// seeds, epsilons and steps of rows, that of the spec or panel around them. Errors begin with
// `where`.
Result<Spec> read_spec(const json::object& resolved, const std::string& where);
// A panel of one row, as an exported cell holds them.
Result<Panel> read_panel(const json::object& panel, const json::object& row, const std::string& where);

// True if the spec trains: it is neither not runnable nor analytic.
bool is_runnable(const Spec& spec);
// Null: there is none of that id.
const Panel* find_panel(const Spec& spec, const std::string& id);
const Row* find_row(const Panel& panel, const std::string& id);
// Ids and groups of their rows, each once: what a table's or figure's options may name.
std::vector<std::string> row_names(const std::vector<Panel>& panels);
// The panel's dataset, and those of its ood_test.
std::vector<Named> datasets_of(const Panel& panel);
// True if the panel's comparison decides how many of the row's seeds are trained; a row that lists
// seeds of its own trains these.
bool has_sequential_seeds(const Panel& panel, const Row& row);
// Gives rows and panels the titles that they are shown by: those of `table.labels`, the panel's
// before the spec's, and where rows of a panel have the same one, with their ids behind it.
void apply_labels(Spec& spec);
// The optimizer that the row asks for: its own, else the panel's.
const Named& optimizer_of(const Panel& panel, const Row& row);

}  // namespace hyfreedp::spec
