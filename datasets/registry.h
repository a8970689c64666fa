// Every dataset, in the order that `hyfreedp list datasets` prints: one include and one line each.
//
// A dataset is a file pair NAME.h, NAME.cpp with a struct of two static functions:
//   facts()                its public facts, in the header and without LibTorch
//   load(facts, options)   its tensors, in the source. `options` were resolved against the facts.
//                          A third argument is the device where a frozen network computes features
// The header is enough where its kind has the load (published_images.h, idx_images.h).
#pragma once

#include "datasets/adult.h"
#include "datasets/cifar.h"
#include "datasets/cifar_shifts.h"
#include "datasets/e2e.h"
#include "datasets/emnist.h"
#include "datasets/fashion_mnist.h"
#include "datasets/image_folder.h"
#include "datasets/mnist.h"
#include "datasets/stl10.h"
#include "datasets/svhn.h"
#include "datasets/synthetic.h"
#include "datasets/synthetic_images.h"
#include "datasets/synthetic_regression.h"
#include "datasets/synthetic_tokens.h"
#include "datasets/table_file.h"
#include "datasets/text_file.h"

namespace hyfreedp::datasets {

template <class... Each>
struct List {};

// clang-format off
using Registered = List<
    FashionMnist,
    Synthetic,
    SyntheticImages,
    SyntheticTokens,
    E2e,
    Adult,
    Mnist,
    Cifar10,
    Cifar100,
    Svhn,
    Stl10,
    ImageFolderDataset,
    TableFile,
    TextFile,
    Emnist,
    Cifar10Point1,
    Cifar10C,
    Cifar100C,
    // New datasets go above this line.
    SyntheticRegression>;
// clang-format on

}  // namespace hyfreedp::datasets
