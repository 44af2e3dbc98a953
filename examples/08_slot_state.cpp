// Shows a function whose state can't be shared: each slot of the stage constructs its own decoder on the
// stage's executor, uses it alone, and destroys it at the end.
#include <weir/executor/blocking_pool.hpp>
#include <weir/executor/thread_pool.hpp>
#include <weir/stages/pipeline.hpp>

#include <atomic>
#include <iostream>
#include <memory>
#include <ranges>

namespace {

std::atomic<int> decoders = 0;
std::atomic<int> open_now = 0;

class decoder {
  public:
    decoder() {
        ++decoders;
        ++open_now;
    }
    decoder(const decoder&) = delete;
    decoder& operator=(const decoder&) = delete;
    ~decoder() { --open_now; }

    int decode(int packet) {
        before_ = packet;
        return before_ * 2;
    }

  private:
    int before_ = 0;  // needs no lock: only one slot uses it
};

}  // namespace

int main() {
    weir::thread_pool pool(2);
    weir::blocking_pool threads(3);
    const auto own_decoder = [] {
        return [mine = std::make_unique<decoder>()](int packet) { return mine->decode(packet); };
    };
    // clang-format off
    auto pipeline = weir::source(std::views::iota(0, 1000))
                  | weir::pipe(weir::per_slot(own_decoder),
                               {.name = "decode", .concurrency = 3, .executor = &threads})
                  | weir::sink();
    // clang-format on
    long sum = 0;
    {
        auto run = pipeline.start(pool);
        for (const int frame : run) sum += frame;
    }
    std::cout << "sum " << sum << ", with " << decoders << " decoders, of which " << open_now
              << " are still open\n";
    return decoders == 3 && open_now == 0 && sum == 999'000 ? 0 : 1;
}
