#include "module.h"

NB_MODULE(_core, m) {
    m.doc() = "Compiled kernels of kempe: arrays in, arrays out.";
    kempe::bind_annealing(m);
    kempe::bind_assignment(m);
    kempe::bind_branching(m);
    kempe::bind_breadth_first(m);
    kempe::bind_chains(m);
    kempe::bind_cliques(m);
    kempe::bind_clusters(m);
    kempe::bind_cost_assignment(m);
    kempe::bind_crowd(m);
    kempe::bind_cuts(m);
    kempe::bind_deductions(m);
    kempe::bind_dsatur(m);
    kempe::bind_edges(m);
    kempe::bind_empty_clusters(m);
    kempe::bind_enumeration(m);
    kempe::bind_fewest_broken(m);
    kempe::bind_graph(m);
    kempe::bind_inertia_annealing(m);
    kempe::bind_instance(m);
    kempe::bind_moves(m);
    kempe::bind_mwis(m);
    kempe::bind_ordered_assignment(m);
    kempe::bind_peel(m);
    kempe::bind_perturb(m);
    kempe::bind_pricing(m);
    kempe::bind_proper(m);
    kempe::bind_refinement(m);
    kempe::bind_saturation_assignment(m);
    kempe::bind_seeding(m);
    kempe::bind_separation(m);
    kempe::bind_sequential(m);
    kempe::bind_soft_pairs(m);
    kempe::bind_stopper(m);
    kempe::bind_stray_output(m);
    kempe::bind_supernodes(m);
    kempe::bind_tabu(m);
    kempe::bind_three_colour(m);
    kempe::bind_transport(m);
}
