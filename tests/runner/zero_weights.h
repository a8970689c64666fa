// A weights folder that fits a model, for tests that read it and do not train: every value is zero.
#pragma once

#include <gtest/gtest.h>

#include "harness/base/files.h"
#include "harness/base/options.h"
#include "harness/models/facts/blueprint.h"
#include "harness/models/facts/facts.h"

namespace hyfreedp::runner {

inline void write_zero_weights(const std::string& folder, const std::string& model,
                               const json::object& options, const models::ModelInput& input) {
  const auto resolved = resolve_options(models::find_model(model).value()->options, options, model).value();
  const auto plan = models::blueprint(model, resolved, input).value();
  json::object header;
  std::int64_t bytes = 0;
  for (const auto& one : plan.parameters) {
    const auto end = bytes + 4 * one.size();
    header[one.name] = json::object{{"dtype", "F32"},
                                    {"shape", json::array(one.shape.begin(), one.shape.end())},
                                    {"data_offsets", json::array{bytes, end}}};
    bytes = end;
  }
  auto text = json::serialize(header);
  while (text.size() % 8 != 0) text += ' ';
  const std::uint64_t length = text.size();
  const std::string begin(reinterpret_cast<const char*>(&length), sizeof length);
  write_file_atomically(folder + "/model.safetensors",
                        begin + text + std::string(static_cast<std::size_t>(bytes), '\0'))
      .value();
  write_file_atomically(folder + "/config.json", canonical_json(plan.description.config)).value();
}

// Of the model `linear` on vectors; the dataset adult's are 104 numbers and two classes.
inline void write_linear_weights(const std::string& folder, std::int64_t features = 104,
                                 std::int64_t classes = 2) {
  write_zero_weights(folder, "linear", {}, {.features = features, .classes = classes});
}

}  // namespace hyfreedp::runner
