#include "harness/training/checkpoint.h"

#include <algorithm>
#include <exception>
#include <filesystem>
#include <fmt/format.h>
#include <iterator>
#include <utility>

#include "harness/base/describe.h"
#include "harness/base/files.h"
#include "harness/base/mapped_file.h"

namespace hyfreedp::training {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr std::int64_t kVersion = 1;
constexpr const char* kMetadata = "checkpoint";
constexpr std::size_t kDigits = 64;
constexpr std::size_t kKept = 2;

struct Label {
  std::int64_t version = kVersion;
  std::string trial;
  std::int64_t step = 0;
  std::string place;
  json::object released;
  double seconds = 0;
  std::int64_t peak_bytes = 0;
  std::int64_t device_peak_bytes = 0;
};
BOOST_DESCRIBE_STRUCT(Label, (),
                      (version, trial, step, place, released, seconds, peak_bytes, device_peak_bytes))

constexpr const char* kVectors = "vector";
constexpr const char* kNumbers = "number";

std::string file_name(std::int64_t step) { return fmt::format("{}.checkpoint", step); }

}  // namespace

void State::add(const std::string& prefix, const State& part) {
  const auto begin = prefix + "/";
  for (const auto& [name, tensor] : part.tensors) tensors[begin + name] = tensor;
  for (const auto& [name, value] : part.scalars) scalars[begin + name] = value;
}

State State::part(const std::string& prefix) const {
  State found;
  const auto begin = prefix + "/";
  for (const auto& [name, tensor] : tensors) {
    if (name.starts_with(begin)) found.tensors[name.substr(begin.size())] = tensor;
  }
  for (const auto& [name, value] : scalars) {
    if (name.starts_with(begin)) found.scalars[name.substr(begin.size())] = value;
  }
  return found;
}

State State::copy() const {
  State copied{.tensors = {}, .scalars = scalars};
  for (const auto& [name, tensor] : tensors) {
    copied.tensors[name] = tensor.detach().to(torch::kCPU, tensor.scalar_type(), false, /*copy=*/true);
  }
  return copied;
}

std::int64_t State::bytes() const {
  std::int64_t sum = 0;
  for (const auto& [name, tensor] : tensors) sum += static_cast<std::int64_t>(tensor.nbytes());
  return sum;
}

Result<void> write_checkpoint(const std::string& path, const Checkpoint& checkpoint) {
  const auto& point = checkpoint.point;
  const Label label{.trial = checkpoint.trial,
                    .step = point.step,
                    .place = point.place,
                    .released = point.released,
                    .seconds = checkpoint.seconds,
                    .peak_bytes = checkpoint.peak_bytes,
                    .device_peak_bytes = checkpoint.device_peak_bytes};
  State all;
  all.add(kVectors, {.tensors = checkpoint.state.tensors, .scalars = {}});
  State numbers;
  for (const auto& [name, value] : checkpoint.state.scalars) {
    numbers.tensors[name] = torch::scalar_tensor(value, torch::kFloat64);
  }
  all.add(kNumbers, numbers);
  const models::TensorsWithMetadata content{all.tensors, {{kMetadata, canonical_json(as_json(label))}}};
  auto file = AtomicFile::create(path, 0600);
  if (!file) return file.error();
  Sha256 sum;
  const auto write = [&](std::string_view piece) {
    sum.add(piece);
    return file->append(piece);
  };
  if (auto written = models::serialize_safetensors(content, path, write); !written) return written;
  if (auto written = file->append(sum.hex()); !written) return written;
  return file->move_into_place();
}

Result<Checkpoint> read_checkpoint(const std::string& path) {
  const auto file = map_file(path);
  if (!file) return file.error();
  const auto& bytes = file->bytes;
  if (bytes.size() < kDigits) return error(path + ": not a checkpoint (too short)");
  const SharedBytes content{.bytes = bytes.substr(0, bytes.size() - kDigits), .owner = file->owner};
  if (sha256_hex(content.bytes) != bytes.substr(content.bytes.size())) {
    return error(path + ": the checkpoint is not complete, or was changed after it was written");
  }
  auto stored = models::parse_safetensors(content, path);
  if (!stored) return stored.error();
  const auto text = get_string(stored->metadata, kMetadata, path);
  if (!text) return text.error();
  const auto value = parse_json(*text, path);
  if (!value) return value.error();
  if (!value->is_object()) return error(path + ": the checkpoint's metadata is not an object");
  auto label = from_json<Label>(value->get_object(), path);
  if (!label) return label.error();
  if (label->version != kVersion) return error(path + ": the checkpoint was written by another version");
  Checkpoint checkpoint{
      .trial = label->trial,
      .point = {.step = label->step, .place = label->place, .released = std::move(label->released)},
      .seconds = label->seconds,
      .peak_bytes = label->peak_bytes,
      .device_peak_bytes = label->device_peak_bytes,
      .state = {}};
  const State all{.tensors = std::move(stored->tensors), .scalars = {}};
  checkpoint.state.tensors = all.part(kVectors).tensors;
  for (const auto& [name, number] : all.part(kNumbers).tensors) {
    if (number.numel() != 1 || number.scalar_type() != torch::kFloat64) {
      return error(fmt::format("{}: '{}' is not a number", path, name));
    }
    checkpoint.state.scalars[name] = number.item<double>();
  }
  return checkpoint;
}

std::vector<mechanism::ResumePoint> points_of(const std::vector<Checkpoint>& checkpoints) {
  std::vector<mechanism::ResumePoint> points;
  points.reserve(checkpoints.size());
  for (const auto& checkpoint : checkpoints) points.push_back(checkpoint.point);
  return points;
}

Checkpoints::Checkpoints(std::string folder, std::string trial, std::chrono::duration<double> interval)
    : folder_(std::move(folder)), trial_(std::move(trial)), interval_(interval), last_(Clock::now()) {}

Checkpoints::~Checkpoints() { wait(); }

std::vector<Checkpoint> Checkpoints::read() {
  wait();
  std::vector<Checkpoint> found;
  std::error_code absent;
  for (const auto& entry : fs::directory_iterator(folder_, absent)) {
    if (entry.path().extension() != ".checkpoint") continue;
    auto checkpoint = read_checkpoint(entry.path().string());
    if (checkpoint && checkpoint->trial == trial_) found.push_back(std::move(*checkpoint));
  }
  std::ranges::sort(found, std::ranges::greater{}, [](const auto& one) { return one.point.step; });
  return found;
}

void Checkpoints::go_on_from(std::int64_t step) {
  kept_.clear();
  if (step > 0) kept_.push_back(file_name(step));
  last_step_ = step;
  last_ = Clock::now();
}

bool Checkpoints::is_due() const {
  const bool is_free =
      !writing_.valid() || writing_.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
  return interval_.count() > 0 && is_free && Clock::now() - last_ >= interval_;
}

void Checkpoints::write_beside(Checkpoint checkpoint) {
  wait();
  last_ = Clock::now();
  last_step_ = checkpoint.point.step;
  writing_ =
      std::async(std::launch::async, [this, one = std::move(checkpoint)] { return write_and_clear(one); });
}

void Checkpoints::write(const Checkpoint& checkpoint) {
  wait();
  last_ = Clock::now();
  last_step_ = checkpoint.point.step;
  const auto written = write_and_clear(checkpoint);
  problem_ = written ? "" : written.error().message;
}

std::string Checkpoints::problem() {
  wait();
  return problem_;
}

void Checkpoints::wait() {
  if (!writing_.valid()) return;
  const auto written = writing_.get();
  problem_ = written ? "" : written.error().message;
}

Result<void> Checkpoints::write_and_clear(const Checkpoint& checkpoint) {
  try {
    if (auto written = write_file(checkpoint); !written) return written;
    clear();
    return {};
  } catch (const std::exception& caught) {
    return error(folder_ + ": " + caught.what());
  }
}

Result<void> Checkpoints::write_file(const Checkpoint& checkpoint) {
  if (auto made = make_closed_folder(folder_); !made) return made;
  const auto name = file_name(checkpoint.point.step);
  if (auto written = write_checkpoint(folder_ + "/" + name, checkpoint); !written) return written;
  std::erase(kept_, name);
  kept_.push_back(name);
  while (kept_.size() > kKept) kept_.pop_front();
  return {};
}

// A file that is left from elsewhere goes, too.
void Checkpoints::clear() {
  std::vector<fs::path> old;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder_, ignored)) {
    if (std::ranges::find(kept_, entry.path().filename().string()) == kept_.end())
      old.push_back(entry.path());
  }
  for (const auto& path : old) fs::remove(path, ignored);
}

}  // namespace hyfreedp::training
