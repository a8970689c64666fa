#include "harness/analytic/analytic.h"

#include <gtest/gtest.h>
#include <set>

namespace hyfreedp::analytic {
namespace analytic_test {

TEST(Registry, AnUnknownNameIsAnsweredWithTheNearest) {
  const auto done = compute("mohapatra-table-2", {}, nullptr, "spec.yaml: analytic");
  ASSERT_FALSE(done);
  EXPECT_NE(done.error().message.find("Did you mean 'mohapatra-table-1'?"), std::string::npos)
      << done.error().message;
}

TEST(Registry, AnUnknownOptionIsRefused) {
  const auto done = compute("mohapatra-table-1", {{"sigme", 4.0}}, nullptr, "spec.yaml: analytic");
  ASSERT_FALSE(done);
  EXPECT_NE(done.error().message.find("sigma"), std::string::npos) << done.error().message;
}

TEST(Registry, NamesAreDistinctAndEveryItemSaysItsSource) {
  std::set<std::string> names;
  for (const auto& item : registry()) {
    EXPECT_TRUE(names.insert(item.name).second) << item.name;
    EXPECT_FALSE(item.title.empty() || item.source.empty()) << item.name;
    EXPECT_EQ(find(item.name), &item);
  }
}

TEST(Decimals, AreThoseOfTheShortestText) {
  EXPECT_EQ(decimals_of(3.01), 2);
  EXPECT_EQ(decimals_of(12.8), 1);
  EXPECT_EQ(decimals_of(175), 0);
  EXPECT_EQ(decimals_of(1e-5), 5);
  EXPECT_EQ(decimals_of(1.5e-7), 8);
  EXPECT_EQ(decimals_of(1e20), 0);
}

TEST(Decimals, AColumnIsPrintedAsItsMostPreciseCell) {
  const PaperValues values(parse_json(R"({"tables": [{"id": "1", "cells": [
    {"row": ["a"], "columns": ["x"], "value": 79.7}, {"row": ["b"], "columns": ["x"], "value": 96.49, "sd": 0.02},
    {"row": ["a"], "columns": ["y"], "value": 2}, {"row": ["b"], "columns": ["y"], "value": null}]}]})",
                                      "test")
                               .value());
  EXPECT_EQ(values.cell("1", {"a"}, {"x"})->decimals, 2);
  EXPECT_EQ(values.cell("1", {"b"}, {"x"})->sd, 0.02);
  EXPECT_EQ(values.cell("1", {"a"}, {"y"})->decimals, 0);
  EXPECT_FALSE(values.cell("1", {"b"}, {"y"}));
  EXPECT_FALSE(values.cell("2", {"a"}, {"y"}));
}

}  // namespace analytic_test
}  // namespace hyfreedp::analytic
