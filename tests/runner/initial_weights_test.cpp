// What a run may begin with: weights that have seen its own private examples, or are no release,
// are refused when the spec is read.
#include "harness/runner/lineage/initial_weights.h"

#include <cstring>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/models/facts/weights_source.h"
#include "tests/datasets/scratch.h"
#include "tests/runner/fake_world.h"
#include "tests/runner/zero_weights.h"

namespace hyfreedp::runner {
namespace initial_weights_test {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;

const std::string kAdult = R"({"dataset": "adult", "epsilon": 3.0, "delta": 1e-5})";
const std::string kE2e = R"({"dataset": "e2e-dev", "epsilon": 8.0, "delta": 1e-5})";

class InitialWeights : public testing::Test {
 protected:
  fs::path at(const std::string& name) const { return fs::path(world_.out().root) / name; }
  // A weights folder of a linear model, and an adapter folder, in one, as downloaded.
  std::string folder(const std::string& name, std::int64_t features = 104, std::int64_t classes = 2) const {
    fs::create_directories(at(name));
    for (const char* file : {"adapter_config.json", "adapter_model.safetensors"}) {
      write_file_atomically((at(name) / file).string(), "{}").value();
    }
    write_linear_weights(at(name).string(), features, classes);
    return at(name).string();
  }
  std::string with_metadata(const std::string& name, const std::string& metadata) const {
    auto path = folder(name);
    write_file_atomically(path + "/trial.json", metadata).value();
    return path;
  }
  // As a run writes it.
  std::string kept(const std::string& name, const std::string& private_data,
                   const std::string& more = "") const {
    return with_own_metadata(folder(name), private_data, more);
  }
  static std::string with_own_metadata(const std::string& path, const std::string& private_data,
                                       const std::string& more = "") {
    auto metadata =
        parse_json(fmt::format(R"({{"private_data": [{}], "files": {{}}{}}})", private_data, more),
                   "metadata")
            .value()
            .as_object();
    for (const char* file : {"model.safetensors", "adapter_model.safetensors"}) {
      if (const auto weights = read_file(path + "/" + file))
        metadata["files"].as_object()[file] = sha256_hex(*weights);
    }
    metadata["tag"] = tag_of(metadata).value();
    write_file_atomically(path + "/trial.json", pretty_json(metadata)).value();
    return path;
  }
  Result<Spec> spec_of(const std::string& start, const std::string& dataset = "adult",
                       const std::string& epsilons = "[3]") const {
    const auto path = at("spec.yaml").string();
    fs::create_directories(at(""));
    write_file_atomically(path,
                          "name: s\ntitle: s\npanels:\n  - id: one\n    dataset: " + dataset +
                              "\n    model: {name: linear, weights: " + start +
                              "}\n    seeds: [0]\n    epsilon: " + epsilons +
                              "\n    delta: 1e-6\n    train: {sample_rate: 0.1, steps: 3, optimizer: sgd}\n"
                              "    rows: [{method: fixed-rate, options: {lr: 0.1}}]\n")
        .value();
    return load_spec(path);
  }
  // Why a spec that begins with the folder is not read; empty: it is.
  std::string refusal(const std::string& start, const std::string& dataset = "adult",
                      const std::string& epsilons = "[3]") const {
    const auto spec = spec_of(start, dataset, epsilons);
    return spec ? "" : spec.error().message;
  }

  World world_;
  // Not this user's key.
  const datasets::ScopedVariable state_{"XDG_STATE_HOME", at("state").string()};
  const std::string public_data_ =
      "{name: synthetic, train: 100, validation: 10, test: 10, features: 104, classes: 2}";
};

TEST_F(InitialWeights, ThatHaveSeenNothingOfTheRunsDataAreTaken) {
  EXPECT_EQ(refusal(folder("downloaded")), "");
  EXPECT_EQ(refusal(kept("public", "")), "");
  EXPECT_EQ(refusal(kept("other", kE2e)), "");
}

TEST_F(InitialWeights, ThatHaveSeenTheRunsOwnPrivateExamplesAreRefused) {
  const auto seen = kept("seen", kE2e + ", " + kAdult);
  EXPECT_THAT(refusal(seen),
              AllOf(HasSubstr("were trained on 'adult' already"), HasSubstr("weights: " + seen)));
  EXPECT_THAT(refusal(seen, "adult", "[inf, 3]"), HasSubstr("were trained on 'adult' already"));
  EXPECT_EQ(refusal(seen, "adult", "[inf]"), "") << "no epsilon is claimed";
  EXPECT_EQ(refusal(seen, public_data_), "");
}

TEST_F(InitialWeights, ThatAreConfidentialAreRefusedOnWhateverData) {
  const auto marked = kept("marked", "", R"(, "watermark": "CONFIDENTIAL")");
  EXPECT_THAT(refusal(marked), HasSubstr("are confidential"));
  EXPECT_THAT(refusal(marked, "adult", "[inf]"), HasSubstr("are confidential"));
  EXPECT_THAT(refusal(marked, public_data_), HasSubstr("are confidential"));
}

// Staged ones have no metadata yet, those of lost runs never get any.
TEST_F(InitialWeights, OfARunThatIsNotOverAreRefused) {
  const auto staged = folder("staged");
  write_file_atomically(staged + "/kept.json", "{}").value();
  EXPECT_THAT(refusal(staged), HasSubstr("a run that has not finished"));
}

TEST_F(InitialWeights, MetadataThatDoNotSayWhatTheyHaveSeenAreRefused) {
  for (const char* metadata :
       {"{}", R"({"private_data": "adult"})", R"({"private_data": ["adult"]})",
        R"({"private_data": [{"dataset": "adult"}]})",
        R"({"private_data": [{"dataset": "adult", "epsilon": 1, "delta": 0.1, "marks": [1]}]})"}) {
    EXPECT_THAT(refusal(with_metadata("unsaid", metadata)), HasSubstr("'private_data' must list"))
        << metadata;
  }
  EXPECT_THAT(refusal(with_metadata("list", "[]")), HasSubstr("must be an object"));
  EXPECT_THAT(refusal(with_metadata("torn", "{")), HasSubstr("trial.json"));
  const auto dangling = folder("dangling");
  fs::create_symlink("nowhere", dangling + "/trial.json");
  EXPECT_THAT(refusal(dangling), HasSubstr("trial.json"));
}

// Whoever saves other weights over those of a run has the run's metadata beside them.
TEST_F(InitialWeights, MetadataOfOtherFilesAreRefused) {
  const auto changed = kept("changed", "");
  EXPECT_EQ(refusal(changed), "");
  auto other = read_file(changed + "/model.safetensors").value();
  other.back() = 1;
  write_file_atomically(changed + "/model.safetensors", other).value();
  EXPECT_THAT(refusal(changed), HasSubstr("not the file that trial.json"));
  EXPECT_THAT(refusal(with_metadata("unbound", R"({"private_data": []})")), HasSubstr("'files' must list"));
}

// Weights that a run kept say so themselves.
TEST_F(InitialWeights, ThatLostTheirMetadataAreRefused) {
  const auto path = folder("alone") + "/model.safetensors";
  EXPECT_EQ(refusal(at("alone").string()), "");
  const auto bytes = read_file(path).value();
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), sizeof length);
  auto header = parse_json(bytes.substr(sizeof length, length), "header").value().as_object();
  header["__metadata__"] = json::object{{models::kKeptMark, models::kKeptNote}};
  const auto text = json::serialize(header);
  length = text.size();
  write_file_atomically(path, std::string(reinterpret_cast<const char*>(&length), sizeof length) + text +
                                  bytes.substr(bytes.size() - std::size_t(104 + 1) * 2 * sizeof(float)))
      .value();
  EXPECT_THAT(refusal(at("alone").string()), HasSubstr("which says what private examples they have seen"));
  std::filesystem::rename(path, at("alone") / "SHARD.1");
  write_file_atomically(path, bytes).value();
  EXPECT_THAT(refusal(at("alone").string()), HasSubstr("which says what private examples they have seen"));
}

// Weights that somebody put beside those of a run are not what its metadata tell of.
TEST_F(InitialWeights, BesideThoseThatTheMetadataListAreRefused) {
  const auto seen = kept("seen", kE2e);
  EXPECT_EQ(refusal(seen), "");
  for (const char* file : {"pytorch_model.bin", "model-00002-of-00002.safetensors",
                           "model.safetensors.index.json", "weights.pkl"}) {
    write_file_atomically(seen + "/" + file, "{}").value();
    EXPECT_THAT(refusal(seen),
                HasSubstr(std::string(file) + ": trial.json beside it does not list this file"));
    std::filesystem::remove(at("seen") / file);
  }
  write_file_atomically(seen + "/notes.txt", "mine").value();
  EXPECT_EQ(refusal(seen), "");
  const auto adapter = with_own_metadata(folder("other"), kE2e);
  std::filesystem::remove(at("other") / "adapter_model.safetensors");
  with_own_metadata(adapter, kE2e);
  EXPECT_EQ(refusal(adapter), "");
  std::filesystem::copy_file(at("seen") / "adapter_model.safetensors",
                             at("other") / "adapter_model.safetensors");
  EXPECT_THAT(refusal(adapter), HasSubstr("adapter_model.safetensors: trial.json beside it does not list"));
}

// Edited to name other data, or of an older version or another user.
TEST_F(InitialWeights, MetadataThatThisUserDidNotWriteAreNotBelieved) {
  const auto seen = kept("seen", kAdult);
  const auto file = seen + "/trial.json";
  const auto text = read_file(file).value();
  auto edited = text;
  edited.replace(edited.find("adult"), 5, "mnist");
  write_file_atomically(file, edited).value();
  EXPECT_THAT(refusal(seen), AllOf(HasSubstr("is not known"), HasSubstr("no tag of this user")));
  EXPECT_EQ(refusal(seen, "adult", "[inf]"), "") << "no epsilon is claimed";
  auto untagged = parse_json(text, "metadata").value().as_object();
  untagged["private_data"] = json::array{};
  untagged.erase("tag");
  write_file_atomically(file, pretty_json(untagged)).value();
  EXPECT_THAT(refusal(seen), HasSubstr("is not known"));
  EXPECT_FALSE(private_data_of_start({{"weights", seen}}).value().is_known);
  write_file_atomically(file, text).value();
  EXPECT_THAT(refusal(seen), HasSubstr("were trained on 'adult' already"));
  EXPECT_EQ(refusal(kept("fine", kE2e)), "");
  ::setenv("XDG_STATE_HOME", at("another user's").c_str(), 1);
  EXPECT_THAT(refusal(at("fine").string()), HasSubstr("is not known"));
}

TEST_F(InitialWeights, ThatTheProjectShipsAreKnown) {
  const fs::path shipped = fs::path(HYFREEDP_SOURCE_DIR) / "experiments/weights";
  std::size_t count = 0;
  for (const auto& entry : fs::directory_iterator(shipped)) {
    const auto seen = private_data_of_start({{"weights", entry.path().string()}});
    ASSERT_TRUE(seen) << seen.error().message;
    EXPECT_TRUE(seen->is_known) << entry.path();
    EXPECT_FALSE(seen->releases.empty());
    ++count;
  }
  EXPECT_GT(count, 0U);
}

TEST_F(InitialWeights, OfNetworkAndAdapterBoth) {
  const json::object both{{"weights", kept("network", kAdult)},
                          {"adapter", kept("adapter", kE2e + "," + kAdult)}};
  const auto seen = private_data_of_start(both).value();
  EXPECT_TRUE(seen.is_known);
  EXPECT_EQ(json::value(seen.releases), parse_json("[" + kAdult + "," + kE2e + "]", "expected").value());
  EXPECT_TRUE(private_data_of_start({}).value().releases.empty());
  EXPECT_TRUE(private_data_of_start({{"weights", nullptr}}).value().releases.empty());
  EXPECT_FALSE(private_data_of_start({{"weights", "/nowhere"}}));
  const auto starts_on = [&](const std::string& data) {
    return check_start(both, {.name = data, .marks = {}}, {}, true).has_value();
  };
  EXPECT_FALSE(starts_on("adult"));
  EXPECT_FALSE(starts_on("e2e-dev"));
  EXPECT_TRUE(starts_on("fashion-mnist"));
}

// A copy of the files under another name.
TEST_F(InitialWeights, ThatHaveSeenTheRunsFilesUnderAnotherNameAreRefused) {
  const auto seen = kept(
      "seen",
      R"j({"dataset": "table-file (people)", "marks": ["m", "n"], "secret": "s records", "epsilon": 3.0, "delta": 1e-5})j");
  const json::object start{{"weights", seen}};
  const auto on = [&](const std::string& name, std::set<std::string> marks, const std::string& secret) {
    return check_start(start, {.name = name, .marks = std::move(marks), .secret = secret}, {}, true);
  };
  EXPECT_TRUE(on("table-file (folks)", {"o"}, "s records"));
  const auto unknown = on("table-file (folks)", {"o"}, "s");
  ASSERT_FALSE(unknown);
  EXPECT_THAT(unknown.error().message, HasSubstr("have records of table-file (folks) is not known"));
  const auto refused = on("table-file (folks)", {"o", "n"}, "s records");
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message,
              HasSubstr("'table-file (people), whose files are those of table-file (folks)' already"));
  EXPECT_FALSE(on("table-file (people)", {}, "s records"));
}

// Their accuracy would be printed without noise, whatever the run itself trains on.
TEST_F(InitialWeights, ThatHaveSeenTheTestRecordsAreRefused) {
  const auto rows = [](int from, int to) {
    std::string text = "x,y,label\n";
    for (int i = from; i < to; ++i) text += fmt::format("{},{},{}\n", i, i * i % 17, i % 2);
    return text;
  };
  for (const auto& [name, from, to] : {std::tuple{"people.csv", 0, 100},
                                       {"mine/train.csv", 200, 300},
                                       {"mine/test.csv", 0, 100},
                                       {"others.csv", 400, 500}}) {
    write_file_atomically((at("data") / name).string(), rows(from, to)).value();
  }
  const auto table = [this](const std::string& name) {
    return "{name: table-file, path: " + (at("data") / name).string() + "}";
  };
  const auto identity = [&](const std::string& name) {
    return spec_of(folder("any", 2), table(name)).value().content.panels.at(0).dataset;
  };
  const auto people = identity("people.csv");
  auto release = named_data(datasets::identity_of(people.name, people.options));
  release["epsilon"] = 1.0;
  release["delta"] = 1e-5;
  const auto start = with_own_metadata(folder("start", 2), json::serialize(release));
  EXPECT_EQ(refusal(start, table("others.csv")), "");
  for (const char* epsilons : {"[3]", "[inf]"}) {
    EXPECT_THAT(refusal(start, table("mine"), epsilons),
                AllOf(HasSubstr("the test split is table-file (mine), and the run that made the weights"),
                      HasSubstr("start) trains on table-file (people)")));
    EXPECT_THAT(
        refusal(start,
                table("others.csv") + "\n    ood_test: [{id: folks, dataset: " + table("people.csv") + "}]",
                epsilons),
        HasSubstr("the ood_test 'folks' is table-file (people)"));
  }
  EXPECT_EQ(refusal(start, table("people.csv"), "[inf]"), "") << "its test split was set aside";
  // Which names none of these data any more.
  const auto note = start + "/trial.json", noted = read_file(note).value();
  auto edited = parse_json(noted, "trial.json").value().as_object();
  edited["private_data"] = json::array{};
  write_file_atomically(note, pretty_json(edited)).value();
  EXPECT_THAT(refusal(start, table("people.csv"), "[inf]"),
              AllOf(HasSubstr("is not known"), HasSubstr("Test records may be among these")));
  write_file_atomically(note, noted).value();

  // A part of them, and marks that are lost since.
  write_file_atomically((at("data") / "part.csv").string(), rows(20, 80)).value();
  EXPECT_THAT(refusal(start, table("part.csv")), HasSubstr("already"));
  const auto forget = [&] {
    for (const auto& entry : fs::directory_iterator(at("state") / "hyfreedp/content")) {
      if (entry.path().string().ends_with(".records.json")) fs::remove(entry.path());
    }
  };
  forget();
  write_file_atomically((at("data") / "some.csv").string(), rows(30, 90)).value();
  EXPECT_THAT(refusal(start, table("some.csv")), HasSubstr("have records of table-file (some) is not known"));
  EXPECT_THAT(refusal(start, table("others.csv")), HasSubstr("is not known"));
  identity("people.csv");  // is read again
  EXPECT_THAT(refusal(start, table("some.csv")), HasSubstr("already"));
  EXPECT_EQ(refusal(start, table("others.csv")), "");
}

// A frozen network's weights reach the model through its features.
TEST_F(InitialWeights, OfTheNetworkThatMakesFeaturesAreHeldToTheSame) {
  const auto folder_of = [this](const std::string& name, const std::string& private_data,
                                const char* more = "") {
    const auto path = folder(name);
    write_zero_weights(path, "vit", {{"width", 8}, {"depth", 1}, {"heads", 2}},
                       {.features = 768, .classes = 2, .image = {3, 16, 16}});
    return with_own_metadata(path, private_data, more);
  };
  const auto refused = [this](const std::string& weights) {
    return refusal(
        folder("start", 8, 10),
        "{name: fashion-mnist, features: network, network: vit, side: 16, weights: " + weights + "}");
  };
  EXPECT_EQ(refused(folder_of("unseen", kE2e)), "");
  EXPECT_THAT(refused(folder_of("seen", R"({"dataset": "fashion-mnist", "epsilon": 3.0, "delta": 1e-5})")),
              HasSubstr("were trained on 'fashion-mnist' already"));
  EXPECT_THAT(refused(folder_of("marked", "", R"(, "watermark": "CONFIDENTIAL")")),
              HasSubstr("are confidential"));
}

// One folder of a user is one set of records, whatever else a spec says of it.
TEST_F(InitialWeights, OfAUsersImagesAreKnownByTheirFolder) {
  for (const char* set : {"mine", "others"}) {
    for (int i = 0; i < 80; ++i) {
      const auto name =
          fmt::format("{}/{}/{}/{}.ppm", set, i < 60 ? "train" : "test", i % 2 == 0 ? "a" : "b", i);
      write_file_atomically(at(name).string(), "P6 1 1 255\nabc").value();
    }
  }
  const std::string release = R"j({"dataset": "image-folder (mine)", "epsilon": 3.0, "delta": 1e-5})j";
  const auto start = with_own_metadata(folder("seen", 3 * 8 * 8, 2), release);
  const auto on = [&](const std::string& set) {
    return refusal(start, "{name: image-folder, side: 8, path: " + at("").string() + set + "}");
  };
  EXPECT_THAT(on("mine"), HasSubstr("were trained on 'image-folder (mine)' already"));
  EXPECT_THAT(on("mine/"), HasSubstr("were trained on 'image-folder (mine)' already"));
  EXPECT_EQ(on("others"), "");
}

// A spec once read, a cell's file for one, is planned without looking at folders of this machine.
TEST_F(InitialWeights, AreNotAskedAboutAgainByAPlan) {
  const auto start = folder("start");
  const auto spec = spec_of(start).value();
  write_file_atomically(start + "/trial.json", R"({"watermark": "CONFIDENTIAL"})").value();
  EXPECT_TRUE(plan(spec));
  EXPECT_FALSE(spec_of(start));
}

TEST_F(InitialWeights, TheMetadataArePartOfWhatARunBeginsWith) {
  const auto start = kept("start", "");
  const auto before = spec_of(start).value().hash();
  kept("start", kE2e);
  EXPECT_NE(spec_of(start).value().hash(), before);
}

}  // namespace initial_weights_test
}  // namespace hyfreedp::runner
