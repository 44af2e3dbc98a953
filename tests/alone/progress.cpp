#include <weir/progress.hpp>

weir::checkpoint after(const weir::checkpoint& start, const weir::draw& taken) {
    weir::progress done(start);
    done.took(taken);
    return done.checkpoint();
}
