#include "harness/training/peak_memory.h"

#include <ATen/Context.h>
#include <c10/core/CachingDeviceAllocator.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <fstream>
#include <limits>
#include <malloc.h>

namespace hyfreedp::training {
namespace {

constexpr auto kGpu = c10::DeviceType::CUDA;

c10::DeviceIndex gpu() { return c10::impl::VirtualGuardImpl(kGpu).getDevice().index(); }

auto allocated_on_gpu() {
  const auto stats = c10::getDeviceAllocator(kGpu)->getDeviceStats(gpu());
  return stats.allocated_bytes[static_cast<std::size_t>(c10::CachingAllocator::StatType::AGGREGATE)];
}

}  // namespace

void keep_freed_memory() {
  constexpr int kNever = std::numeric_limits<int>::max();
  ::mallopt(M_MMAP_THRESHOLD, kNever);
  ::mallopt(M_TRIM_THRESHOLD, kNever);
}

void give_back_freed_memory() { ::malloc_trim(0); }

PeakMemory::PeakMemory(const std::string& device) : on_gpu_(device != "cpu" && at::hasCUDA()) {
  give_back_freed_memory();
  std::ofstream("/proc/self/clear_refs") << "5";  // proc(5): sets the peak to what is resident now
  if (!on_gpu_) return;
  at::globalContext().lazyInitDevice(kGpu);
  c10::getDeviceAllocator(kGpu)->resetPeakStats(gpu());
}

std::int64_t PeakMemory::host() const {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    std::int64_t kibibytes = 0;
    if (word == "VmHWM:" && status >> kibibytes) return 1024 * kibibytes;
  }
  return 0;
}

std::int64_t PeakMemory::device() const { return on_gpu_ ? allocated_on_gpu().peak : 0; }

std::int64_t device_bytes_now() { return at::hasCUDA() ? allocated_on_gpu().current : 0; }

bool tells_of_memory(const std::string& message) {
  return message.find("not enough memory") != std::string::npos ||
         message.find("can't allocate memory") != std::string::npos ||
         message.find("out of memory") != std::string::npos;
}

}  // namespace hyfreedp::training
