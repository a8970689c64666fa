// The E2E NLG challenge (Novikova et al., arXiv:1706.09254) as sequences of GPT-2's tokens. A
// record describes a restaurant by slots ("mr") and by a sentence ("ref").
//
//   tokens   mr, " ||", " " and ref, end of text, then end of text as padding; cut at `length`
//            tokens
//   labels   those of ref and of the end of text after it; -100 for the mr, the separator and the
//            padding
// The development file's first 4172 records are private_train and its last 500 private_validation;
// the test file with references is test. The records of one mr stand together, so train and
// validation share at most one mr.
#pragma once

#include "datasets/dataset.h"

namespace hyfreedp::datasets {

Result<Dataset> load_e2e(const Facts& facts, const json::object& options);

struct E2eRecord {
  std::string mr;
  std::string ref;
};
// Reads a CSV file (csv.h) with the header "mr,ref". Errors are those of read_csv.
Result<std::vector<E2eRecord>> read_e2e(const std::string& path);

}  // namespace hyfreedp::datasets
