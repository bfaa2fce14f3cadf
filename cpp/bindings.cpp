#include "bindings.h"

NB_MODULE(_core, m) {
    m.doc() = "Compiled kernels of kempe: arrays in, arrays out.";
    kempe::bind_instance(m);
    kempe::bind_supernodes(m);
    kempe::bind_clusters(m);
    kempe::bind_dsatur(m);
    kempe::bind_stopper(m);
    kempe::bind_seeding(m);
    kempe::bind_sequential(m);
}
