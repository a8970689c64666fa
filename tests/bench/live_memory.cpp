#include "tests/bench/live_memory.h"

#include <algorithm>
#include <atomic>
#include <c10/core/Allocator.h>
#include <c10/core/CPUAllocator.h>
#include <cstdlib>
#include <cstring>
#include <new>

namespace hyfreedp::bench {
namespace {

constexpr std::size_t kHeader = 64;  // keeps the alignment that kernels expect

std::atomic<std::int64_t> live{0};
std::atomic<std::int64_t> peak{0};

void release(void* data) {
  if (data == nullptr) return;
  auto* block = static_cast<char*>(data) - kHeader;
  std::int64_t size = 0;
  std::memcpy(&size, block, sizeof size);
  live -= size;
  std::free(block);
}

class CountingAllocator final : public c10::Allocator {
 public:
  c10::DataPtr allocate(std::size_t size) override {
    const auto padded = (size + 2 * kHeader - 1) / kHeader * kHeader;
    auto* block = static_cast<char*>(std::aligned_alloc(kHeader, padded));
    if (block == nullptr) throw std::bad_alloc();
    const auto bytes = static_cast<std::int64_t>(size);
    std::memcpy(block, &bytes, sizeof bytes);
    const auto now = live += bytes;
    auto most = peak.load();
    while (now > most && !peak.compare_exchange_weak(most, now)) {
    }
    void* data = block + kHeader;
    return {data, data, &release, c10::Device(c10::DeviceType::CPU)};
  }
  c10::DeleterFnPtr raw_deleter() const override { return &release; }
  void copy_data(void* to, const void* from, std::size_t size) const override { std::memcpy(to, from, size); }
};

}  // namespace

void count_live_memory() {
  static CountingAllocator allocator;
  c10::SetCPUAllocator(&allocator, 1);
}

std::int64_t live_bytes() { return live; }
std::int64_t peak_bytes() { return peak; }
void reset_peak() { peak = live.load(); }

}  // namespace hyfreedp::bench
