// The weight gradient of a convolution for one sample, dW [patch, out] = sum over places l of x_l
// b_l^T, or only its squared norm.
//
// Vector registers run over the outputs. A tile of dW stays in registers while the loop goes over
// all places; each place gives one or two vectors of b and, for each tap, one number of the padded
// image, so that patches are never written to memory. Taps that are neighbours in a row of the
// kernel share one pointer into the image. Without `out` a tile is squared, added up and discarded.
//
// This file includes no header of the standard library that defines functions: the kernels are
// compiled once for each instruction set, and the linker could keep a shared inline function in a
// version that the processor does not support.
#pragma once

#include <cstdint>

namespace hyfreedp::models {

// The data of one application of the convolution, for one sample and one group.
template <class T>
struct PatchSource {
  const T* image;      // [channels, height, width], zero-padded
  const T* gradients;  // packed b: [blocks, places, block width], zero beyond the outputs
};

// Neighbouring taps of one row of the kernel.
struct TapRow {
  std::int64_t offset;  // of the first, into the padded image
  std::int64_t first;   // its index in the patch
};

template <class T>
struct PatchTask {
  static constexpr int kMostTaps = 4;
  const PatchSource<T>* sources = nullptr;  // one for each application; the gradients are added up
  std::int64_t source_count = 0;
  const TapRow* rows[kMostTaps + 1] = {};  // indexed by their number of taps
  std::int64_t row_counts[kMostTaps + 1] = {};
  std::int64_t lines = 0, columns = 0;          // of the output
  std::int64_t line_step = 0, column_step = 0;  // in the padded image
  std::int64_t outputs = 0;
};

template <class T>
struct PatchKernel {
  const char* name;
  std::int64_t taps;   // largest number of neighbouring taps
  std::int64_t lanes;  // numbers in a vector register
  // Number of outputs in a packed block: one vector, or two if one does not hold them all.
  std::int64_t block(std::int64_t outputs) const { return outputs > lanes ? 2 * lanes : lanes; }
  // Packs gradients [outputs, places] into [blocks, places, block width].
  void (*pack)(const T* gradients, std::int64_t outputs, std::int64_t places, T* packed);
  // Returns the squared norm. If `out` is not null, [patch, out_stride], `outputs` numbers are
  // written to each of its lines.
  double (*run)(const PatchTask<T>& task, T* out, std::int64_t out_stride);
};

// The kernels that this processor can run, at most three, the fastest last.
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
