#include "harness/analytic/analytic.h"

#include <algorithm>

#include "harness/analytic/items.h"
#include "harness/base/text.h"

namespace hyfreedp::analytic {

const std::vector<Item>& registry() {
  static const std::vector<Item> items = {
      mohapatra_table_1(),
  };
  return items;
}

const Item* find(const std::string& name) {
  const auto& items = registry();
  const auto found =
      std::find_if(items.begin(), items.end(), [&](const Item& item) { return item.name == name; });
  return found == items.end() ? nullptr : &*found;
}

Result<Analytic> compute(const std::string& name, const json::object& given, const json::value& values,
                         const std::string& where) {
  const Item* item = find(name);
  if (!item) {
    std::vector<std::string> names;
    for (const auto& known : registry()) names.push_back(known.name);
    return error(where + ": there is no analytic item '" + name + "'." + did_you_mean(name, names) +
                 " `hyfreedp list analytic` lists them.");
  }
  const auto options = resolve_options(item->options, given, where);
  if (!options) return options.error();
  auto done = item->compute(*options, PaperValues(values));
  if (!done) return in_context(where + ": " + name, done.error());
  return done;
}

}  // namespace hyfreedp::analytic
