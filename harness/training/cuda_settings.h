// Settings that make a run on a GPU repeatable. A replayed step is the same release only if it is
// equal bit for bit (trainer.h).
//
//   cuBLAS      one workspace of fixed size for each stream, as NVIDIA's note on reproducibility
//               requires. cuBLAS reads it from the environment when the first handle is made, so it
//               is set before anything uses the device
//   LibTorch    deterministic kernels only; an operation without one is an error that names it. The
//               networks use none of those that LibTorch 2.11 refuses (backward of adaptive or 3-D
//               pooling, of resizing, of replicating padding; medians, histograms, scatters other
//               than sums)
//   cuDNN       deterministic algorithms, chosen by rule and not by timing; its attention is not
//               used
//   TF32        off, unless an option turns it on for a run (models/layers/tf32.h)
#pragma once

namespace hyfreedp::training {

// Called at the start of a process. A value that the environment already has is kept.
void prepare_cublas_workspace();
// Called before the first operation on the device; it may be called again, by any thread.
void use_deterministic_kernels();
// Turns LibTorch's switches for TF32 off, which are on when a process begins. Called before the
// first run on any device: runs of several threads that find them on would turn them off and on
// for each other (models/layers/tf32.h). It may be called again, by any thread; only the first call
// changes anything.
void begin_without_tf32();

}  // namespace hyfreedp::training
