// The functions that bind each part of the core to Python.
#pragma once

#include <nanobind/nanobind.h>

namespace kempe {

void bind_annealing(nanobind::module_& m);
void bind_assignment(nanobind::module_& m);
void bind_branching(nanobind::module_& m);
void bind_breadth_first(nanobind::module_& m);
void bind_chains(nanobind::module_& m);
void bind_cliques(nanobind::module_& m);
void bind_clusters(nanobind::module_& m);
void bind_cost_assignment(nanobind::module_& m);
void bind_crowd(nanobind::module_& m);
void bind_cuts(nanobind::module_& m);
void bind_deductions(nanobind::module_& m);
void bind_dsatur(nanobind::module_& m);
void bind_edges(nanobind::module_& m);
void bind_empty_clusters(nanobind::module_& m);
void bind_enumeration(nanobind::module_& m);
void bind_fewest_broken(nanobind::module_& m);
void bind_graph(nanobind::module_& m);
void bind_inertia_annealing(nanobind::module_& m);
void bind_instance(nanobind::module_& m);
void bind_moves(nanobind::module_& m);
void bind_mwis(nanobind::module_& m);
void bind_ordered_assignment(nanobind::module_& m);
void bind_peel(nanobind::module_& m);
void bind_perturb(nanobind::module_& m);
void bind_pricing(nanobind::module_& m);
void bind_proper(nanobind::module_& m);
void bind_refinement(nanobind::module_& m);
void bind_saturation_assignment(nanobind::module_& m);
void bind_seeding(nanobind::module_& m);
void bind_separation(nanobind::module_& m);
void bind_sequential(nanobind::module_& m);
void bind_soft_pairs(nanobind::module_& m);
void bind_stopper(nanobind::module_& m);
void bind_stray_output(nanobind::module_& m);
void bind_supernodes(nanobind::module_& m);
void bind_tabu(nanobind::module_& m);
void bind_three_colour(nanobind::module_& m);
void bind_transport(nanobind::module_& m);

}  // namespace kempe
