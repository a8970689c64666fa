// libFuzzer's target for the readers of datasets/formats. The variable READER chooses one: cifar,
// cifar100, stl10, svhn, mat5, idx, csv, tsv, number_csv, libsvm, npy, npy_images, safetensors,
// json_lines. From the top folder, with clang:
//   clang++ -std=c++20 -O1 -g -fsanitize=fuzzer,address,undefined -I. tests/fuzz/formats_fuzz.cpp
//     datasets/formats/*.cpp datasets/image/archive.cpp
//     harness/base/{files,json,mapped_file,safetensors_file,text,text_encoding,utf8}.cpp
//     -lfmt -lz -larchive -lboost_json -lcrypto -o build/formats_fuzz
//   READER=mat5 build/formats_fuzz -rss_limit_mb=1024 -max_len=65536 CORPUS
// cifar and stl10 are read as the bytes of a batch, or of a tar where the first byte is t.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <sys/mman.h>
#include <unistd.h>

#include "datasets/formats/cifar.h"
#include "datasets/formats/csv.h"
#include "datasets/formats/idx.h"
#include "datasets/formats/json_lines.h"
#include "datasets/formats/libsvm.h"
#include "datasets/formats/mat5.h"
#include "datasets/formats/npy.h"
#include "datasets/formats/number_table.h"
#include "datasets/formats/safetensors_table.h"
#include "datasets/formats/stl10.h"
#include "datasets/formats/svhn.h"

namespace {

using namespace hyfreedp::datasets;

// A file without a name on a disk.
class MemoryFile {
 public:
  MemoryFile() : number_(::memfd_create("fuzz", 0)) {}
  std::string with(std::string_view bytes) const {
    if (::ftruncate(number_, 0) != 0 ||
        ::pwrite(number_, bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
      std::abort();
    }
    return "/proc/self/fd/" + std::to_string(number_);
  }

 private:
  int number_;
};

// Reads every byte: one outside the memory is seen by the address sanitizer. What was read must be
// whole.
void check(const ImageSet& images) {
  const auto pixels = static_cast<std::size_t>(images.count * images.channels * images.height * images.width);
  if (images.pixels.size() != pixels || images.labels.size() != static_cast<std::size_t>(images.count))
    std::abort();
  for (const auto label : images.labels) {
    if (label < 0 || label > 99) std::abort();
  }
  volatile unsigned total = 0;
  for (const auto value : images.pixels) total = total + value;
}

void read(std::string_view reader, std::string_view bytes, const MemoryFile& file) {
  const bool tar = bytes.starts_with('t');
  if (reader == "cifar" || reader == "cifar100") {
    const auto labels = reader == "cifar" ? CifarLabels::cifar10 : CifarLabels::cifar100_fine;
    if (!tar) {
      if (const auto images = parse_cifar(bytes, "fuzz", labels)) check(*images);
    } else if (const auto splits = read_cifar(file.with(bytes.substr(1)), labels)) {
      check(splits->train);
      check(splits->test);
    }
  } else if (reader == "stl10") {
    if (!tar) {
      const auto half = bytes.size() - bytes.size() / 27649;
      if (const auto images = parse_stl10({"x", bytes.substr(0, half)}, {"y", bytes.substr(half)}))
        check(*images);
    } else if (const auto splits = read_stl10(file.with(bytes.substr(1)))) {
      check(splits->train);
      check(splits->test);
    }
  } else if (reader == "svhn") {
    if (const auto images = read_svhn(file.with(bytes))) check(*images);
  } else if (reader == "mat5") {
    const auto arrays = read_mat5(
        file.with(bytes), {{.name = "X", .max_values = 1 << 20}, {.name = "y", .max_values = 1 << 20}});
    if (!arrays) return;
    for (const auto& array : *arrays) {
      std::size_t count = 1;
      for (const auto size : array.sizes) count *= static_cast<std::size_t>(size);
      if (count != array.values.size()) std::abort();
    }
  } else if (reader == "idx") {
    (void)read_idx(file.with(bytes));
  } else if (reader == "csv") {
    (void)read_csv(file.with(bytes), {"a", "b"});
  } else if (reader == "tsv") {
    // As texts are read: whatever the columns are, and on after a record of another length.
    auto table = CsvReader::open(file.with(bytes), '\t');
    if (!table) return;
    for (std::size_t last = 0;;) {
      const auto record = table->next();
      if (!record && ++last > 100) break;
      if (!record) continue;
      if (!*record) break;
      if ((*record)->fields.size() != table->header().size()) std::abort();
    }
  } else if (reader == "number_csv") {
    if (const auto table = read_number_csv(file.with(bytes), ',', "a", {"0", "1"})) {
      if (table->labels.empty() || table->features.size() % table->labels.size() != 0) std::abort();
      for (const auto value : table->features) {
        if (!(value - value == 0)) std::abort();  // not finite
      }
    }
  } else if (reader == "libsvm") {
    if (const auto table =
            read_libsvm(file.with(bytes), {.features = 5, .labels = {-1, 1}, .max_values = 1 << 20})) {
      if (table->features.size() != 5 * table->labels.size()) std::abort();
      for (const auto value : table->features) {
        if (!(value - value == 0)) std::abort();  // not finite
      }
    }
  } else if (reader == "npy") {
    // Features, and the classes where a second file begins.
    static const MemoryFile classes;
    const auto second = std::min(bytes.size(), bytes.find("\x93NUMPY", 1));
    if (const auto table =
            read_npy(file.with(bytes.substr(0, second)), classes.with(bytes.substr(second)), {0, 1})) {
      if (table->labels.empty() || table->features.size() % table->labels.size() != 0) std::abort();
      for (const auto value : table->features) {
        if (!(value - value == 0)) std::abort();  // not finite
      }
    }
  } else if (reader == "safetensors") {
    if (const auto table = read_safetensors_table(file.with(bytes), {0, 1})) {
      if (table->labels.empty() || table->features.size() % table->labels.size() != 0) std::abort();
      for (const auto value : table->features) {
        if (!(value - value == 0)) std::abort();  // not finite
      }
    }
  } else if (reader == "npy_images") {
    // A tar with both arrays.
    const NpyImageFiles files{.pixels = "x.npy", .labels = "y.npy", .classes = 10};
    if (const auto images = read_npy_images(file.with(bytes), files)) check(*images);
  } else if (reader == "json_lines") {
    (void)visit_json_lines(file.with(bytes), {"a", "b"},
                           [](const std::string&, auto fields) -> hyfreedp::Result<void> {
                             if (fields.size() != 2) std::abort();
                             return {};
                           });
  } else {
    std::abort();  // READER is not set, or to another name
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const MemoryFile file;
  static const char* const reader = std::getenv("READER");
  read(reader == nullptr ? "" : reader, {reinterpret_cast<const char*>(data), size}, file);
  return 0;
}
