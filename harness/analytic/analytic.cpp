#include "harness/analytic/analytic.h"

#include <algorithm>

#include "harness/analytic/items.h"
#include "harness/base/text.h"

namespace hyfreedp::analytic {

const std::vector<Item>& registry() {
  static const std::vector<Item> items = {
      mohapatra_table_1(),
      mohapatra_figure_1(),
      mohapatra_theorems(),
      hyfreedp_figure_3(),
      hyfreedp_figure_6(),
      hyfreedp_figure_7(),
      hyfreedp_table_8(),
      hyfreedp_theorem_2(),
      hyfreedp_table_2_contradictions(),
      panda_noise(),
      panda_imagenet_composition(),
      panda_table_1(),
      panda_table_3(),
      panda_table_4(),
      panda_table_6(),
      panda_table_8(),
      panda_table_11(),
      panda_table_12(),
      panda_table_16(),
      panda_table_17(),
      gendp_fit(),
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
