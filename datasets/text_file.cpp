#include "datasets/text_file.h"

#include <ATen/ATen.h>

#include "datasets/dataset.h"
#include "datasets/own/parts.h"

namespace hyfreedp::datasets {

Result<Dataset> TextFile::load(const Facts& /*facts*/, const json::object& options) {
  const auto path = locate_own_files(own_path(options));
  if (!path) return path.error();
  if (const auto same = with_checksum(options, *path); !same) return same.error();
  const auto tokenizer = chosen_tokenizer(options);
  if (!tokenizer) return tokenizer.error();
  const auto texts = read_own_texts(*path, options);
  if (!texts) return texts.error();
  const auto length = sizes(options).length;
  std::array<SplitData, 2> files;
  for (std::size_t i = 0; i < files.size(); ++i) {
    const auto rows = token_rows((*texts)[i], options, **tokenizer);
    files[i] = {.features = at::tensor(rows.ids, at::kLong).reshape({-1, length}),
                .labels = at::tensor(rows.labels, at::kLong).reshape({-1, length})};
  }
  const auto splits = split_places(static_cast<std::size_t>(files[0].features.size(0)),
                                   static_cast<std::size_t>(files[1].features.size(0)), options, "records");
  if (!splits) return in_context(*path, splits.error());
  std::array<SplitData, 3> chosen;
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    const auto& [of_test_file, places] = (*splits)[i];
    const auto& from = files[of_test_file ? 1 : 0];
    const auto rows = at::tensor(places, at::kLong);
    chosen[i] = {.features = from.features.index_select(0, rows),
                 .labels = from.labels.index_select(0, rows)};
  }
  return Dataset{.private_train = chosen[0], .private_validation = chosen[1], .test = chosen[2]};
}

}  // namespace hyfreedp::datasets
