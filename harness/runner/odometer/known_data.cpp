#include <algorithm>
#include <functional>
#include <map>
#include <utility>

#include "datasets/facts.h"
#include "datasets/own/own_files.h"
#include "harness/random/partition.h"
#include "harness/runner/odometer/odometer.h"

namespace hyfreedp::runner {
namespace {

const datasets::Facts* facts_of(const std::string& dataset) {
  const auto facts = datasets::find_dataset(dataset);
  return facts ? *facts : nullptr;
}

}  // namespace

TestSet test_set_of(const trial::OodTest& test) {
  return {.name = "the ood_test '" + test.id + "'", .dataset = test.dataset};
}

TestSet own_test_set_of(const trial::Named& dataset) {
  return {.name = "the test split", .dataset = dataset, .is_own = true};
}

std::string data_text(const trial::Named& dataset) {
  return canonical_json(as_json(trial::Named{dataset.name, random::without_part(dataset.options)}));
}

const std::vector<datasets::DataIdentity>& Odometer::identities(const trial::Named& dataset) {
  auto text = data_text(dataset);
  auto [place, is_new] = known.try_emplace(std::move(text));
  if (is_new) {
    if (const auto before = recorded.find(place->first); before != recorded.end())
      place->second = before->second;
    auto& all = place->second;
    all.push_back(datasets::identity_of(dataset.name, dataset.options));
    std::erase_if(all, [newest = all.back()](const auto& one) { return datasets::supersedes(newest, one); });
  }
  return place->second;
}

// The files of the data may be gone by now. The present identity adds its name and its marks to
// what was recorded, and says nothing of how the records were divided.
datasets::TrainedData Odometer::trained_data(const trial::Named& dataset) {
  const auto& all = identities(dataset);
  datasets::TrainedData trained;
  for (std::size_t i = 0; i + 1 < all.size(); ++i) trained.add(all[i]);
  const auto& now = all.back();
  if (all.size() == 1) {
    trained.add(now);
  } else {
    trained.names.insert(now.name);
    trained.marks.insert(now.marks.begin(), now.marks.end());
    trained.common.insert(now.common.begin(), now.common.end());
    trained.alike.insert(now.alike.begin(), now.alike.end());
  }
  return trained;
}

Spending& Odometer::of(const trial::Named& dataset) {
  const auto& asked = identities(dataset);
  Spending wanted{.datasets = {dataset.name},
                  .data = trained_data(dataset),
                  .is_public = datasets::training_split_is_public(dataset.name, dataset.options)};
  if (const auto* facts = facts_of(dataset.name)) {
    const auto sizes = datasets::sizes(*facts, dataset.options);
    wanted.records = sizes.private_train;
    wanted.validation_records = sizes.private_validation;
  }
  const auto is_same = [&](const Spending& one) {
    return std::ranges::any_of(asked, [&](const auto& identity) { return one.data.is_same(identity); });
  };
  auto place = std::ranges::find_if(data, is_same);
  if (place != data.end()) {
    const auto before = place->data.names.size();
    place->add(wanted);
    const auto others = std::stable_partition(place + 1, data.end(), std::not_fn(is_same));
    for (auto other = others; other != data.end(); ++other) place->add(*other);
    data.erase(others, data.end());
    if (place->data.names.size() == before) return *place;
    wanted = std::move(*place);
    data.erase(place);
  }
  const auto title = wanted.title();
  return *data.insert(std::ranges::lower_bound(data, title, {}, &Spending::title), std::move(wanted));
}

const Spending* Odometer::find(const std::string& name) const {
  const auto found =
      std::ranges::find_if(data, [&](const Spending& one) { return one.data.names.contains(name); });
  return found == data.end() ? nullptr : &*found;
}

std::set<std::string> Odometer::may_be(const Spending& spending) const {
  std::set<std::string> titles;
  if (spending.is_public) return titles;
  for (const auto& other : data) {
    if (other.title() != spending.title() && datasets::may_be_same(spending.data, other.data))
      titles.insert(other.title());
  }
  return titles;
}

Result<std::map<std::string, std::vector<datasets::DataIdentity>>> recorded_data(
    const results::Store& store) {
  const auto rows = store.data();
  if (!rows) return rows.error();
  std::map<std::string, std::vector<datasets::DataIdentity>> recorded;
  for (const auto& [text, all] : *rows) {
    auto& identities = recorded[text];
    for (const auto& one : all) {
      auto identity = from_json<datasets::DataIdentity>(one, "the database's data");
      if (!identity) return identity.error();
      identities.push_back(datasets::as_known_now(std::move(*identity)));
    }
    // A published set that was recorded before there was a secret is the one recorded since.
    if (std::ranges::any_of(identities, [](const auto& one) { return !one.secret.empty(); })) {
      std::erase_if(identities, [](const auto& one) {
        return one.kind == datasets::DataKind::published && one.secret.empty() && one.marks.empty();
      });
    }
  }
  return recorded;
}

Result<void> record_data(results::Store& store, const spec::Spec& spec) {
  std::map<std::string, trial::Named> named;
  for (const auto& panel : spec.panels) {
    named.emplace(data_text(panel.dataset), panel.dataset);
    for (const auto& test : panel.ood_test) named.emplace(data_text(test.dataset), test.dataset);
  }
  for (const auto& [text, dataset] : named) {
    auto identity = datasets::identity_of(dataset.name, dataset.options);
    if (identity.kind == datasets::DataKind::generated) continue;
    // Published data are marked, too, from the first run on. Who has no secret has unmarked data.
    if (identity.secret.empty() && datasets::made_secret_mark("")) {
      identity = datasets::identity_of(dataset.name, dataset.options);
    }
    if (auto put = store.put_data(text, as_json(identity)); !put) return put;
  }
  return {};
}

}  // namespace hyfreedp::runner
