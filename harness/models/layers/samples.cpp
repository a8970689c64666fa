#include "harness/models/layers/samples.h"

#include <ATen/Parallel.h>
#include <algorithm>
#include <cmath>
#include <numeric>
#include <type_traits>
#include <utility>

#include "harness/base/wide.h"
#include "harness/kernels/kernels.h"
#include "harness/models/products/inner_products.h"

namespace hyfreedp::models {

namespace {

thread_local bool fuses_products = false;

template <class T>
const ProductKernel<T>& product_kernel() {
  if constexpr (std::is_same_v<T, float>) {
    if (fuses_products && fused_product_kernel() != nullptr) return *fused_product_kernel();
  }
  const auto all = product_kernels<T>();
  return *all.kernels[all.count - 1];
}

// Sixteen running sums, so that the order of additions, and with it every bit, is the same whatever
// the processor's vectors are; blocks are added up in double.
template <class T>
HYFREEDP_WIDE double sum_of_squares(const T* values, std::int64_t count) {
  constexpr std::int64_t kLanes = 16, kBlock = 1024;
  double total = 0;
  for (std::int64_t begin = 0; begin < count; begin += kBlock) {
    const auto end = std::min(count, begin + kBlock);
    T lanes[kLanes] = {};
    auto i = begin;
    for (; i + kLanes <= end; i += kLanes) {
      for (std::int64_t k = 0; k < kLanes; ++k) lanes[k] += values[i + k] * values[i + k];
    }
    for (; i < end; ++i) lanes[i % kLanes] += values[i] * values[i];
    for (const T lane : lanes) total += static_cast<double>(lane);
  }
  return total;
}

// The smallest normal number of float32, and how far above it a sum of squares must be to lack
// nothing that counts.
constexpr double kTiny = 0x1p-126;
constexpr double kWellAbove = 1e9;

// A sum of squares that is not too small however small the values are, for products with huge ones.
template <class T>
double sure_sum_of_squares(const T* values, std::int64_t count) {
  const double total = sum_of_squares(values, count);
  if (std::is_same_v<T, double> || total > static_cast<double>(count) * kTiny * kWellAbove) return total;
  double sure = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const auto value = static_cast<double>(values[i]);
    sure += value * value;
  }
  return sure;
}

template <class T>
void fill(const torch::Tensor& values, torch::Tensor& norms) {
  const auto size = norms.numel() == 0 ? 0 : values.numel() / norms.numel();
  const T* from = values.const_data_ptr<T>();
  double* to = norms.mutable_data_ptr<double>();
  const auto grain = std::max<std::int64_t>(1, 32768 / std::max<std::int64_t>(1, size));
  at::parallel_for(0, norms.numel(), grain, [=](std::int64_t begin, std::int64_t end) {
    for (auto i = begin; i < end; ++i) to[i] = sum_of_squares(from + i * size, size);
  });
}

template <class T>
void add_outer(const torch::Tensor& gradients, const torch::Tensor& inputs, double bias,
               torch::Tensor& norms) {
  const auto outputs = gradients.size(1), width = inputs.size(1);
  const T* b = gradients.const_data_ptr<T>();
  const T* a = inputs.const_data_ptr<T>();
  double* to = norms.mutable_data_ptr<double>();
  const auto grain = std::max<std::int64_t>(1, 32768 / std::max<std::int64_t>(1, outputs + width));
  at::parallel_for(0, norms.numel(), grain, [=](std::int64_t begin, std::int64_t end) {
    for (auto i = begin; i < end; ++i) {
      to[i] +=
          sure_sum_of_squares(b + i * outputs, outputs) * (sure_sum_of_squares(a + i * width, width) + bias);
    }
  });
}

constexpr double kFewErrors = 100;

double relative_error(torch::ScalarType type) { return type == torch::kFloat64 ? 1e-13 : 1e-5; }

// Numbers beside each other that are added up in double at a time.
constexpr std::int64_t kColumns = 512;

// sum[begin, end) += sum_i factors[i] values[i, begin .. end), groups of eight rows in double; null
// factors: all 1.
template <class T>
HYFREEDP_WIDE void add_columns(const T* values, const T* factors, std::int64_t count, std::int64_t width,
                               std::int64_t begin, std::int64_t end, T* sum) {
  double totals[kColumns];
  for (std::int64_t first = begin; first < end; first += kColumns) {
    const auto columns = std::min(kColumns, end - first);
    for (std::int64_t k = 0; k < columns; ++k) totals[k] = static_cast<double>(sum[first + k]);
    const auto factor = [factors](std::int64_t i) { return factors == nullptr ? T(1) : factors[i]; };
    std::int64_t i = 0;
    for (; i + 8 <= count; i += 8) {  // eight rows in T, pair by pair: three roundings more
      const T* r = values + i * width + first;
      const T f0 = factor(i), f1 = factor(i + 1), f2 = factor(i + 2), f3 = factor(i + 3);
      const T f4 = factor(i + 4), f5 = factor(i + 5), f6 = factor(i + 6), f7 = factor(i + 7);
      for (std::int64_t k = 0; k < columns; ++k) {
        const T low = (f0 * r[k] + f1 * r[width + k]) + (f2 * r[2 * width + k] + f3 * r[3 * width + k]);
        const T high =
            (f4 * r[4 * width + k] + f5 * r[5 * width + k]) + (f6 * r[6 * width + k] + f7 * r[7 * width + k]);
        totals[k] += static_cast<double>(low + high);
      }
    }
    for (; i < count; ++i) {
      const T* r = values + i * width + first;
      for (std::int64_t k = 0; k < columns; ++k) totals[k] += static_cast<double>(factor(i) * r[k]);
    }
    for (std::int64_t k = 0; k < columns; ++k) sum[first + k] = static_cast<T>(totals[k]);
  }
}

// The most rows whose sums of kRowsAtOnce are added up in float64.
constexpr std::int64_t kMostRows = 1024 * kRowsAtOnce;
// Products of two numbers that are worth a thread.
constexpr std::int64_t kProductsOfThread = 1 << 18;

// sum[i * line + j * column] += totals[i * kBlockWidth + j]
template <class S>
HYFREEDP_WIDE void add_totals(const double* totals, std::int64_t height, std::int64_t width, S* sum,
                              std::int64_t line, std::int64_t column) {
  if (column == 1) {
    for (std::int64_t i = 0; i < height; ++i, totals += kBlockWidth, sum += line) {
      for (std::int64_t j = 0; j < width; ++j)
        sum[j] = static_cast<S>(static_cast<double>(sum[j]) + totals[j]);
    }
    return;
  }
  for (std::int64_t j = 0; j < width; ++j, sum += column) {
    for (std::int64_t i = 0; i < height; ++i) {
      sum[i * line] = static_cast<S>(static_cast<double>(sum[i * line]) + totals[i * kBlockWidth + j]);
    }
  }
}

// left^T right, for left [rows, height] and right [rows, width], in blocks that threads share.
template <class T>
struct Product {
  const T* left;
  const T* right;
  std::int64_t rows, height, width;

  // Vectors run over the width: the other way around where this does not fill one.
  bool turned() const { return width < kWidths && height > width; }
  std::int64_t down() const { return (height + kBlockHeight - 1) / kBlockHeight; }
  std::int64_t across() const { return (width + kBlockWidth - 1) / kBlockWidth; }
  std::int64_t blocks() const { return down() * across(); }

  // Adds the blocks [begin, end) to `sum`, whose entry (i, j) is at i * line + j * column.
  template <class S>
  void add(const ProductKernel<T>& kernel, std::int64_t begin, std::int64_t end, S* sum, std::int64_t line,
           std::int64_t column) const {
    alignas(64) double totals[kBlockHeight * kBlockWidth];
    for (auto block = begin; block < end; ++block) {
      // Blocks are nearly equal, and those beside each other have the same columns of `right`.
      const auto i = block % down(), j = block / down();
      const auto top = i * height / down(), high = (i + 1) * height / down() - top;
      const auto from = left_edge(j), wide = left_edge(j + 1) - from;
      for (std::int64_t first = 0; first < rows; first += kMostRows) {
        kernel.fill(left + first * height + top, height, right + first * width + from, width,
                    std::min(kMostRows, rows - first), high, wide, totals);
        add_totals(totals, high, wide, sum + top * line + from * column, line, column);
      }
    }
  }

 private:
  static constexpr std::int64_t kWidths = 16;  // blocks are as wide as whole vectors
  std::int64_t left_edge(std::int64_t j) const {
    const auto vectors = (width + kWidths - 1) / kWidths;
    return std::min(width, j * vectors / across() * kWidths);
  }
};

// The rows of `ids` in ascending order of the ids, those of one id in order.
std::vector<std::int64_t> sorted_rows(const std::int64_t* ids, std::int64_t count) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [ids](std::int64_t a, std::int64_t b) { return ids[a] < ids[b]; });
  return order;
}

template <class T>
HYFREEDP_WIDE void add_row(const T* row, double factor, std::int64_t width, double* totals) {
  for (std::int64_t k = 0; k < width; ++k) totals[k] += factor * static_cast<double>(row[k]);
}

template <class T>
void add_rows(const torch::Tensor& ids, const torch::Tensor& rows, const torch::Tensor& factors,
              std::optional<std::int64_t> skipped, torch::Tensor& sum) {
  const auto count = ids.numel(), width = rows.size(1);
  const auto* id = ids.const_data_ptr<std::int64_t>();
  const auto* row = rows.const_data_ptr<T>();
  const auto* factor = factors.defined() ? factors.const_data_ptr<T>() : nullptr;
  const auto positions = factors.defined() ? count / std::max<std::int64_t>(1, factors.numel()) : 1;
  T* to = sum.mutable_data_ptr<T>();
  std::vector<double> totals(static_cast<std::size_t>(width));
  const auto order = sorted_rows(id, count);
  for (std::size_t begin = 0; begin < order.size();) {
    const auto group = id[order[begin]];
    std::fill(totals.begin(), totals.end(), 0.0);
    auto end = begin;
    for (; end < order.size() && id[order[end]] == group; ++end) {
      const auto from = order[end];
      add_row(row + from * width, factor == nullptr ? 1.0 : static_cast<double>(factor[from / positions]),
              width, totals.data());
    }
    begin = end;
    if (skipped && group == *skipped) continue;
    T* out = to + group * width;
    for (std::int64_t k = 0; k < width; ++k) {
      out[k] = static_cast<T>(static_cast<double>(out[k]) + totals[static_cast<std::size_t>(k)]);
    }
  }
}

}  // namespace

FusedProducts::FusedProducts(bool allowed) : before_(std::exchange(fuses_products, allowed)) {}
FusedProducts::~FusedProducts() { fuses_products = before_; }

double norm_rounding(torch::ScalarType type) { return type == torch::kFloat64 ? 0x1p-46 : 0x1p-17; }

bool has_loops(const torch::Tensor& values) {
  const auto type = values.scalar_type();
  return values.is_cpu() && values.is_contiguous() && (type == torch::kFloat32 || type == torch::kFloat64);
}

double lost_length(std::int64_t n, torch::ScalarType type) {
  return type == torch::kFloat64 ? 0 : std::sqrt(static_cast<double>(n) * kTiny / relative_error(type));
}

torch::Tensor reach_lengths(const torch::Tensor& vectors) {
  const auto type = at::promote_types(vectors.scalar_type(), torch::kFloat32);
  return at::linalg_vector_norm(vectors, 2, at::IntArrayRef{-1}, false, type)
      .to(torch::kFloat64)
      .add_(lost_length(vectors.size(-1), vectors.scalar_type()));
}

double beyond_rounding(double estimate, double reach, torch::ScalarType type) {
  const double error = relative_error(type) * reach;
  return estimate < kFewErrors * error ? std::max(estimate, 0.0) + error : estimate;
}

torch::Tensor beyond_rounding(const torch::Tensor& estimates, const torch::Tensor& reaches,
                              torch::ScalarType type) {
  const auto errors = reaches * relative_error(type);
  return at::where(estimates < errors * kFewErrors, estimates.clamp_min(0) + errors, estimates);
}

double rounding_slack(double estimate, double reach, torch::ScalarType type) {
  const double error = relative_error(type) * reach;
  return estimate < kFewErrors * error ? 0 : error;
}

torch::Tensor rounding_slack(const torch::Tensor& estimates, const torch::Tensor& reaches,
                             torch::ScalarType type) {
  const auto errors = reaches * relative_error(type);
  return errors.masked_fill(estimates < errors * kFewErrors, 0);
}

torch::Tensor beyond_forming(const torch::Tensor& squared_norms, const torch::Tensor& reaches,
                             torch::ScalarType type) {
  const auto errors = reaches.sqrt().mul_(relative_error(type));
  const auto norms = squared_norms.sqrt();
  // If an error is not finite, nothing is known of the norm: the result is not finite either, so
  // that the sample is left out.
  return at::where((norms >= errors * kFewErrors).logical_and_(at::isfinite(errors)), squared_norms,
                   (norms + errors).square_());
}

void add_beyond_rounding(const torch::Tensor& estimates, const torch::Tensor& reaches, torch::ScalarType type,
                         SquaredNorms& norms) {
  norms.estimates.add_(beyond_rounding(estimates, reaches, type));
  norms.slack.add_(rounding_slack(estimates, reaches, type));
}

void add_beyond_forming(const torch::Tensor& squared_norms, const torch::Tensor& reaches,
                        torch::ScalarType type, SquaredNorms& norms) {
  const auto told = beyond_forming(squared_norms, reaches, type);
  const auto errors = reaches.sqrt().mul_(2 * relative_error(type));
  norms.slack.add_((squared_norms.sqrt() + errors).square_().sub_(told));
  norms.estimates.add_(told);
}

void add_weighted_sum(const torch::Tensor& values, const torch::Tensor& factors, torch::Tensor sum) {
  const auto count = values.size(0);
  if (count == 0) return;
  if (!has_loops(values) || !sum.is_contiguous() || sum.scalar_type() != values.scalar_type()) {
    const auto flat = values.flatten(1).contiguous();  // [B, n]
    if (has_loops(flat)) {
      sum.add_(weighted_sum(flat, factors).view(sum.sizes()));
      return;
    }
    torch::Tensor total;  // in float64
    for_pieces(count, flat.size(1), [&](std::int64_t first, std::int64_t some) {
      const auto piece = flat.narrow(0, first, some);
      const auto scaled = factors.defined() ? piece * factors.narrow(0, first, some).unsqueeze(1) : piece;
      const auto added = scaled.sum(0, false, torch::kFloat64);
      total = total.defined() ? total.add_(added) : added;
    });
    sum.add_(total.view(sum.sizes()));
    return;
  }
  const auto width = values.numel() / count;
  const auto weights = factors.defined() ? factors.contiguous() : factors;
  const auto grain = std::max<std::int64_t>(kColumns, 32768 / count);
  by_type(values, [&](auto zero) {
    using T = decltype(zero);
    const T* from = values.const_data_ptr<T>();
    const T* by = weights.defined() ? weights.template const_data_ptr<T>() : nullptr;
    T* to = sum.mutable_data_ptr<T>();
    at::parallel_for(0, width, grain, [=](std::int64_t begin, std::int64_t end) {
      add_columns(from, by, count, width, begin, end, to);
    });
  });
}

torch::Tensor weighted_sum(const torch::Tensor& values, const torch::Tensor& factors) {
  auto sum = torch::zeros(values.sizes().slice(1), values.options());
  add_weighted_sum(values, factors, sum);
  return sum;
}

void add_product_on_device(const torch::Tensor& left, const torch::Tensor& right, torch::Tensor& sum) {
  const auto p = left.size(1), q = right.size(1);
  auto total = torch::zeros({p, q}, left.options().dtype(torch::kFloat64));
  for_pieces(left.size(0), std::max(p, q), [&](std::int64_t first, std::int64_t some) {
    const auto wide = [&](const torch::Tensor& all) {
      return all.narrow(0, first, some).to(torch::kFloat64);
    };
    total.addmm_(wide(left).t(), wide(right));
  });
  sum.add_(total);
}

void add_product(const torch::Tensor& left, const torch::Tensor& right, torch::Tensor sum) {
  if (!left.is_cpu()) {
    add_product_on_device(left, right, sum);
    return;
  }
  const auto a = left.contiguous(), b = right.contiguous();
  by_type(a, [&](auto zero) {
    using T = decltype(zero);
    add_product_by(product_kernel<T>(), a, b, sum);
  });
}

template <class T>
void add_product_by(const ProductKernel<T>& kernel, const torch::Tensor& left, const torch::Tensor& right,
                    torch::Tensor sum) {
  Product<T> p{left.const_data_ptr<T>(), right.const_data_ptr<T>(), left.size(0), left.size(1),
               right.size(1)};
  auto line = sum.stride(0), column = sum.stride(1);
  if (p.turned()) {
    p = {p.right, p.left, p.rows, p.width, p.height};
    std::swap(line, column);
  }
  const auto grain = kProductsOfThread / std::max<std::int64_t>(1, p.rows * kBlockHeight * kBlockWidth) + 1;
  by_type(sum, [&](auto to) {
    auto* out = sum.mutable_data_ptr<decltype(to)>();
    at::parallel_for(0, p.blocks(), grain,
                     [&](auto begin, auto end) { p.add(kernel, begin, end, out, line, column); });
  });
}
template void add_product_by(const ProductKernel<float>&, const torch::Tensor&, const torch::Tensor&,
                             torch::Tensor);
template void add_product_by(const ProductKernel<double>&, const torch::Tensor&, const torch::Tensor&,
                             torch::Tensor);

namespace {

template <class T>
void product_by(const ProductKernel<T>& kernel, const Product<T>& p, T* out) {
  std::fill_n(out, p.height * p.width, T(0));
  p.add(kernel, 0, p.blocks(), out, p.width, 1);
}

// [rows, length] -> [length, rows], some columns at a time, so that what is read and written stays
// in a core's first cache.
template <class T>
void turn(const T* from, std::int64_t rows, std::int64_t length, T* to) {
  constexpr std::int64_t kAtOnce = 16;
  for (std::int64_t first = 0; first < length; first += kAtOnce) {
    const auto last = std::min(length, first + kAtOnce);
    for (std::int64_t i = 0; i < rows; ++i) {
      for (auto k = first; k < last; ++k) to[k * rows + i] = from[i * length + k];
    }
  }
}

}  // namespace

template <class T>
void product(const T* left, const T* right, std::int64_t rows, std::int64_t height, std::int64_t width,
             T* out) {
  const auto all = product_kernels<T>();
  product_by(*all.kernels[all.count - 1], Product<T>{left, right, rows, height, width}, out);
}
template void product(const float*, const float*, std::int64_t, std::int64_t, std::int64_t, float*);
template void product(const double*, const double*, std::int64_t, std::int64_t, std::int64_t, double*);

// Some columns at a time, because their copies in float64 take memory.
torch::Tensor inner_products_on_device(const torch::Tensor& left, const torch::Tensor& right) {
  const auto width = left.size(2);
  const auto vectors = left.size(0) * std::max(left.size(1), right.size(1));
  const auto at_once = std::max<std::int64_t>(64, kWideNumbers / std::max<std::int64_t>(1, vectors));
  auto total =
      torch::zeros({left.size(0), left.size(1), right.size(1)}, left.options().dtype(torch::kFloat64));
  for (std::int64_t first = 0; first < width; first += at_once) {
    const auto wide = [&](const torch::Tensor& all) {
      return all.narrow(2, first, std::min(at_once, width - first)).to(torch::kFloat64);
    };
    total.baddbmm_(wide(left), wide(right).transpose(1, 2));
  }
  return total;
}

torch::Tensor inner_products(const torch::Tensor& left, const torch::Tensor& right) {
  if (!left.is_cpu()) return inner_products_on_device(left, right);
  const auto samples = left.size(0), length = left.size(2), height = left.size(1), width = right.size(1);
  const bool are_same = left.is_same(right);
  const auto a = left.contiguous(), b = are_same ? a : right.contiguous();
  auto products = torch::empty({samples, height, width}, left.options());
  by_type(a, [&](auto zero) {
    using T = decltype(zero);
    const auto& kernel = product_kernel<T>();
    const T* from = a.const_data_ptr<T>();
    const T* by = b.const_data_ptr<T>();
    T* out = products.mutable_data_ptr<T>();
    at::parallel_for(0, samples, 1, [=, &kernel](std::int64_t begin, std::int64_t end) {
      std::vector<T> one(static_cast<std::size_t>(length * height));  // [n, S]
      std::vector<T> other(are_same ? 0 : static_cast<std::size_t>(length * width));
      for (auto i = begin; i < end; ++i) {
        turn(from + i * length * height, height, length, one.data());
        if (!are_same) turn(by + i * length * width, width, length, other.data());
        product_by(kernel, {one.data(), are_same ? one.data() : other.data(), length, height, width},
                   out + i * height * width);
      }
    });
  });
  return products;
}

bool can_multiply_narrow(const torch::Tensor& values) {
  return values.is_cpu() && values.scalar_type() == torch::kBFloat16 && narrow_inner_products() != nullptr;
}

torch::Tensor gram_matrices(const torch::Tensor& vectors) {
  if (vectors.scalar_type() != torch::kBFloat16) return inner_products(vectors, vectors);
  HYFREEDP_CHECK(can_multiply_narrow(vectors), "this processor does not multiply numbers of bfloat16");
  const auto kernel = narrow_inner_products();
  const auto samples = vectors.size(0), count = vectors.size(1), width = vectors.size(2);
  const auto dense = vectors.contiguous();
  auto products = torch::empty({samples, count, count}, vectors.options().dtype(torch::kFloat32));
  const auto* from = static_cast<const std::uint16_t*>(dense.const_data_ptr());
  auto* out = products.mutable_data_ptr<float>();
  at::parallel_for(0, samples, 1, [=](std::int64_t begin, std::int64_t end) {
    for (auto i = begin; i < end; ++i) {
      kernel(from + i * count * width, count, width, out + i * count * count);
    }
  });
  return products;
}

void add_rows_by_id(const torch::Tensor& ids, const torch::Tensor& rows, const torch::Tensor& factors,
                    std::optional<std::int64_t> skipped, torch::Tensor sum) {
  HYFREEDP_CHECK(ids.numel() == rows.size(0), "there is one id for each row");
  if (has_loops(rows) && sum.is_contiguous() && sum.scalar_type() == rows.scalar_type()) {
    const auto dense = ids.contiguous();
    const auto weights = factors.defined() ? factors.contiguous() : factors;
    by_type(rows, [&](auto zero) { add_rows<decltype(zero)>(dense, rows, weights, skipped, sum); });
    return;
  }
  auto wide = rows.to(torch::kFloat64);
  if (factors.defined()) {
    wide = scaled_samples(wide.view({factors.size(0), -1, rows.size(1)}), factors.to(torch::kFloat64))
               .view(rows.sizes());
  }
  if (skipped) wide = wide.masked_fill((ids == *skipped).unsqueeze(1), 0);
  const auto [known, place] = at::_unique(ids, /*sorted=*/true, /*return_inverse=*/true);
  auto totals = torch::zeros({known.numel(), rows.size(1)}, wide.options());
  totals.index_add_(0, place, wide);
  sum.index_add_(0, known, totals.to(sum.scalar_type()));
}

// LibTorch's norm over a dimension writes a copy of the values.
torch::Tensor squared_sample_norms(const torch::Tensor& values) {
  const auto type = values.scalar_type();
  if (values.is_cpu() && (type == torch::kFloat32 || type == torch::kFloat64)) {
    auto norms = torch::empty({values.size(0)}, values.options().dtype(torch::kFloat64));
    (type == torch::kFloat32 ? fill<float> : fill<double>)(values.contiguous(), norms);
    return norms;
  }
  if (values.is_cuda()) {
    auto norms = torch::zeros({values.size(0)}, values.options().dtype(torch::kFloat64));
    kernels::add_row_norms(values.contiguous(), norms);
    return norms;
  }
  return at::linalg_vector_norm(values.flatten(1), 2, at::IntArrayRef{1}).to(torch::kFloat64).square_();
}

void add_outer_norms(const torch::Tensor& gradients, const torch::Tensor& inputs, bool with_bias,
                     torch::Tensor& norms) {
  if (!has_loops(gradients) || !has_loops(inputs) || gradients.scalar_type() != inputs.scalar_type()) {
    const auto type = gradients.scalar_type();
    const auto lost = [&](const torch::Tensor& vectors) {
      return type == torch::kFloat64 ? 0 : static_cast<double>(vectors.size(1)) * kTiny;
    };
    const auto squares = squared_sample_norms(gradients) + lost(gradients);
    norms.addcmul_(squares, squared_sample_norms(inputs) + (lost(inputs) + (with_bias ? 1 : 0)));
    return;
  }
  const double bias = with_bias ? 1 : 0;
  const bool single = gradients.scalar_type() == torch::kFloat32;
  (single ? add_outer<float> : add_outer<double>)(gradients, inputs, bias, norms);
}

}  // namespace hyfreedp::models
