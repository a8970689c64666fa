// One sample's weight gradient of a convolution, dW [patch, out] = sum over places l of x_l b_l^T, or only its squared norm.
//
// The vectors run over the outputs. A tile of dW is held in registers while all places go by: each place gives one vector (or two) of
// b and one number of the padded image for each tap, so that patches are never written. Taps that stand beside each other in a
// row of the kernel share one pointer into the image. Without `out` a tile is squared and forgotten.
//
// No header of the standard library with functions is included here: the kernels are compiled once for each instruction set, and a
// function that they shared with the rest of the program could be the one that the linker keeps.
#pragma once

#include <cstdint>

namespace hyfreedp::models {

// What one application of the convolution gives of one sample and one group.
template <class T>
struct PatchSource {
  const T* image;      // [channels, height, width], zero-padded
  const T* gradients;  // packed b: [blocks, places, block width], zero beyond the outputs
};

// `taps` neighbouring taps of one row of the kernel.
struct TapRow {
  std::int64_t offset;  // of the first, into the padded image
  std::int64_t first;   // its index in the patch
};

template <class T>
struct PatchTask {
  static constexpr int kMostTaps = 4;
  const PatchSource<T>* sources = nullptr;  // one for each application; their gradients add up
  std::int64_t source_count = 0;
  const TapRow* rows[kMostTaps + 1] = {};  // by their number of taps
  std::int64_t row_counts[kMostTaps + 1] = {};
  std::int64_t lines = 0, columns = 0;          // of the output
  std::int64_t line_step = 0, column_step = 0;  // in the padded image
  std::int64_t outputs = 0;
};

template <class T>
struct PatchKernel {
  const char* name;
  std::int64_t taps;   // the most neighbouring taps that it takes
  std::int64_t lanes;  // numbers in a vector
  // Outputs side by side in a packed block: one vector, or two where one does not hold them all.
  std::int64_t block(std::int64_t outputs) const { return outputs > lanes ? 2 * lanes : lanes; }
  // [outputs, places] -> [blocks, places, block width].
  void (*pack)(const T* gradients, std::int64_t outputs, std::int64_t places, T* packed);
  // The squared norm; `out`: null or [patch, out_stride], of which each line gets `outputs` numbers.
  double (*run)(const PatchTask<T>& task, T* out, std::int64_t out_stride);
};

// The kernels that this processor can run, the best one last; three at most.
template <class T>
struct PatchKernels {
  const PatchKernel<T>* kernels[3];
  int count;
};
template <class T>
PatchKernels<T> patch_kernels();
template <>
PatchKernels<float> patch_kernels<float>();
template <>
PatchKernels<double> patch_kernels<double>();

}  // namespace hyfreedp::models
