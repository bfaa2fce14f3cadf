// What a problem asks of its clusterings, chosen when the engine is compiled: what problems do not
// have costs them nothing.
#pragma once

#include <memory>
#include <variant>

#include "engine/ties.h"
#include "problem/instance.h"
#include "problem/limits.h"

namespace kempe {

// The type of the data, what ties its vertices, and what limits its clusters.
template <class ValueType, class TiesType, class LimitsType>
struct Rules {
    using Value = ValueType;
    using Ties = TiesType;
    using Limits = LimitsType;
};

// Pairs that always hold, and clusters that are not empty.
template <class Value>
using HardRules = Rules<Value, HardTies, NonEmpty>;
// Pairs that may be broken at a price, as well.
template <class Value>
using SoftRules = Rules<Value, SoftTies, NonEmpty>;

// The same two, and clusters that have neither too few nor too many rows.
template <class Value>
using SizedRules = Rules<Value, HardTies, SizeLimits>;
template <class Value>
using SoftSizedRules = Rules<Value, SoftTies, SizeLimits>;

// Call `body` with the rules of an instance as a type, and with its points.
template <class Body>
decltype(auto) with_rules(const Instance& instance, Body&& body) {
    return with_points(instance, [&]<class Value>(const Points<Value>& points) {
        if (instance.sizes.limited() && instance.soft)
            return body.template operator()<SoftSizedRules<Value>>(points);
        if (instance.sizes.limited()) return body.template operator()<SizedRules<Value>>(points);
        if (instance.soft) return body.template operator()<SoftRules<Value>>(points);
        return body.template operator()<HardRules<Value>>(points);
    });
}

// A template with each of the rules, one of which it is at a time.
template <template <class> class Template>
using WithAnyRules = std::variant<
    std::unique_ptr<Template<HardRules<double>>>, std::unique_ptr<Template<HardRules<float>>>,
    std::unique_ptr<Template<SoftRules<double>>>, std::unique_ptr<Template<SoftRules<float>>>,
    std::unique_ptr<Template<SizedRules<double>>>, std::unique_ptr<Template<SizedRules<float>>>,
    std::unique_ptr<Template<SoftSizedRules<double>>>,
    std::unique_ptr<Template<SoftSizedRules<float>>>>;

}  // namespace kempe

// Every class of the engine is compiled once for each of the rules.
#define KEMPE_FOR_ALL_RULES(Template)           \
    template class Template<HardRules<float>>;  \
    template class Template<HardRules<double>>; \
    template class Template<SoftRules<float>>;  \
    template class Template<SoftRules<double>>; \
    KEMPE_FOR_SIZED_RULES(Template)
#define KEMPE_DECLARE_FOR_ALL_RULES(Template)          \
    extern template class Template<HardRules<float>>;  \
    extern template class Template<HardRules<double>>; \
    extern template class Template<SoftRules<float>>;  \
    extern template class Template<SoftRules<double>>; \
    KEMPE_DECLARE_FOR_SIZED_RULES(Template)
// Some are for problems whose clusters have limits alone.
#define KEMPE_FOR_SIZED_RULES(Template)             \
    template class Template<SizedRules<float>>;     \
    template class Template<SizedRules<double>>;    \
    template class Template<SoftSizedRules<float>>; \
    template class Template<SoftSizedRules<double>>
#define KEMPE_DECLARE_FOR_SIZED_RULES(Template)            \
    extern template class Template<SizedRules<float>>;     \
    extern template class Template<SizedRules<double>>;    \
    extern template class Template<SoftSizedRules<float>>; \
    extern template class Template<SoftSizedRules<double>>
