// Fills empty clusters: one vertex each, the one whose move lowers the inertia most.
#include <stdexcept>
#include <vector>

#include "basics/arrays.h"
#include "basics/checks.h"
#include "basics/distances.h"
#include "module.h"
#include "problem/cost.h"
#include "problem/instance.h"
#include "problem/limits.h"

namespace kempe {
namespace {

class Filler {
 public:
    Filler(const Instance& instance, const Colour* colours, int k)
        : instance_(instance),
          colours_(colours, colours + instance.size),
          members_(k, 0),
          weight_(k, 0.0),
          sum_(static_cast<std::size_t>(k) * instance.dimension, 0.0) {
        for (Vertex v = 0; v < instance.size; ++v) add(v, colours_[v], 1);
    }

    void fill() {
        for (Colour c = 0; c < static_cast<Colour>(members_.size()); ++c) {
            if (members_[c] > 0) continue;
            const Vertex v = most_gaining();
            if (v < 0) return;  // fewer vertices than clusters
            add(v, colours_[v], -1);
            add(v, c, 1);
            colours_[v] = c;
        }
    }

    std::vector<Colour> take() && { return std::move(colours_); }

 private:
    void add(Vertex v, Colour c, int sign) {
        const double w = sign * instance_.weight[v];
        members_[c] += sign;
        weight_[c] += w;
        double* sum = &sum_[static_cast<std::size_t>(c) * instance_.dimension];
        with_points(instance_, [&](const auto& points) {
            for (int f = 0; f < instance_.dimension; ++f) sum[f] += w * points[v][f];
        });
    }

    // A vertex that is alone in its cluster stays, or its cluster would be empty instead.
    Vertex most_gaining() const {
        const std::vector<double> means = this->means();
        Vertex best = -1;
        double best_gain = -1.0;
        for (Vertex v = 0; v < instance_.size; ++v) {
            if (members_[colours_[v]] <= NonEmpty::kLeast) continue;
            const double gain = gain_of_leaving(v, means);
            if (gain > best_gain) {
                best_gain = gain;
                best = v;
            }
        }
        return best;
    }

    double gain_of_leaving(Vertex v, const std::vector<double>& means) const {
        const double w = instance_.weight[v], total = weight_[colours_[v]];
        if (w <= 0 || total - w <= 0) return 0.0;
        const double* mean = &means[static_cast<std::size_t>(colours_[v]) * instance_.dimension];
        const double distance = with_points(instance_, [&](const auto& points) {
            return squared_distance(points[v], mean, instance_.dimension);
        });
        return leaving_gain(total, w, distance);
    }

    std::vector<double> means() const {
        std::vector<double> result(sum_);
        const std::size_t d = instance_.dimension;
        for (std::size_t c = 0; c < weight_.size(); ++c)
            for (std::size_t f = 0; f < d; ++f) result[c * d + f] /= weight_[c];
        return result;
    }

    const Instance& instance_;
    std::vector<Colour> colours_;
    std::vector<int> members_;
    std::vector<double> weight_, sum_;
};

Out1<Colour> fill_empty(const Instance& instance, In1<Colour> colours, int k) {
    check_n_clusters(k);
    check_colours(colours, instance.size, k);
    return to_numpy(unlocked([&] {
        Filler filler(instance, colours.data(), k);
        filler.fill();
        return std::move(filler).take();
    }));
}

}  // namespace

void bind_empty_clusters(nb::module_& m) {
    m.def("fill_empty", &fill_empty, nb::arg("instance"), nb::arg("colours"),
          nb::arg("n_clusters"));
}

}  // namespace kempe
