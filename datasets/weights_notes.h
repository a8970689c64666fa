// What a reader must know of a dataset's images and the pretrained weights (facts/catalogue.h) that
// see them. Of weights that are not of the catalogue nothing is known, and nothing is said.
#pragma once

#include <string>

#include "datasets/facts.h"

namespace hyfreedp::datasets {

// Where the records are, or are part of, the public collection on which the weights of that name
// were trained: a sentence that says so, of records that epsilon then does not protect. Else "".
std::string overlap_note(const Facts& facts, const std::string& weights);

// The same of a set of ood_test, of which the weights have seen the records that are to be new to
// them.
std::string seen_test_note(const Facts& facts, const std::string& weights);

// Where the dataset's images, under these resolved options, have another scale than those that the
// weights of that name were trained on: a sentence that names both. Else "".
std::string scale_note(const Facts& facts, const json::object& options, const std::string& weights);

}  // namespace hyfreedp::datasets
