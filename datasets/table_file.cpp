#include "datasets/table_file.h"

#include <cmath>
#include <fmt/format.h>

#include "datasets/cache.h"
#include "datasets/dataset.h"
#include "datasets/text_tokenizer.h"

namespace hyfreedp::datasets {
namespace {

void scale_to_norm(std::span<float> row) {
  double squares = 0;
  for (const float value : row) squares += static_cast<double>(value) * value;
  if (squares == 0) return;
  const double factor = std::sqrt(static_cast<double>(row.size()) / squares);
  for (float& value : row) value = static_cast<float>(factor * value);
}

void fill(const SplitRows& split, std::size_t columns, bool to_norm, const TableSpace& space) {
  for (std::size_t i = 0; i < split.rows.size(); ++i) {
    const auto row = static_cast<std::size_t>(split.rows[i]);
    const auto out = space.features.subspan(i * columns, columns);
    std::copy_n(split.from->features.begin() + static_cast<std::ptrdiff_t>(row * columns), columns,
                out.begin());
    if (to_norm) scale_to_norm(out);
    space.labels[i] = split.from->labels[row];
  }
}

void fill_texts(const SplitRows& split, std::size_t length, Tokenizer& tokenizer, const TableSpace& space) {
  std::vector<std::int64_t> ids(length);
  for (std::size_t i = 0; i < split.rows.size(); ++i) {
    const auto row = static_cast<std::size_t>(split.rows[i]);
    const auto second = split.from->seconds.empty() ? std::string_view() : split.from->seconds[row];
    tokenizer.fill_row(split.from->texts[row], split.from->seconds.empty() ? nullptr : &second, ids);
    // Numbers below 2^24, which float32 holds exactly.
    std::ranges::transform(ids, space.features.subspan(i * length, length).begin(),
                           [](std::int64_t id) { return static_cast<float>(id); });
    space.labels[i] = split.from->labels[row];
  }
}

}  // namespace

Result<Dataset> TableFile::load(const Facts& facts, const json::object& options) {
  const auto path = locate_own_files(own_path(options));
  if (!path) return path.error();
  const auto mark = mark_of(options, *path);
  if (!mark) return mark.error();
  const auto n = sizes(options);
  const auto make = [&](std::span<const TableSpace> spaces) -> Result<void> {
    if (const auto same = with_checksum(options, *path); !same) return same.error();
    const auto table = read_own_table(*path, options);
    if (!table) return table.error();
    const auto splits = split_rows(*table, options);
    if (!splits) return in_context(*path, splits.error());
    if (n.length > 0) {
      const auto tokenizer = chosen_tokenizer(options);
      if (!tokenizer) return tokenizer.error();
      for (std::size_t i = 0; i < spaces.size(); ++i)
        fill_texts((*splits)[i], static_cast<std::size_t>(n.length), **tokenizer, spaces[i]);
      return {};
    }
    const bool to_norm = read_options<TableFileOptions>(options).normalise == RowScale::norm;
    for (std::size_t i = 0; i < spaces.size(); ++i) {
      fill((*splits)[i], static_cast<std::size_t>(n.features), to_norm, spaces[i]);
    }
    return {};
  };
  auto tables = load_or_make(table_path(facts, options, *mark), table_shapes(n, TableType::real), make);
  if (!tables) return tables.error();
  if (n.length > 0) {
    const auto tokenizer = chosen_tokenizer(options);
    if (!tokenizer) return tokenizer.error();
    const auto padding = (**tokenizer).marks().padding;
    if (padding != n.padding)
      return error(
          fmt::format("The tokenizer pads with {}, and the option 'padding' says {}.", padding, n.padding));
    for (auto& table : *tables) {
      table.features = table.features.to(at::kLong);
      table.padding = padding;
    }
  }
  return Dataset{.private_train = (*tables)[0], .private_validation = (*tables)[1], .test = (*tables)[2]};
}

}  // namespace hyfreedp::datasets
