#include "harness/trial/config_text.h"

#include <algorithm>
#include <bit>
#include <concepts>
#include <cstdint>

#include "harness/base/files.h"

namespace hyfreedp::trial {
namespace {

// True if both have the same text, which 0 and -0, and 1 and 1.0, have not.
bool is_same(const json::value& a, const json::value& b);

bool is_same(const json::object& a, const json::object& b) {
  return a.size() == b.size() && std::ranges::all_of(a, [&](const auto& member) {
           const auto* other = b.if_contains(member.key());
           return other != nullptr && is_same(member.value(), *other);
         });
}

bool is_same(const json::value& a, const json::value& b) {
  if (a.kind() != b.kind()) return false;
  if (a.is_object()) return is_same(a.get_object(), b.get_object());
  if (a.is_double())
    return std::bit_cast<std::uint64_t>(a.get_double()) == std::bit_cast<std::uint64_t>(b.get_double());
  if (a.is_array()) {
    return std::ranges::equal(a.get_array(), b.get_array(),
                              [](const auto& x, const auto& y) { return is_same(x, y); });
  }
  return a == b;
}

template <class T>
bool is_same(const T& a, const T& b) {
  using namespace description;
  if constexpr (std::same_as<T, TrainingOptions>) {
    return a == b;  // its description lacks a member that to_json() writes
  } else if constexpr (kIsOptional<T>) {
    return a.has_value() == b.has_value() && (!a || is_same(*a, *b));
  } else if constexpr (kIsVector<T>) {
    return std::ranges::equal(a, b, [](const auto& x, const auto& y) { return is_same(x, y); });
  } else if constexpr (DescribedStruct<T>) {
    bool same = true;
    boost::mp11::mp_for_each<Members<T>>([&](auto member) {
      same = same && is_same(a.*decltype(member)::pointer, b.*decltype(member)::pointer);
    });
    return same;
  } else if constexpr (std::same_as<T, double>) {
    return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
  } else if constexpr (WritesItself<T>) {
    return is_same(json::value(a.to_json()), json::value(b.to_json()));
  } else {
    return a == b;
  }
}

}  // namespace

const std::string& ConfigText::of(const TrialConfig& config) {
  using namespace description;
  [[maybe_unused]] static const TrialConfig fresh;
  const bool is_first = !last_;
  if (is_first) last_ = config;
  boost::mp11::mp_for_each<Members<TrialConfig>>([&](auto member) {
    using Member = decltype(member);
    static_assert(!is_inlined<TrialConfig>(Member::name), "its members would stand among the config's");
    const auto& field = config.*Member::pointer;
    auto& known = (*last_).*Member::pointer;
    if (!is_first && is_same(field, known)) return;
    known = field;
    bool is_out = false;
    if constexpr (is_left_out<TrialConfig>(Member::name)) is_out = is_default(field, fresh.*Member::pointer);
    members_[std::string(key_of<TrialConfig>(Member::name))] =
        is_out ? "" : canonical_json(json::value(as_json(field)));
  });
  text_ = "{";
  for (const auto& [key, text] : members_) {
    if (text.empty()) continue;
    if (text_.size() > 1) text_ += ',';
    ((text_ += '"') += key) += "\":";
    text_ += text;
  }
  text_ += '}';
  return text_;
}

std::string ConfigText::id_of(const TrialConfig& config) { return sha256_hex(of(config)).substr(0, 16); }

}  // namespace hyfreedp::trial
