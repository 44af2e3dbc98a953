// TooManyCooks' executor with a given number of workers.
#ifndef BENCH_COMMON_TOOMANYCOOKS_HPP
#define BENCH_COMMON_TOOMANYCOOKS_HPP

#include <tmc/all_headers.hpp>

#include <utility>

namespace bench {

class toomanycooks {
  public:
    explicit toomanycooks(unsigned workers) { executor_.set_thread_count(workers).init(); }
    ~toomanycooks() { executor_.teardown(); }
    toomanycooks(const toomanycooks&) = delete;
    toomanycooks& operator=(const toomanycooks&) = delete;

    template <class T>
    T run(tmc::task<T> root) {
        return tmc::post_waitable(executor_, std::move(root)).get();
    }

  private:
    tmc::ex_cpu executor_;
};

}  // namespace bench

#endif
