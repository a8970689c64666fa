// The items of `hyfreedp data`: every dataset with files, and the pretrained weights of the
// catalogue. They say where they are here, and how they are brought.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "datasets/fetch/fetch.h"
#include "harness/base/result.h"
#include "harness/runner/spec/spec_needs.h"

namespace hyfreedp::cli {

struct DataItem {
  enum class Kind { data, weights };
  std::string name;
  Kind kind = Kind::data;
  std::string title;
  std::string licence;
  std::string source;      // citation
  std::string how_to_get;  // by hand, or by a package
  Supply supply;
  std::vector<datasets::SuppliedFile> files;  // all that it has in its folder
  std::string folder;                         // that has them; empty: not on this machine
  std::string fetched_folder;                 // where they are put

  bool is_here() const { return !folder.empty(); }
};

// Datasets in the order of their registry, then weights.
std::vector<DataItem> data_items();
// An error names the nearest; that of a dataset without files of its own says so.
Result<DataItem> find_data_item(const std::string& name);

// Brings it to its fetched folder. Files that are here already are left alone; in the fetched
// folder its checksums are compared, and those that differ are brought again. Messages on what is
// done go to `err`.
Result<void> fetch_item(const DataItem& item, std::ostream& err);

// The number of a spec's needs that came, and a sentence for each that did not, with what to do.
struct BroughtNeeds {
  std::size_t brought = 0;
  std::vector<std::string> failed;     // could have been fetched
  std::vector<std::string> elsewhere;  // cannot be fetched by this program
};
// Brings what is needed and not here, as fetch_item does. What the program does not know (a
// misspelt dataset) is passed over: whoever reads the spec will say so.
BroughtNeeds fetch_needs(const runner::SpecNeeds& needs, std::ostream& err);

}  // namespace hyfreedp::cli
