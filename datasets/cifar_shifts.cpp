#include "datasets/cifar_shifts.h"

#include "datasets/dataset.h"

namespace hyfreedp::datasets {

Result<Dataset> Cifar10Point1::load(const Facts& facts, const json::object& options,
                                    const std::string& device) {
  return load_published_images(facts, all(), reader(), options, device);
}

template <std::int64_t kClasses>
Result<Dataset> CorruptedCifarOf<kClasses>::load(const Facts& facts, const json::object& options,
                                                 const std::string& device) {
  return load_published_images(facts, CorruptedCifar::all(options, kClasses),
                               CorruptedCifar::reader(options, kClasses), options, device);
}

template struct CorruptedCifarOf<10>;
template struct CorruptedCifarOf<100>;

}  // namespace hyfreedp::datasets
