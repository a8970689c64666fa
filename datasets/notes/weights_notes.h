// Says what a reader must know of a dataset's images and the pretrained weights
// (facts/catalogue.h) that see them. What is known of weights is what the catalogue has, what
// their folder's config.json says of their images and classes, what trial.json says of weights
// that a run kept, and what is usual of their network.
#pragma once

#include <string>
#include <vector>

#include "datasets/facts.h"

namespace hyfreedp::datasets {

// Where the records are, or are part of, the public collection on which the weights of that name
// were trained: a sentence that says so, of records that epsilon then does not protect. Else "".
std::string overlap_note(const Facts& facts, const std::string& weights);

// The same of a set of ood_test, of which the weights have seen the records that are to be new to
// them.
std::string seen_test_note(const Facts& facts, const std::string& weights);

// Where the dataset's images, under these resolved options, have another scale than those that the
// weights of that name were trained on, or than is usual of `network`, a registered model: a
// sentence that names both. Else "", and where nothing is known or the spec asks for plain pixels
// (normalise: none).
std::string scale_note(const Facts& facts, const json::object& options, const std::string& network,
                       const std::string& weights);

// Where timm's config.json says that the weights' images were resized by another interpolation than
// the dataset's under these options: a sentence with both; else "".
std::string interpolation_note(const Facts& facts, const json::object& options, const std::string& weights);

// The names of an own dataset's classes, in the order of their numbers: a folder of images has them
// if it is here, a table if its labels are texts. Of other datasets none.
Result<std::vector<std::string>> own_class_names(const std::string& dataset, const json::object& options);

// Where weights that a run kept were trained on features less a released mean (features.safetensors
// beside them): a sentence that says so; else "".
std::string centred_note(const std::string& weights);
// Where the dataset's `tokenizer` is another than that of the weights' own folder; else "".
std::string tokenizer_note(const json::object& options, const std::string& weights);
// An error where weights that a run kept were trained on an own table whose features had other
// names or another order than those of the dataset under these options: a network knows features by
// their place.
Result<void> check_columns_of_weights(const Facts& facts, const json::object& options,
                                      const std::string& weights);
// Where a model has the head of its weights (`head: file`) and gives it another `pool` than the one
// that it was trained on: a sentence that names both; else "".
std::string pool_note(const json::object& model);
// Where the adapter that a model's options name was kept by a run, and was trained on other weights
// than they name; else "".
std::string base_note(const json::object& model);

// Where a model under these resolved options has the head of its weights (`head: file`, and always
// where the network has no option `head`), and both they and the dataset name the classes: an error
// where the names are the same in another order, so that each row of the head would be taken for
// another class; a sentence with both where they are other names, and of weights that a run kept
// where it was of another dataset; else "". Default names (LABEL_0, ...) say nothing.
Result<std::string> head_names_note(const Facts& facts, const json::object& options,
                                    const std::string& network, const json::object& model);

}  // namespace hyfreedp::datasets
