// What it costs to leave, to enter and to merge clusters once their means follow. With W the
// weight of a cluster, w that of what leaves or enters, and s the squared distance to its mean:
// leaving takes w W / (W - w) s off the inertia, entering adds w W / (W + w) s.
#pragma once

namespace kempe {

// What costs refer to.
enum class Reference {
    means,     // of the clusters, which follow every move: the exact change of the inertia, as in
               // Hartigan and Wong (1979)
    placed,    // centroids that somebody placed, as in the paper's KSAssignment
    standing,  // the same, known to stay: a move changes no cost, so nobody need look again for it
};

// Two costs that differ by less than this share of them are equal but for rounding.
constexpr double kCostRounding = 1e-12;

// What leaving and entering multiply a weighted squared distance by.
inline double leaving_ratio(double cluster, double w) {
    return cluster / (cluster - w);
}
inline double entering_ratio(double cluster, double w) {
    return cluster / (cluster + w);
}

inline double leaving_gain(double cluster, double w, double squared) {
    return w * cluster / (cluster - w) * squared;
}
// An empty cluster costs nothing.
inline double entering_cost(double cluster, double w, double squared) {
    return w * cluster / (cluster + w) * squared;
}
// The same for all clusters at once.
void entering_costs(const double* squared, const double* cluster_weight, double w, int k,
                    double* out);
// To merge two clusters is to let one enter the other as a whole.
inline double merging_cost(double one, double other, double squared) {
    return entering_cost(other, one, squared);
}

}  // namespace kempe
