// Enums and structs that are described once, and written to JSON and read from it by that
// description.
//
//   enum class Clipping { none, auto_s };
//   BOOST_DESCRIBE_ENUM(Clipping, auto_s, none)  // in the order in which a message lists the names
//
//   struct Row {
//     std::string id;
//     std::string group;
//     Clipping clipping = Clipping::auto_s;
//     static constexpr std::array kLeftOut = {"group"};
//   };
//   BOOST_DESCRIBE_STRUCT(Row, (), (id, group, clipping))
//
// as_json(Row{.id = "a"}) is {"id": "a", "clipping": "auto-s"}, and from_json<Row> reads it back.
//
//   value                           JSON
//   bool, whole number, text        the same
//   double                          a number, or "nan", "inf", "-inf" (json.h)
//   described enum                  its name, where '_' is written as '-'
//   described struct                an object of its members
//   std::optional                   null where it is empty
//   std::vector, std::map by name   a list, an object
//   std::set of text                a list, sorted
//   json::value, object, array      as it is
//   a type with `to_json() const` and `static Result<T> from_json(json, where)`: what these say
//
// Constants of a struct say in what its JSON differs from the struct:
//   kLeftOut   names of members that are written only where they are not what a new struct has, so
//              that a member that is added later changes no hash; they may be missing when it is
//              read; true: all of them
//   kInlined   names of members, described structs, whose own members stand among the struct's
//   kNames     {"member", "key"} of members whose key is another; when it is read, and as an
//              option, the member's own name will do too
//   kMayLack   true: any member may be missing when it is read, or null, and then has its default
// Keys that no member has are passed over when a struct is read.
#pragma once

#include <array>
#include <boost/describe.hpp>
#include <boost/mp11.hpp>
#include <cmath>
#include <concepts>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "harness/base/json.h"
#include "harness/base/options.h"

namespace hyfreedp {

template <class T>
concept DescribedEnum = boost::describe::has_describe_enumerators<T>::value;
template <class T>
concept DescribedStruct = boost::describe::has_describe_members<T>::value;

// The names of an enum's values, in the order of its description.
template <DescribedEnum E>
std::vector<std::string> names_of() {
  std::vector<std::string> names;
  boost::mp11::mp_for_each<boost::describe::describe_enumerators<E>>([&](auto one) {
    names.emplace_back(one.name);
    for (auto& c : names.back()) c = c == '_' ? '-' : c;
  });
  return names;
}

template <DescribedEnum E>
std::string name_of(E value) {
  std::size_t place = 0;
  std::optional<std::size_t> found;
  boost::mp11::mp_for_each<boost::describe::describe_enumerators<E>>([&](auto one) {
    if (one.value == value) found = place;
    ++place;
  });
  HYFREEDP_CHECK(found, "a value that its enum does not describe");
  return names_of<E>()[*found];
}

// The error for an unknown name: "WHERE must be one of ..., not 'x'. Did you mean ...?".
Error unknown_name(const std::string& where, const std::string& name, const std::vector<std::string>& names);

template <DescribedEnum E>
Result<E> enum_from(const std::string& name, const std::string& where) {
  std::optional<E> found;
  boost::mp11::mp_for_each<boost::describe::describe_enumerators<E>>([&](auto one) {
    if (name_of(one.value) == name) found = one.value;
  });
  if (!found) return unknown_name(where, name, names_of<E>());
  return *found;
}

namespace description {

using Name = std::pair<std::string_view, std::string_view>;

template <class T>
using Members = boost::describe::describe_members<T, boost::describe::mod_public>;
template <class T, class Member>
using FieldOf = std::remove_cvref_t<decltype(std::declval<T&>().*Member::pointer)>;

template <class T>
constexpr bool has_member(std::string_view name) {
  bool found = false;
  boost::mp11::mp_for_each<Members<T>>([&](auto member) { found = found || name == member.name; });
  return found;
}

// A list of names that has one of no member says nothing of it.
template <class T, class Names>
constexpr bool are_members(const Names& names) {
  for (const auto& name : names) {
    if (!has_member<T>(name)) return false;
  }
  return true;
}

template <class Names>
constexpr bool lists(const Names& names, std::string_view name) {
  for (const auto& one : names) {
    if (one == name) return true;
  }
  return false;
}

template <class T>
constexpr bool is_left_out(std::string_view member) {
  if constexpr (requires { requires bool(T::kLeftOut); }) {
    return true;
  } else if constexpr (requires { T::kLeftOut; }) {
    static_assert(are_members<T>(T::kLeftOut), "kLeftOut has a name of no member");
    return lists(T::kLeftOut, member);
  } else {
    return false;
  }
}

template <class T>
constexpr bool is_inlined(std::string_view member) {
  if constexpr (requires { T::kInlined; }) {
    static_assert(are_members<T>(T::kInlined), "kInlined has a name of no member");
    return lists(T::kInlined, member);
  }
  return false;
}

template <class T>
constexpr std::string_view key_of(std::string_view member) {
  if constexpr (requires { T::kNames; }) {
    for (const auto& [name, key] : T::kNames) {
      if (name == member) return key;
    }
  }
  return member;
}

template <class T>
constexpr bool may_lack_any() {
  if constexpr (requires { T::kMayLack; }) return T::kMayLack;
  return false;
}

template <class T>
inline constexpr bool kIsOptional = false;
template <class T>
inline constexpr bool kIsOptional<std::optional<T>> = true;
template <class T>
inline constexpr bool kIsVector = false;
template <class T>
inline constexpr bool kIsVector<std::vector<T>> = true;
template <class T>
inline constexpr bool kIsMap = false;
template <class T>
inline constexpr bool kIsMap<std::map<std::string, T>> = true;
template <class T>
inline constexpr bool kIsJson =
    std::same_as<T, json::value> || std::same_as<T, json::object> || std::same_as<T, json::array>;
template <class T>
concept WritesItself = requires(const T& value) {
  value.to_json();
};

template <class T>
void add_members(const T& value, json::object& object);

}  // namespace description

template <class T>
auto as_json(const T& value) {
  using namespace description;
  if constexpr (WritesItself<T>) {
    return value.to_json();
  } else if constexpr (DescribedStruct<T>) {
    json::object object;
    add_members(value, object);
    return object;
  } else if constexpr (kIsVector<T> || std::same_as<T, std::set<std::string>>) {
    json::array array;
    for (const auto& element : value) array.emplace_back(as_json(element));
    return array;
  } else if constexpr (kIsMap<T>) {
    json::object object;
    for (const auto& [key, element] : value) object[key] = as_json(element);
    return object;
  } else if constexpr (kIsOptional<T>) {
    return value ? json::value(as_json(*value)) : json::value(nullptr);
  } else if constexpr (DescribedEnum<T>) {
    return json::value(name_of(value));
  } else if constexpr (std::same_as<T, double>) {
    return number(value);
  } else {
    return json::value(value);
  }
}

namespace description {

template <class T>
bool is_default(const T& field, const T& fresh) {
  if constexpr (kIsOptional<T>)
    return field.has_value() == fresh.has_value() && !field.has_value();
  else if constexpr (kIsVector<T> || kIsMap<T>)
    return field.empty();
  else
    return field == fresh;
}

template <class T>
void add_members(const T& value, json::object& object) {
  [[maybe_unused]] const T fresh{};
  boost::mp11::mp_for_each<Members<T>>([&](auto member) {
    using Member = decltype(member);
    const auto& field = value.*Member::pointer;
    if constexpr (is_inlined<T>(Member::name)) {
      add_members(field, object);
    } else if constexpr (is_left_out<T>(Member::name)) {
      if (!is_default(field, fresh.*Member::pointer)) object[key_of<T>(Member::name)] = as_json(field);
    } else {
      object[key_of<T>(Member::name)] = as_json(field);
    }
  });
}

// The name of an object's member in an error: "WHERE: 'key'" for text and numbers, "WHERE.key" for
// what has members of its own.
template <class T>
std::string place_of(const std::string& where, std::string_view key) {
  if constexpr (kIsOptional<T>) return place_of<typename T::value_type>(where, key);
  const bool has_members = DescribedStruct<T> || kIsVector<T> || kIsMap<T> || kIsJson<T>;
  return has_members ? where + "." + std::string(key) : where + ": '" + std::string(key) + "'";
}

Error wrong_type(const std::string& where, const char* wanted, const json::value& value);

// `all_may_lack`: as if the struct had kMayLack, and those inlined in it.
template <class T>
Result<void> read_members(const json::object& object, const std::string& where, T& target,
                          bool all_may_lack = false);

}  // namespace description

// Errors begin with `where`, a key path or file.
template <class T>
Result<T> from_json(const json::value& value, const std::string& where) {
  using namespace description;
  if constexpr (kIsOptional<T>) {
    if (value.is_null()) return T{};
    auto read = from_json<typename T::value_type>(value, where);
    if (!read) return read.error();
    return T{std::move(*read)};
  } else if constexpr (requires { T::from_json(value, where); }) {
    return T::from_json(value, where);
  } else if constexpr (requires { T::from_json(value.get_object(), where); }) {
    if (!value.is_object()) return wrong_type(where, "an object", value);
    return T::from_json(value.get_object(), where);
  } else if constexpr (DescribedStruct<T>) {
    if (!value.is_object()) return wrong_type(where, "an object", value);
    T target{};
    if (auto read = read_members(value.get_object(), where, target); !read) return read.error();
    return target;
  } else if constexpr (kIsVector<T>) {
    if (!value.is_array()) return wrong_type(where, "a list", value);
    T target;
    for (const auto& element : value.get_array()) {
      auto read =
          from_json<typename T::value_type>(element, where + "[" + std::to_string(target.size()) + "]");
      if (!read) return read.error();
      target.push_back(std::move(*read));
    }
    return target;
  } else if constexpr (std::same_as<T, std::set<std::string>>) {
    auto read = from_json<std::vector<std::string>>(value, where);
    if (!read) return read.error();
    return T(read->begin(), read->end());
  } else if constexpr (kIsMap<T>) {
    if (!value.is_object()) return wrong_type(where, "an object", value);
    T target;
    for (const auto& member : value.get_object()) {
      auto read = from_json<typename T::mapped_type>(member.value(), where + "." + std::string(member.key()));
      if (!read) return read.error();
      target[std::string(member.key())] = std::move(*read);
    }
    return target;
  } else if constexpr (DescribedEnum<T>) {
    if (!value.is_string()) return wrong_type(where, "text", value);
    return enum_from<T>(std::string(value.get_string()), where);
  } else if constexpr (std::same_as<T, bool>) {
    if (!value.is_bool()) return wrong_type(where, "true or false", value);
    return value.get_bool();
  } else if constexpr (std::integral<T>) {
    const auto read = to_int(value, where);
    if (!read) return read.error();
    return static_cast<T>(*read);
  } else if constexpr (std::same_as<T, double>) {
    return to_double(value, where);
  } else if constexpr (std::same_as<T, std::string>) {
    if (!value.is_string()) return wrong_type(where, "text", value);
    return std::string(value.get_string());
  } else if constexpr (std::same_as<T, json::object>) {
    if (!value.is_object()) return wrong_type(where, "an object", value);
    return value.get_object();
  } else if constexpr (std::same_as<T, json::array>) {
    if (!value.is_array()) return wrong_type(where, "a list", value);
    return value.get_array();
  } else {
    static_assert(std::same_as<T, json::value>, "no JSON is known for this type");
    return value;
  }
}

namespace description {

template <class T>
Result<void> read_members(const json::object& object, const std::string& where, T& target,
                          bool all_may_lack) {
  Result<void> done;
  boost::mp11::mp_for_each<Members<T>>([&](auto member) {
    using Member = decltype(member);
    using Field = FieldOf<T, Member>;
    if (!done) return;
    auto& field = target.*Member::pointer;
    if constexpr (is_inlined<T>(Member::name)) {
      done = read_members(object, where, field, all_may_lack || may_lack_any<T>());
    } else {
      constexpr auto key = key_of<T>(Member::name);
      const auto* found = object.if_contains(key);
      if (found == nullptr) found = object.if_contains(Member::name);
      const bool may_lack =
          all_may_lack || may_lack_any<T>() || is_left_out<T>(Member::name) || kIsOptional<Field>;
      if (found == nullptr || (may_lack && found->is_null())) {
        if (!may_lack) done = error(where + ": '" + std::string(key) + "' is missing");
        return;
      }
      auto read = from_json<Field>(*found, place_of<Field>(where, key));
      if (read) {
        field = std::move(*read);
      } else {
        done = read.error();
      }
    }
  });
  return done;
}

// True if each number of a struct, and of the structs in it, is finite. Lists, maps and JSON are
// not looked into.
template <class T>
bool are_finite(const T& value) {
  if constexpr (kIsOptional<T>) {
    return !value || are_finite(*value);
  } else if constexpr (std::same_as<T, double>) {
    return std::isfinite(value);
  } else if constexpr (DescribedStruct<T>) {
    bool finite = true;
    boost::mp11::mp_for_each<Members<T>>(
        [&](auto member) { finite = finite && are_finite(value.*decltype(member)::pointer); });
    return finite;
  } else {
    return true;
  }
}

// None: no option has this type.
template <class Field>
constexpr std::optional<OptionType> option_type() {
  if constexpr (kIsOptional<Field>) return option_type<typename Field::value_type>();
  if (DescribedEnum<Field>) return OptionType::choice;
  if (std::same_as<Field, bool>) return OptionType::boolean;
  if (std::integral<Field>) return OptionType::integer;
  if (std::same_as<Field, double>) return OptionType::real;
  if (std::same_as<Field, std::string>) return OptionType::text;
  if (std::same_as<Field, std::vector<double>>) return OptionType::real_list;
  if (std::same_as<Field, std::vector<std::int64_t>>) return OptionType::integer_list;
  return std::nullopt;
}

template <class Field>
std::vector<std::string> choices_of() {
  if constexpr (kIsOptional<Field>) return choices_of<typename Field::value_type>();
  if constexpr (DescribedEnum<Field>) return names_of<Field>();
  return {};
}

// Fills in the option from the member of its name. Returns true if T, or a struct inlined in it,
// has such a member.
template <class T>
bool complete(OptionSpec& option, const T& defaults) {
  bool found = false;
  boost::mp11::mp_for_each<Members<T>>([&](auto member) {
    using Member = decltype(member);
    using Field = FieldOf<T, Member>;
    if constexpr (is_inlined<T>(Member::name)) {
      found = found || complete(option, defaults.*Member::pointer);
    } else if constexpr (constexpr auto type = option_type<Field>(); type) {
      if (key_of<T>(Member::name) != option.name && Member::name != option.name) return;
      found = true;
      if (option.choices.empty()) option.choices = choices_of<Field>();
      option.type = option.choices.empty() ? *type : OptionType::choice;
      option.default_value = as_json(defaults.*Member::pointer);
    }
  });
  return found;
}

}  // namespace description

// A table of options (options.h) that are members of T: type and default of each are the member's,
// and so are the choices where the table names none; the table says the rest: help, unit, range.
template <DescribedStruct T>
std::vector<OptionSpec> options_of(std::vector<OptionSpec> table, const T& defaults = {}) {
  for (auto& option : table) {
    HYFREEDP_CHECK(description::complete(option, defaults), "'" + option.name + "' is no member");
  }
  return table;
}

// The members of T in an object that was resolved by a table of options_of<T>, or by one that has
// these options among others. A member that the object lacks has the default of a new T. A value of
// another type is an invariant violation (it throws).
template <DescribedStruct T>
T read_options(const json::object& resolved) {
  T options{};
  description::read_members(resolved, "options", options, true).value();
  return options;
}

}  // namespace hyfreedp
