#include "harness/base/describe.h"

#include <fmt/format.h>

#include "harness/base/text.h"

namespace hyfreedp {

Error unknown_name(const std::string& where, const std::string& name, const std::vector<std::string>& names) {
  return error(fmt::format("{} must be one of {}, not '{}'.{}", where, join(names, ", "), name,
                           did_you_mean(name, names)));
}

namespace description {

Error wrong_type(const std::string& where, const char* wanted, const json::value& value) {
  return error(fmt::format("{} must be {}, not {}", where, wanted, shown(value)));
}

}  // namespace description
}  // namespace hyfreedp
