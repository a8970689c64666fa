// What makes a run on a GPU repeatable. A replayed step is the same release only if it is equal bit for bit (trainer.h).
//
//   cuBLAS      one workspace of fixed size for each stream, as NVIDIA's note on reproducibility asks; read from the
//               environment when the first handle is made, so it is set before anything touches the device
//   LibTorch    deterministic kernels; an operation that has none is an error that names it, not a silent difference. Of those
//               that LibTorch 2.11 refuses (backward of pooling that is adaptive or in 3-D, of resizing, of padding that
//               replicates; medians, histograms, scatters other than sums) the networks use none
//   cuDNN       deterministic algorithms, chosen by rule and not by timing; its attention is not used
//   TF32        off, unless an option asks for it later
#pragma once

namespace hyfreedp::training {

// At the start of a process; a value that the environment has already is kept.
void prepare_cublas_workspace();
// Before the first operation on the device; any number of times.
void use_deterministic_kernels();

}  // namespace hyfreedp::training
