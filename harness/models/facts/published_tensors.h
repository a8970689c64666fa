// Published files whose names and shapes are not the network's own (networks/description.h): those
// with BatchNorms, which are multiplied into the convolutions, and those with the names of Caffe.
// Files that this program kept are neither.
#pragma once

#include "harness/models/facts/misfits.h"
#include "harness/models/networks/description.h"

namespace hyfreedp::models {

// True if the names in the file show that it has this published form.
bool is_published(const PublishedForm& form, const TensorShapes& file);
// An error that lists all missing, unexpected and misshaped tensors of a file by its names, or says
// why it is not read. `with_head`: the file's head too; without it nothing of the head is looked
// at.
Result<void> check_published(const PublishedForm& form, const TensorShapes& file, bool with_head);
// The beginning of the names of the file's head.
std::string head_in_file(const PublishedForm& form);

}  // namespace hyfreedp::models
