// What is written reads back to the same bits: hashes, journals and seeded rows rest on it.
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <random>

#include "harness/base/json.h"

namespace hyfreedp {
namespace json_exact_test {

TEST(ExactJson, EveryDoubleReadsBackToTheSameBits) {
  std::mt19937_64 bits(1);
  std::uniform_real_distribution<double> uniform(0, 1);
  for (int i = 0; i < 100000; ++i) {
    double value = uniform(bits);
    if (i % 2 == 0) {
      const std::uint64_t pattern = bits();
      std::memcpy(&value, &pattern, sizeof value);
      if (!std::isfinite(value)) continue;
    }
    const auto text = canonical_json(json::array{value});
    const auto read = parse_json(text, "test");
    ASSERT_TRUE(read) << text;
    ASSERT_EQ(read->at(0).as_double(), value) << text;
    ASSERT_EQ(canonical_json(*read), text);
  }
}

TEST(ExactJson, IsAsStrictAsJsonIs) {
  for (const char* text : {"", "{", "[1,]", "1 2", "nul", "{\"a\":1,}", "[1.]", "'a'", "// a\n1"}) {
    EXPECT_FALSE(parse_json(text, "test")) << text;
  }
  EXPECT_EQ(canonical_json(*parse_json(" { \"a\\n\" : [ 1.5e3 , -2, true, null, \"x\" ] } \n", "test")),
            "{\"a\\n\":[1500.0,-2,true,null,\"x\"]}");
}

}  // namespace json_exact_test
}  // namespace hyfreedp
