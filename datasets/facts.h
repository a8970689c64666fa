// Public facts of every dataset, without LibTorch: what `hyfreedp` needs to check a spec and to
// price it. N, the splits' sizes, the number of classes and the feature dimension are public
// constants that stand in each dataset's header before any data are read. Splits are typed; a
// selection metric names the split that it reads.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "datasets/labels.h"
#include "harness/base/options.h"
#include "harness/base/supply.h"

namespace hyfreedp::datasets {

enum class Split { private_train, private_validation, public_data, test };
std::string to_string(Split split);

struct SourceFile {
  std::string name;         // as it lies in the folder
  std::string sha256;       // of the file as shipped; empty: unpinned (harness/base/supply.h)
  std::string unless = {};  // an option that, where it is given, takes the file's place
};

struct Sizes;
// Tell whoever runs a spec what they should know of their own files, a sentence each.
using Notes = std::vector<std::string>;

struct Facts {
  std::string name;
  std::string title;
  std::string source;      // citation
  std::string how_to_get;  // "apt-get install dataset-fashion-mnist"
  // Folders in which the files are looked for, in this order. A path may begin with $HYFREEDP_DATA,
  // which is read at each look-up; it is skipped if that variable is not set.
  std::vector<std::string> search_paths;
  std::vector<SourceFile> files;    // empty: the dataset is generated and needs no files
  std::vector<OptionSpec> options;  // e.g. features: hog | pixels
  // The records are those of the user's own files, which the option `path` names (data_name).
  bool own_records = false;
  Sizes (*sizes)(const json::object& options) = nullptr;  // under resolved options
  // Where the options name a user's own files or weights: fills in what only this machine knows,
  // their counts and checksums, so that they are part of a trial's identity (complete_options).
  // Where they are not here, but the options give all sizes, it leaves the checksums out, so that
  // the spec can be planned and priced.
  Result<json::object> (*complete)(json::object options, Notes& notes) = nullptr;
  // Where the options name a user's own files that `complete` reads no further than their first
  // bytes: reads all of what a run would read (check_data).
  Result<void> (*check)(const json::object& options) = nullptr;
  // Whether the training split contains nobody's data, so that raw statistics of single examples,
  // such as their gradient norms, may be shown. Default: private.
  bool public_train = false;
  std::string licence = {};  // of the files, as their publisher says
  // The larger public collection from which the records are taken (PretrainedWeights::trained_on).
  std::string part_of = {};
  // `hyfreedp data fetch` brings this into the folder of fetched_folder; empty: it cannot.
  Supply supply = {};
  // True if a test set alone is published, for `ood_test` of a spec: its sizes have no training
  // record.
  bool test_only = false;
};

struct Dataset;  // dataset.h

// The public constants of a dataset under resolved options: all that prices a run or shapes a
// model.
struct Sizes {
  std::int64_t private_train = 0;
  std::int64_t private_validation = 0;
  std::int64_t public_data = 0;
  std::int64_t test = 0;
  std::int64_t classes = 0;
  std::int64_t features = 0;  // length of one example's feature vector, or of its sequence
  // Images: channels, rows and columns, in this order in the feature vector. 0: the features are
  // not images.
  std::array<std::int64_t, 3> image = {};
  // Sequences: number of tokens of one example, and number of different tokens
  // (classes = vocabulary). 0: no sequences.
  std::int64_t length = 0;
  std::int64_t vocabulary = 0;
  std::int64_t padding = 0;  // sequences with one class each: the id at the end of shorter ones
  // Pairs of sequences: the id after which the second begins.
  std::optional<std::int64_t> separator = {};
  LabelKind labels = LabelKind::classes;
  // Feature vectors of one training example, those of random copies of it; of other splits' there
  // is one.
  std::int64_t copies = 1;

  bool operator==(const Sizes&) const = default;
};

const std::vector<Facts>& dataset_facts();
Result<const Facts*> find_dataset(const std::string& name);
// facts.sizes(options). Facts without that function are an invariant violation (it throws).
Sizes sizes(const Facts& facts, const json::object& options);
// The resolved options with what Facts::complete fills in; the same where the facts have none.
// Called once, when a spec is read. `notes`, where given, gets what its reader should know. Errors:
// files that are not here, that are broken (a line each), or that are not those whose checksum the
// options give.
Result<json::object> complete_options(const Facts& facts, json::object options, Notes* notes = nullptr);
// Opens and reads the files that a run on completed options would read. The error names all that
// are broken, a line each.
Result<void> check_data(const Facts& facts, const json::object& options);
// Returns resolved options that ask for the test split alone: no record for training or validation
// is loaded, computed or cached. To be completed afterwards. An error for a dataset
// whose other splits cannot be left out.
Result<json::object> test_alone(const Facts& facts, json::object options);
// Whether a dataset of sizes `shifted` can be the `ood_test` called `id` of a panel of sizes
// `panel`: it is a test split alone, with the same kind and number of classes and the same
// features. The error names both.
Result<void> check_ood_test(const std::string& id, const Sizes& shifted, const Sizes& panel);
// Returns what the data are called where it matters whether two runs have seen the same records:
// the dataset's name, and of a user's own files also the last part of their path, links followed
// and without its ending. Sizes, features, and files that were added or changed do not make other
// data.
std::string data_name(const std::string& dataset, const json::object& options);
// The folder that has all files; empty for a generated dataset. It checks presence only. The
// folders of the facts are looked in first, that of fetched files last. The error names the package
// or command that provides the files, and the folders that were looked in.
Result<std::string> locate(const Facts& facts);
// The facts with the files alone that these options need (SourceFile::unless).
Facts with_needed_files(Facts facts, const json::object& options);
// Where the dataset's fetched files lie: cache_folder()/data/NAME.
std::string fetched_folder(const Facts& facts);
// An error unless everything that these options name is on this machine: the dataset's files, a
// user's own, and the weights of a frozen network. It checks presence only.
Result<void> check_present(const Facts& facts, const json::object& options);
// The SHA-256 of its files, as they are published, in their order.
json::array checksums(const Facts& facts);
// Checks the SHA-256 of each of its files in `folder`; of an unpinned one, the number of its bytes,
// where `supply` has it. The error names the first that differs.
Result<void> verify_files(const Facts& facts, const std::string& folder);

// Whether the training split is nobody's (Facts::public_train), or the option `public` declares it
// public. An unknown dataset counts as private.
bool training_split_is_public(const std::string& dataset, const json::object& options);
// The same of a dataset as a stored run has it: {"name": ..., "options": {...}}.
bool training_split_is_public(const json::object& dataset);
// Whether values computed from training examples (losses, norms, step sizes) may be shown: they are
// released with noise, or the training split is public.
bool training_values_are_released(bool is_private, const std::string& dataset, const json::object& options);

}  // namespace hyfreedp::datasets
