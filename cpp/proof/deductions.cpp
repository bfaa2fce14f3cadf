// What cannot-link cliques imply for k clusters: two groups that are both cannot-linked with k - 1
// groups that exclude each other belong together; two groups that k such groups exclude between
// them are apart. Every deduction is logged with its clique.
#include <bit>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "basics/arrays.h"
#include "basics/checks.h"
#include "basics/stopper.h"
#include "graph/graph.h"
#include "module.h"

namespace kempe {
namespace {

// Deductions help, and none is needed: a search for one clique looks at no more sets than this, and
// all of them together compare no more words of sets than that, which takes a second or two.
constexpr int kMostSets = 500;
constexpr std::int64_t kMostWords = 600'000'000;
constexpr std::int64_t kLookEvery = 100'000;  // words

class Bits {
 public:
    explicit Bits(int size = 0) : words_((size + 63) / 64, 0) {}

    bool test(Vertex v) const { return words_[v >> 6] >> (v & 63) & 1; }
    void set(Vertex v) { words_[v >> 6] |= std::uint64_t{1} << (v & 63); }
    void clear(Vertex v) { words_[v >> 6] &= ~(std::uint64_t{1} << (v & 63)); }
    int count() const {
        int sum = 0;
        for (std::uint64_t word : words_) sum += std::popcount(word);
        return sum;
    }
    int count_common(const Bits& other) const {
        int sum = 0;
        for (std::size_t i = 0; i < words_.size(); ++i)
            sum += std::popcount(words_[i] & other.words_[i]);
        return sum;
    }
    Bits operator&(const Bits& other) const {
        Bits both = *this;
        for (std::size_t i = 0; i < words_.size(); ++i) both.words_[i] &= other.words_[i];
        return both;
    }
    Bits operator|(const Bits& other) const {
        Bits either = *this;
        for (std::size_t i = 0; i < words_.size(); ++i) either.words_[i] |= other.words_[i];
        return either;
    }
    // Until the visitor returns true; whether it did.
    template <class Visit>
    bool any(Visit&& visit) const {
        for (std::size_t i = 0; i < words_.size(); ++i)
            for (std::uint64_t word = words_[i]; word; word &= word - 1)
                if (visit(static_cast<Vertex>(i * 64 + std::countr_zero(word)))) return true;
        return false;
    }

 private:
    std::vector<std::uint64_t> words_;
};

enum class Fact : std::uint8_t { apart, together, contradiction };

class Deductions {
 public:
    Deductions(const Graph& graph, int k, Stopper& stopper)
        : k_(k),
          size_(graph.size),
          stopper_(stopper),
          adjacent_(graph.size, Bits(graph.size)),
          degree_(size_),
          merged_(size_, 0) {
        for (Vertex v = 0; v < size_; ++v) {
            for (Vertex u : graph.neighbours(v)) adjacent_[v].set(u);
            degree_[v] = adjacent_[v].count();
        }
        unmerged_.assign(size_, 1);
        unlinked_.assign(size_, 1);
    }

    // What is apart is looked for when nothing else is together, since it is rarer and dearer.
    void run() {
        while (!contradicted_) {
            if (pass(unmerged_, k_ - 1, &Deductions::deduce_together)) continue;
            if (contradicted_ || !pass(unlinked_, 1, &Deductions::deduce_apart)) break;
        }
    }

    std::vector<std::uint8_t> kinds;
    std::vector<Vertex> pairs, members;
    std::vector<std::int64_t> offsets{0};

 private:
    // Look at every pair of vertices of some degree one of which has changed, or a neighbour of it,
    // since the last such pass; whether that led to a deduction.
    bool pass(std::vector<std::uint8_t>& changed, int least_degree,
              bool (Deductions::*deduce)(Vertex, Vertex)) {
        std::vector<std::uint8_t> look(size_, 0);
        for (Vertex v = 0; v < size_; ++v) {
            if (!changed[v]) continue;
            look[v] = 1;
            adjacent_[v].any([&](Vertex u) { return look[u] = 1, false; });
        }
        changed.assign(size_, 0);
        bool found = false;
        for (Vertex a = 0; a < size_; ++a)
            for (Vertex b = a + 1; b < size_ && !merged_[a] && degree_[a] >= least_degree; ++b) {
                if (merged_[b] || degree_[b] < least_degree || !(look[a] || look[b])) continue;
                if (words_compared_ > kMostWords || stopper_.should_stop()) return false;
                found |= (this->*deduce)(a, b);
                if (contradicted_) return false;
            }
        return found;
    }

    bool deduce_together(Vertex a, Vertex b) {
        if (count_common(adjacent_[a], adjacent_[b]) < k_ - 1 ||
            !find(adjacent_[a] & adjacent_[b], k_ - 1))
            return false;
        contradicted_ = adjacent_[a].test(b);
        log(contradicted_ ? Fact::contradiction : Fact::together, a, b);
        if (!contradicted_) merge(a, b);
        return true;
    }

    bool deduce_apart(Vertex a, Vertex b) {
        if (adjacent_[a].test(b) || degree_[a] + degree_[b] < k_ ||
            !find(adjacent_[a] | adjacent_[b], k_))
            return false;
        log(Fact::apart, a, b);
        link(a, b);
        return true;
    }

    bool find(const Bits& among, int size) {
        clique_.clear();
        sets_ = 0;
        return grow(among, size);
    }

    int count_common(const Bits& a, const Bits& b) {
        words_compared_ += size_ / 64 + 1;
        // One pair may have a thousand sets to compare, each of as many words.
        if (words_compared_ >= next_look_) {
            stopper_.look();
            next_look_ = words_compared_ + kLookEvery;
        }
        return a.count_common(b);
    }

    bool grow(Bits among, int missing) {
        if (missing == 0) return true;
        if (++sets_ > kMostSets || among.count() < missing) return false;
        const Bits every = among;
        return every.any([&](Vertex v) {
            if (count_common(among, adjacent_[v]) >= missing - 1) {
                clique_.push_back(v);
                if (grow(among & adjacent_[v], missing - 1)) return true;
                clique_.pop_back();
            }
            among.clear(v);
            return false;
        });
    }

    void log(Fact fact, Vertex a, Vertex b) {
        kinds.push_back(static_cast<std::uint8_t>(fact));
        pairs.insert(pairs.end(), {a, b});
        members.insert(members.end(), clique_.begin(), clique_.end());
        offsets.push_back(static_cast<std::int64_t>(members.size()));
    }

    void link(Vertex a, Vertex b) {
        adjacent_[a].set(b);
        adjacent_[b].set(a);
        ++degree_[a];
        ++degree_[b];
        note_change(a);
        note_change(b);
    }

    void merge(Vertex a, Vertex b) {
        adjacent_[b].any([&](Vertex u) {
            adjacent_[u].clear(b);
            if (adjacent_[u].test(a)) --degree_[u];
            adjacent_[u].set(a);
            return false;
        });
        adjacent_[a] = adjacent_[a] | adjacent_[b];
        adjacent_[b] = Bits(size_);
        degree_[a] = adjacent_[a].count();
        degree_[b] = 0;
        merged_[b] = 1;
        note_change(a);
    }

    void note_change(Vertex v) { unmerged_[v] = unlinked_[v] = 1; }

    const int k_;
    const int size_;
    Stopper& stopper_;
    std::vector<Bits> adjacent_;
    std::vector<int> degree_;
    std::vector<std::uint8_t> merged_, unmerged_, unlinked_;
    std::vector<Vertex> clique_;
    int sets_ = 0;
    std::int64_t words_compared_ = 0, next_look_ = kLookEvery;
    bool contradicted_ = false;
};

nb::tuple clique_deductions(const StoredGraph& stored, int k, Stopper& stopper) {
    check_n_clusters(k);
    Deductions deductions(stored.view(), k, stopper);
    unlocked([&] { deductions.run(); });
    const std::size_t count = deductions.kinds.size();
    return nb::make_tuple(
        to_numpy(std::move(deductions.kinds)), to_numpy(std::move(deductions.pairs), count, 2),
        to_numpy(std::move(deductions.offsets)), to_numpy(std::move(deductions.members)));
}

// All cliques of a size, or the first `most` of them; rows of vertices that ascend.
class CliqueList {
 public:
    CliqueList(const Graph& graph, int size, int most)
        : size_(size), most_(most), adjacent_(graph.size, Bits(graph.size)), every_(graph.size) {
        for (Vertex v = 0; v < graph.size; ++v) {
            every_.set(v);
            for (Vertex u : graph.neighbours(v))
                if (u > v) adjacent_[v].set(u);
        }
    }

    void run() { grow(every_, size_); }

    std::vector<Vertex> members;
    std::size_t count() const { return members.size() / size_; }

 private:
    // Whether to stop.
    bool grow(const Bits& among, int missing) {
        if (missing == 0) {
            members.insert(members.end(), clique_.begin(), clique_.end());
            return count() >= most_;
        }
        if (++sets_ > 200 * most_) return true;
        if (among.count() < missing) return false;
        return among.any([&](Vertex v) {
            clique_.push_back(v);
            const bool stop = grow(among & adjacent_[v], missing - 1);
            clique_.pop_back();
            return stop;
        });
    }

    const int size_;
    const std::size_t most_;
    std::vector<Bits> adjacent_;  // later vertices only
    Bits every_;
    std::vector<Vertex> clique_;
    std::size_t sets_ = 0;
};

Out2<Vertex> cliques_of_size(const StoredGraph& stored, int size, int most) {
    if (size < 1 || most < 0) throw std::invalid_argument("size must be positive");
    CliqueList list(stored.view(), size, most);
    if (most > 0) unlocked([&] { list.run(); });
    const std::size_t count = list.count();
    return to_numpy(std::move(list.members), count, static_cast<std::size_t>(size));
}

}  // namespace

void bind_deductions(nb::module_& m) {
    m.def("clique_deductions", &clique_deductions, nb::arg("graph"), nb::arg("n_clusters"),
          nb::arg("stopper"));
    m.def("cliques_of_size", &cliques_of_size, nb::arg("graph"), nb::arg("size"), nb::arg("most"));
}

}  // namespace kempe
