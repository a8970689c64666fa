// CIFAR-10 and CIFAR-100 in their binary version (Krizhevsky: Learning Multiple Layers of Features
// from Tiny Images, 2009; the format is described on the data sets' page).
//
//   a batch     records, one after another, and nothing else
//   CIFAR-10    1 label byte, 0 to 9, and the pixels
//   CIFAR-100   1 byte of the coarse label, 0 to 19, 1 of the fine one, 0 to 99, and the pixels
//   pixels      3072 bytes: the red, the green and the blue plane, each 32 rows of 32
//
// A batch does not say how many records it has: one that was cut between two records is seen by who
// knows the number.
#pragma once

#include <string>
#include <string_view>

#include "datasets/formats/image_set.h"
#include "datasets/image/archive.h"
#include "harness/base/result.h"

namespace hyfreedp::datasets {

enum class CifarLabels { cifar10, cifar100_fine, cifar100_coarse };

// The images of a batch in its order, [n, 3, 32, 32]. Errors begin with `name` and say the record,
// counted from 0: no record, a part of one, a label that is none.
Result<ImageSet> parse_cifar(std::string_view bytes, const std::string& name, CifarLabels labels);

// A folder that has the batches, in it or in one folder of it, or the published tar.gz:
// data_batch_1.bin to data_batch_5.bin, in this order, and test_batch.bin; for CIFAR-100 train.bin
// and test.bin. Errors begin with `path`: those of visit_files and of parse_cifar, a batch that is
// not there or there twice.
Result<ImageSplits> read_cifar(const std::string& path, CifarLabels labels, const ArchiveLimits& limits = {});

}  // namespace hyfreedp::datasets
