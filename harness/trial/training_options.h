// Options of a run that do not change its privacy price.
//
//   microbatch       samples whose records are in memory at once, copies included; 0: the model's
//                    own number (models/facts.h). Sums do not depend on it beyond rounding.
//   average          where the model is evaluated: at its weights, or at an average of the iterates
//                    from step `average_from` on. Post-processing of released values.
//                      ema   a += (1 - d_t) (w - a), d_t = min(average_decay, (1 + t) / (10 + t)),
//                            t from 0 (De et al., arXiv:2204.13650)
//                      swa   the plain mean (Izmailov et al., arXiv:1803.05407)
//   augmentations    M copies of each image; a sample's gradient and loss are the means over its
//                    copies, taken before it is clipped, so the sensitivity does not change (De
//                    et al.). 0: none; 1: one random copy.
//   precision        bf16: activations and the weights that they meet are bfloat16, and frozen
//                    weights are stored so; the weights that are trained, per-sample norms, sums,
//                    noise and losses stay float32.
//   tf32             lets CUDA's float32 products round their factors to TF32 in the forward and
//                    backward pass. Norms and clipped sums of per-sample gradients are float32 all
//                    the same. No effect on a CPU.
//   activation_checkpointing
//                    keeps of each of the network's blocks what it reads, and computes the block a
//                    second time for its gradients, by the same operations: less memory, more time
//                    (12 % of whole and 26 % of adapted Llama networks of 6 blocks on a CPU).
//   probe_precision  of the losses that a learning-rate probe releases; same: as `precision`.
//
// Options are declared in training_option_table(); a trial's config holds only those that are not
// the default, so the ids of trials without any do not depend on what is added here.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/base/describe.h"

namespace hyfreedp::trial {

enum class Average { none, ema, swa };
enum class Precision { float32, bf16 };
enum class Padding { reflect, zero };
BOOST_DESCRIBE_ENUM(Average, none, ema, swa)
BOOST_DESCRIBE_ENUM(Precision, float32, bf16)
BOOST_DESCRIBE_ENUM(Padding, reflect, zero)

struct Augmentations {
  std::int64_t copies = 0;
  bool flip = true;        // left and right change places with probability 1/2
  std::int64_t shift = 4;  // pixels by which the image moves at most, each way
  Padding padding = Padding::reflect;

  bool operator==(const Augmentations&) const = default;
  static constexpr bool kLeftOut = true;
  static constexpr std::array kNames = {
      description::Name{"copies", "augmentations"}, description::Name{"flip", "augmentation_flip"},
      description::Name{"shift", "augmentation_shift"}, description::Name{"padding", "augmentation_padding"}};
};
BOOST_DESCRIBE_STRUCT(Augmentations, (), (copies, flip, shift, padding))

struct TrainingOptions {
  std::int64_t microbatch = 0;
  Average average = Average::none;
  double average_decay = 0.9999;
  std::int64_t average_from = 0;
  Augmentations augmentation;
  Precision precision = Precision::float32;
  bool tf32 = false;
  bool activation_checkpointing = false;
  Precision probe_precision = Precision::float32;  // in JSON "same" where it is `precision`

  bool operator==(const TrainingOptions&) const = default;
  // Only the members that are not the default.
  json::object to_json() const;
  static Result<TrainingOptions> from_json(const json::object& object, const std::string& where);
  // Sentences for readers of a table, one for each choice that changes what a row means.
  std::vector<std::string> notes() const;

  static constexpr bool kLeftOut = true;
  static constexpr std::array kInlined = {"augmentation"};
};
BOOST_DESCRIBE_STRUCT(TrainingOptions, (),
                      (microbatch, average, average_decay, average_from, augmentation, precision, tf32,
                       activation_checkpointing))

const std::vector<OptionSpec>& training_option_table();

}  // namespace hyfreedp::trial
