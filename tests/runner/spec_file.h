// A spec written to a folder of its own, with a paper's values beside it.
#pragma once

#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "harness/runner/spec/plan.h"

namespace hyfreedp::runner {

class WrittenSpec : public testing::Test {
 protected:
  WrittenSpec()
      : folder_(std::filesystem::temp_directory_path() / fmt::format("hyfreedp_written_spec.{}", getpid())) {
    std::filesystem::create_directories(folder_);
    write("values.json", kValues);
  }
  ~WrittenSpec() override { std::filesystem::remove_all(folder_); }

  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
  }
  std::string path() const { return (folder_ / "spec.yaml").string(); }
  Result<Spec> load(const std::string& yaml, const std::string& preset = "") const {
    write("spec.yaml", yaml);
    return load_spec(path(), preset);
  }
  json::object resolved(const std::string& yaml, const std::string& preset = "") const {
    const auto spec = load(yaml, preset);
    if (spec) return as_json(spec->content);
    ADD_FAILURE() << spec.error().message;
    return {};
  }
  std::string refusal(const std::string& yaml, const std::string& preset = "") const {
    const auto spec = load(yaml, preset);
    return spec ? "" : spec.error().message;
  }

  // Two panels' worth of a paper: a table with epsilons, one without, a figure.
  static constexpr const char* kValues = R"({"paper": "demo", "tables": [
    {"id": "2", "caption": "Accuracy", "row_fields": ["eps", "method"], "column_fields": ["model", "data"], "cells": [
      {"row": ["1", "Grid"], "columns": ["ViT", "CIFAR10"], "value": 96.49, "unit": "%", "sd": 0.1},
      {"row": ["inf", "Grid"], "columns": ["ViT", "CIFAR10"], "value": 98.1, "unit": "%"},
      {"row": ["1", "Ours"], "columns": ["ViT", "CIFAR10"], "value": 95.0, "unit": "%"},
      {"row": ["1", "Ours"], "columns": ["ViT", "SVHN"], "value": null, "unit": "%"}]},
    {"id": "7", "row_fields": ["eps", "method"], "column_fields": ["model", "data"], "cells": [
      {"row": ["8", "Grid"], "columns": ["ViT", "CIFAR10"], "value": 97.5, "unit": "%"}]}],
    "figures": [{"id": "4"}]})";

  std::filesystem::path folder_;
};

// The parts of a small spec; tests put their keys between them.
inline const std::string kHead = R"(name: demo
defaults:
  dataset: {name: synthetic, train: 1000}
  model: linear
  seeds: [0, 1]
  epsilon: [1, 8, inf]
  delta: N^-1.1
  train: {sample_rate: 0.1, steps: 20, optimizer: {name: adamw, weight_decay: 0.02}}
)";

}  // namespace hyfreedp::runner
