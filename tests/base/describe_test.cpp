#include "harness/base/describe.h"

#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>

namespace hyfreedp {
namespace describe_test {

using testing::ElementsAre;

enum class Fruit { none, red_apple, pear };
BOOST_DESCRIBE_ENUM(Fruit, red_apple, pear, none)

struct Shape {
  std::int64_t sides = 3;
  double area = 0.5;
  static constexpr std::array kNames = {description::Name{"area", "shape_area"}};
  bool operator==(const Shape&) const = default;
};
BOOST_DESCRIBE_STRUCT(Shape, (), (sides, area))

// Says itself how it is written.
struct Own {
  int value = 0;
  json::value to_json() const { return json::value("own " + std::to_string(value)); }
  static Result<Own> from_json(const json::value& value, const std::string& where) {
    if (!value.is_string()) return error(where + " is no Own");
    return Own{static_cast<int>(value.get_string().size())};
  }
};

struct Basket {
  std::string id;
  Fruit fruit = Fruit::pear;
  std::optional<double> weight;
  std::optional<Shape> lid;
  std::string group = "usual";
  std::vector<Shape> shapes;
  std::map<std::string, double> prices;
  Shape outline;
  json::object more;
  Own own;
  bool full = false;
  std::set<std::string> marks;

  static constexpr std::array kLeftOut = {"lid", "group", "shapes", "marks"};
  static constexpr std::array kInlined = {"outline"};
};
BOOST_DESCRIBE_STRUCT(Basket, (),
                      (id, fruit, weight, lid, group, shapes, prices, outline, more, own, full, marks))

struct Lenient {
  std::int64_t count = 7;
  std::string name = "n";
  static constexpr bool kMayLack = true;
};
BOOST_DESCRIBE_STRUCT(Lenient, (), (count, name))

struct OnlyGiven {
  std::optional<std::int64_t> count;
  bool shown = true;
  static constexpr bool kLeftOut = true;
};
BOOST_DESCRIBE_STRUCT(OnlyGiven, (), (count, shown))

TEST(Describe, AnEnumHasNamesInTheOrderOfItsDescription) {
  EXPECT_THAT(names_of<Fruit>(), ElementsAre("red-apple", "pear", "none"));
  EXPECT_EQ(name_of(Fruit::red_apple), "red-apple");
  EXPECT_EQ(enum_from<Fruit>("none", "x").value(), Fruit::none);
  EXPECT_EQ(enum_from<Fruit>("paer", "basket: 'fruit'").error().message,
            "basket: 'fruit' must be one of red-apple, pear, none, not 'paer'. Did you mean 'pear'?");
  EXPECT_ANY_THROW(name_of(static_cast<Fruit>(9)));
}

TEST(Describe, AStructIsWrittenByItsMembers) {
  EXPECT_EQ(canonical_json(as_json(Basket{.id = "a"})),
            R"({"fruit":"pear","full":false,"id":"a","more":{},"own":"own 0","prices":{},"shape_area":0.5,)"
            R"("sides":3,"weight":null})");
  Basket all{.id = "b", .fruit = Fruit::red_apple, .weight = INFINITY, .lid = Shape{1, 1.0}, .group = "rare"};
  all.shapes = {{4, 2}};
  all.prices = {{"x", 0.25}};
  all.more = {{"any", nullptr}};
  all.marks = {"n", "m"};
  const auto written = canonical_json(as_json(all));
  EXPECT_EQ(written,
            R"({"fruit":"red-apple","full":false,"group":"rare","id":"b","lid":{"shape_area":1.0,"sides":1},)"
            R"("marks":["m","n"],"more":{"any":null},"own":"own 0","prices":{"x":0.25},"shape_area":0.5,)"
            R"("shapes":[{"shape_area":2.0,"sides":4}],"sides":3,"weight":"inf"})");
}

TEST(Describe, AStructMayLeaveOutAllThatIsNotGiven) {
  EXPECT_EQ(canonical_json(as_json(OnlyGiven{})), "{}");
  EXPECT_EQ(canonical_json(as_json(OnlyGiven{3, false})), R"({"count":3,"shown":false})");
  EXPECT_TRUE(from_json<OnlyGiven>(json::object{}, "x")->shown);
}

TEST(Describe, WhatWasWrittenIsReadBack) {
  Basket all{.id = "b", .fruit = Fruit::none, .weight = 2.5, .lid = Shape{1, 1.0}, .group = "rare"};
  all.shapes = {{4, 2}, {5, std::nan("")}};
  all.prices = {{"x", 0.25}};
  all.outline = {9, 8};
  all.more = {{"any", json::array{1}}};
  all.full = true;
  all.marks = {"b", "a"};
  const auto back = from_json<Basket>(as_json(all), "basket");
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(back->own.value, 5);  // what its own function made of "own 0"
  auto same = *back;
  same.own = all.own;
  EXPECT_EQ(canonical_json(as_json(same)), canonical_json(as_json(all)));
  EXPECT_EQ(back->outline, (Shape{9, 8}));
}

std::string complaint(const char* member, const json::value& value, bool erase = false) {
  auto object = as_json(Basket{.id = "b"});
  object[member] = value;
  if (erase) object.erase(member);
  const auto read = from_json<Basket>(object, "basket");
  return read ? "" : read.error().message;
}

TEST(Describe, AnErrorNamesThePlace) {
  EXPECT_EQ(complaint("id", 3), "basket: 'id' must be text, not 3");
  EXPECT_EQ(complaint("id", nullptr, true), "basket: 'id' is missing");
  EXPECT_EQ(complaint("id", nullptr), "basket: 'id' must be text, not null");
  EXPECT_EQ(complaint("sides", 2.5), "basket: 'sides' must be a whole number, not 2.5");
  EXPECT_EQ(complaint("sides", nullptr, true), "basket: 'sides' is missing");
  EXPECT_EQ(complaint("weight", "heavy"), "basket: 'weight' must be a number, not \"heavy\"");
  EXPECT_EQ(complaint("full", 1), "basket: 'full' must be true or false, not 1");
  EXPECT_EQ(complaint("shapes", 1), "basket.shapes must be a list, not 1");
  EXPECT_EQ(complaint("shapes", json::array{json::object{{"sides", 1}}}),
            "basket.shapes[0]: 'shape_area' is missing");
  EXPECT_EQ(complaint("lid", json::object{{"sides", "x"}}),
            "basket.lid: 'sides' must be a whole number, not \"x\"");
  EXPECT_EQ(complaint("lid", 5), "basket.lid must be an object, not 5");
  EXPECT_EQ(complaint("prices", json::object{{"x", true}}), "basket.prices.x must be a number, not true");
  EXPECT_EQ(complaint("own", 5), "basket: 'own' is no Own");
  EXPECT_EQ(complaint("fruit", "plum"), "basket: 'fruit' must be one of red-apple, pear, none, not 'plum'.");
  EXPECT_EQ(complaint("unknown", 5), "");
}

TEST(Describe, WhatMayBeMissingHasItsDefault) {
  const auto bare = from_json<Lenient>(json::object{}, "x");
  ASSERT_TRUE(bare);
  EXPECT_EQ(bare->count, 7);
  EXPECT_EQ(from_json<Lenient>(json::object{{"count", nullptr}, {"name", "m"}}, "x")->count, 7);
  EXPECT_EQ(from_json<Lenient>(json::object{{"count", "many"}}, "x").error().message,
            "x: 'count' must be a whole number, not \"many\"");
}

TEST(Describe, OptionsTakeTypeChoicesAndDefaultFromTheMember) {
  const auto table = options_of<Basket>({{.name = "fruit", .help = "which"},
                                         {.name = "weight", .help = "of all", .unit = "kg", .min = 0},
                                         {.name = "sides", .help = "of the outline", .min = 3},
                                         {.name = "full", .help = "whether"}});
  EXPECT_EQ(describe_options(table),
            describe_options(
                {{.name = "fruit",
                  .type = OptionType::choice,
                  .default_value = "pear",
                  .help = "which",
                  .choices = {"red-apple", "pear", "none"}},
                 {.name = "weight",
                  .type = OptionType::real,
                  .default_value = nullptr,
                  .help = "of all",
                  .unit = "kg",
                  .min = 0},
                 {.name = "sides",
                  .type = OptionType::integer,
                  .default_value = 3,
                  .help = "of the outline",
                  .min = 3},
                 {.name = "full", .type = OptionType::boolean, .default_value = false, .help = "whether"}}));
  EXPECT_ANY_THROW(options_of<Basket>({{.name = "height", .help = "?"}}));
}

struct Slope {
  double steepness = 1;
  Fruit planted = Fruit::none;
};
BOOST_DESCRIBE_STRUCT(Slope, (), (steepness, planted))

struct Garden {
  Slope slope{.steepness = 0.25};
  std::optional<double> water;
  std::string soil = "clay";
  static constexpr std::array kInlined = {"slope"};
};
BOOST_DESCRIBE_STRUCT(Garden, (), (slope, water, soil))

std::vector<OptionSpec> garden_table() {
  return options_of<Garden>({{.name = "planted", .help = "what", .choices = {"none", "pear"}},
                             {.name = "water", .help = "a day", .min = 0},
                             {.name = "soil", .help = "ground", .choices = {"sand", "clay"}},
                             {.name = "steepness", .help = "rise", .min = 0, .stored_always = false}});
}

TEST(Describe, OptionsOfAnInlinedStructHaveTheDefaultsOfTheWhole) {
  const auto table = garden_table();
  EXPECT_EQ(table[3].default_value, 0.25);
  EXPECT_EQ(table[0].choices, (std::vector<std::string>{"none", "pear"}));
  EXPECT_EQ(table[2].type, OptionType::choice);
  EXPECT_EQ(options_of<Garden>({{.name = "soil"}}, {.soil = "sand"}).front().default_value, "sand");
}

TEST(Describe, OptionsAreReadAsTheirStruct) {
  const auto resolved = resolve_options(garden_table(), {{"planted", "pear"}, {"water", 2}}, "garden");
  ASSERT_TRUE(resolved) << resolved.error().message;
  EXPECT_FALSE(resolved->contains("steepness"));
  const auto garden = read_options<Garden>(*resolved);
  EXPECT_EQ(garden.slope.steepness, 0.25);
  EXPECT_EQ(garden.slope.planted, Fruit::pear);
  EXPECT_EQ(garden.water, 2);
  EXPECT_EQ(garden.soil, "clay");
  EXPECT_EQ(read_options<Garden>({{"water", nullptr}, {"another", 1}}).water, std::nullopt);
  EXPECT_ANY_THROW(read_options<Garden>({{"soil", 5}}));
}

}  // namespace describe_test
}  // namespace hyfreedp
