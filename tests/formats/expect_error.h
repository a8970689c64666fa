// What a test asks of an error's message.
#pragma once

#include <gtest/gtest.h>
#include <string>

#include "harness/base/result.h"

namespace hyfreedp::datasets {

// Whether it failed with a message that begins with `begin` and has `what` in it.
template <class T>
testing::AssertionResult fails_with(const Result<T>& result, const std::string& begin,
                                    const std::string& what) {
  if (result.has_value()) return testing::AssertionFailure() << "no error; expected was '" << what << "'";
  const auto& message = result.error().message;
  if (message.starts_with(begin) && message.find(what) != std::string::npos)
    return testing::AssertionSuccess();
  return testing::AssertionFailure() << "'" << begin << "' and '" << what << "' expected, found: " << message;
}

}  // namespace hyfreedp::datasets
