// Checkpoints of a run: its state between two steps, so that an interrupted run goes on from there
// and not from step 0.
//
// The state is all that a later step depends on and that config, dataset, key and attempt do not
// give: weights, optimizer, controller, average, clipping threshold, feature mean, and what the
// journal's later lines need. A run that goes on from it, on the same program, machine, settings
// and key, equals one that was never interrupted bit for bit: batches and noise are functions of
// the step.
//
// A checkpoint names its place in the run's journal (mechanism::ResumePoint). It is of use only
// where the journal has that place, since the releases that the state depends on are booked there.
//
// The file FOLDER/STEP.checkpoint is a safetensors file (harness/base/safetensors_file.h) followed
// by 64 hexadecimal digits, the SHA-256 of what precedes. Numbers are tensors of one float64. The
// metadata "checkpoint" is JSON: {"version", "trial", "step", "place", "released", "seconds",
// "peak_bytes", "device_peak_bytes"}.
//
// The weights between two steps follow from released values, but who has a checkpoint of a private
// run knows more than a table says, and under private selection that the run was made. It is as
// confidential as the run's key: file 0600, folder 0700, deleted with the key.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <future>
#include <map>
#include <string>
#include <vector>

#include "harness/mechanism/journal.h"
#include "harness/models/weights/safetensors.h"

namespace hyfreedp::training {

// Vectors and numbers by name.
struct State {
  models::NamedTensors tensors;
  std::map<std::string, double> scalars;

  // Adds those of `part` under the names "PREFIX/NAME".
  void add(const std::string& prefix, const State& part);
  // Returns the part that was added under that prefix, by NAME.
  State part(const std::string& prefix) const;
  // Tensors of the processor that share no memory with this state's.
  State copy() const;
  std::int64_t bytes() const;
};

struct Checkpoint {
  std::string trial;
  mechanism::ResumePoint point;
  // The costs of all runs up to here (trial::Finish).
  double seconds = 0;
  std::int64_t peak_bytes = 0;
  std::int64_t device_peak_bytes = 0;
  State state;
};

Result<void> write_checkpoint(const std::string& path, const Checkpoint& checkpoint);
// The tensors are views of the mapped file. An error where the file is no complete checkpoint.
Result<Checkpoint> read_checkpoint(const std::string& path);

// Returns where the checkpoints belong in the run's journal, for JournalWriter::open.
std::vector<mechanism::ResumePoint> points_of(const std::vector<Checkpoint>& checkpoints);

// The checkpoints of one trial, in a folder of their own. At most two files stay: the last one and
// the one before it. A checkpoint that cannot be written does not fail the run. Used by one thread.
class Checkpoints {
 public:
  // `interval`: between two checkpoints that are written beside training; 0: none are.
  Checkpoints(std::string folder, std::string trial, std::chrono::duration<double> interval);
  ~Checkpoints();
  Checkpoints(const Checkpoints&) = delete;
  Checkpoints& operator=(const Checkpoints&) = delete;

  // Reads the trial's complete checkpoints, the latest first.
  std::vector<Checkpoint> read();
  // The run goes on from this step: of what the folder has, the checkpoint of that step stays until
  // two later ones are written. 0: the run begins anew.
  void go_on_from(std::int64_t step);

  // True if it is time for one, and none is being written.
  bool is_due() const;
  // The step of the last one, written or read; 0: none.
  std::int64_t last_step() const { return last_step_; }
  // Writes it in a thread of its own. The state must be a copy.
  void write_beside(Checkpoint checkpoint);
  // Returns when it is on the disk, or cannot be written.
  void write(const Checkpoint& checkpoint);

  // Says why the last one could not be written; empty if it was.
  std::string problem();

 private:
  void wait();
  Result<void> write_and_clear(const Checkpoint& checkpoint);
  Result<void> write_file(const Checkpoint& checkpoint);
  void clear();  // of all but kept_

  std::string folder_;
  std::string trial_;
  std::chrono::duration<double> interval_;
  std::chrono::steady_clock::time_point last_;
  std::int64_t last_step_ = 0;
  std::deque<std::string> kept_;  // file names, the oldest first
  std::future<Result<void>> writing_;
  std::string problem_;
};

}  // namespace hyfreedp::training
