// Tails of the statistics that the audit's tests use: each bounds the probability that a correct
// mechanism gives a statistic at least as far out. None is an approximation for large samples, so
// that rates of 1e-6 mean what they say.
#pragma once

#include <cstdint>

namespace hyfreedp::audit {

// |Z| >= |z|, Z ~ N(0, 1).
double normal_two_sided(double z);
// Twice the smaller tail of chi-square with n degrees of freedom at x.
double chi_square_two_sided(double x, double n);

// |Q| >= |x| for a centred quadratic form Q = sum_i a_i (Z_i^2 - 1): with t from |x| = 2
// sqrt(t sum a^2) + 2 t max|a|, 2 e^-t (Laurent & Massart, Ann. Statist. 28, 2000, Lemma 1; the
// same steps hold for a_i of either sign). For Q = sum over N products Z_i Z_j of pairs that form
// paths or cycles (an autocorrelation): sum a^2 = N / 2, max|a| <= 1.
double quadratic_form_two_sided(double x, double sum_squares, double largest);
double autocorrelation_two_sided(double sum_of_products, double products);

// sup |F_n - F| >= distance for n draws from F: 2 exp(-2 n distance^2)
// (Massart, Ann. Probab. 18, 1990).
double kolmogorov_tail(double distance, std::int64_t n);

// log of the probability that n independent variables in [0, 1] whose mean is at most `mean`
// average `average` or more:
// -n KL(average || mean), 0 for average <= mean (Hoeffding, JASA 58, 1963, Theorem 1).
double log_hoeffding_tail(double average, double mean, std::int64_t n);
// The smallest mean that is not refuted at `rate` by that average.
double hoeffding_lower_bound(double average, std::int64_t n, double rate);

// p-value of the smallest of `tests` p-values, by the union bound.
double of_several(double p, double tests);

}  // namespace hyfreedp::audit
