// The parts of reading a spec, which load_spec (plan.h) puts together. experiments/README.md
// describes the YAML.
#pragma once

#include <string>
#include <vector>

#include "datasets/facts.h"
#include "harness/base/json.h"
#include "harness/runner/spec/spec_entry.h"
#include "harness/runner/spec/spec_paper.h"
#include "harness/spec/spec.h"

namespace hyfreedp::runner {

// The properties of a panel that its rows need to know.
struct PanelFrame {
  std::vector<std::int64_t> seeds;
  std::vector<double> epsilons;
  bool has_sequential_seeds = false;  // how many of them are trained, a comparison decides
  bool has_fixed_noise = false;       // noise multipliers stand for epsilons, which are empty
  std::string accountant = {};        // that the spec asks for; empty: none
  std::int64_t steps = 0;
  spec::Control control = spec::Control::sampling_only;  // what rows of epsilon inf keep
  bool control_given = false;                            // the spec says so, and so does the table
  Layers train = {};                                     // the panel's, below a row's own
  std::optional<trial::TrainingOptions> training = {};   // what these say, where it could be read
  std::optional<spec::Named> optimizer = {};
  std::optional<PaperPlace> paper = {};    // where the paper prints its rows
  std::vector<std::string> ood_test = {};  // ids
  std::string dataset = {};                // its name, and what its labels are
  datasets::LabelKind labels = datasets::LabelKind::classes;
  bool shared_are_known = true;  // no mistake in the top-level `rows`
};

// Names are parts of files' names, of which a file system takes 255 bytes. A row's id may be
// longer, by what `each` adds.
inline constexpr std::size_t kLongestName = 100, kLongestRow = 200;
// A name that becomes part of paths and keys: letters, digits, '-', '_' and '.', not beginning with
// '.'; at most kLongestName of them.
Result<std::string> read_identifier(const Entry& entry);
bool is_identifier(const std::string& name);
Result<void> check_identifier(const Entry& place, const std::string& name);
// Reads one text, or a list of texts.
Result<std::vector<std::string>> read_texts(const std::optional<Entry>& entry);

// The readers below add to `problems` what is wrong, all of it, and return nothing where anything
// is.

// Distinct whole numbers, at least one.
std::optional<std::vector<std::int64_t>> read_seeds(const Entry& entry, Problems& problems);
// Reads what may stand in place of that list: `{until: ..., from: ..., to: ..., confidence: ...}`.
std::optional<spec::SequentialSeeds> read_sequential_seeds(const Entry& entry, Problems& problems);
// A mistake where the rows cannot be compared so.
void check_sequential_seeds(const Entry& entry, const spec::SequentialSeeds& seeds,
                            const std::vector<spec::Row>& rows, Problems& problems);
// All that may be trained.
std::vector<std::int64_t> seeds_of(const spec::SequentialSeeds& sequential);
// Distinct positive numbers or inf, at least one; a single number is a list of one.
std::optional<std::vector<double>> read_epsilons(const Entry& entry, Problems& problems);
// The same of positive, finite numbers.
std::optional<std::vector<double>> read_noise_multipliers(const Entry& entry, Problems& problems);

// The top-level `rows`: maps, and names of methods for a row with nothing but the method.
std::vector<Entry> read_shared_rows(const Entry& rows, Problems& problems);
// Rows of a panel: `rows` is the text `default` (all of `shared`), or a list of ids of shared rows,
// of names of methods, of rows, and of maps with `use: ID` that change a shared row. Absent: all
// shared rows.
std::optional<std::vector<spec::Row>> read_rows(const Entry& panel, const std::optional<Entry>& rows,
                                                const std::vector<Entry>& shared, const PanelFrame& frame,
                                                Problems& problems);

// The keys of a row; those of its `train`, beside the training options; those of `evaluate`.
const std::vector<std::string>& row_keys();
const std::vector<std::string>& row_train_keys();
std::vector<std::string> evaluate_keys();

// The options of `train` except the optimizer.
const std::vector<OptionSpec>& train_options();
struct ReadTrain {
  spec::Train train;  // without the optimizer and the training options
  spec::Control control = spec::Control::sampling_only;
};
// Sampler, sampling rate, batch size, clipping and the rest of `train`, every default filled in and
// checked as the privacy plan will be. `population`: N; absent where the dataset is wrong, and
// nothing is returned then.
std::optional<ReadTrain> read_train(const Layers& train, std::optional<std::int64_t> population,
                                    Problems& problems);
// A mistake where a private row could not be trained so.
void check_private_training(const spec::Train& train, const Layers& layers, Problems& problems);

// Keys of `train` that are not training options.
std::vector<std::string> train_option_names();
// The training options (harness/trial/training_options.h) among the keys of `train`.
std::vector<std::string> training_option_names();
// Reads the training options of the maps `train`; other keys are not looked at.
std::optional<trial::TrainingOptions> read_training(const Layers& train, Problems& problems);
// What mechanism/run_check.h says of train.average, at its place in the file.
void check_average(const trial::TrainingOptions& training, const trial::Named& optimizer, std::int64_t steps,
                   const Layers& train, Problems& problems);

// `optimizer` of these layers' `train`: what the upper ones say, down to the
// first that names one.
std::optional<spec::Named> read_optimizer(const Layers& train, Problems& problems);

// Reads what a run journals beside its last test accuracy, every default filled in; checked against
// what may be shown of `dataset` (none if that is wrong).
std::optional<spec::Evaluate> read_evaluate(const Layers& evaluate, const std::optional<spec::Named>& dataset,
                                            Problems& problems);

// Keys of `defaults`, which may also stand at the top level of a spec without `panels`.
const std::vector<std::string>& default_keys();

struct PanelRequest {
  Entry panel;
  // what lies below the panel's own keys; their names are checked already
  std::optional<Entry> defaults;
  std::vector<Entry> shared;           // the top-level rows
  bool shared_are_known = true;        // no mistake among them
  const PaperValues* paper = nullptr;  // null where the spec reproduces nothing
  bool is_document = false;            // the panel is the whole spec, which has no `panels`
};

// One panel, with what `defaults` says of it.
std::optional<spec::Panel> read_panel(const PanelRequest& request, Problems& problems);

}  // namespace hyfreedp::runner
