#include "engine/finders/small.h"

namespace kempe {

KEMPE_FOR_ALL_RULES(SmallSweep);

}  // namespace kempe
