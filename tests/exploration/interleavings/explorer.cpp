// The scheduler, and the memory of what runs under it.
// SPDX-License-Identifier: BSL-1.0
#include "explorer.hpp"

#include <cxxabi.h>
#include <execinfo.h>
#include <setjmp.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WATCHED_BY_ASAN
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define WATCHED_BY_ASAN
#endif
#if defined(WATCHED_BY_ASAN)
#include <sanitizer/common_interface_defs.h>
#endif

// Of the C++ runtime; libc++'s header doesn't have it.
namespace __cxxabiv1 {
struct __cxa_eh_globals;
extern "C" __cxa_eh_globals* __cxa_get_globals() noexcept;
}  // namespace __cxxabiv1

namespace interleavings {

namespace {

constexpr std::size_t stack_size = std::size_t{1} << 20;
constexpr std::size_t trace_length = 4096;
constexpr int most_threads = 16;

struct random_numbers {
    std::uint64_t state = 1;
    // Of Steele, Lea, Flood, "Fast splittable pseudorandom number generators" (OOPSLA 2014).
    std::uint64_t next() noexcept {
        std::uint64_t z = state += 0x9e3779b97f4a7c15ULL;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
        return z ^ (z >> 31);
    }
    std::uint64_t below(std::uint64_t n) noexcept { return next() % n; }
    bool one_in(std::uint64_t n) noexcept { return below(n) == 0; }
};

// What the C++ runtime knows of the exceptions of a thread.
struct exceptions_of_thread {
    void* caught = nullptr;
    unsigned uncaught = 0;
};

struct keepsake {
    void* object = nullptr;
    breaker destroy = nullptr;
    bool trivial = false;
};

enum class condition : unsigned char { runs, waits, over };

struct fiber {
    int number = 0;
    condition now = condition::over;
    const void* on = nullptr;  // the word, or the thread, that it waits for
    std::int64_t deadline = never;
    std::int64_t priority = 0;
    std::uint64_t stalled_until = 0;  // that step, while others can run
    bool begun = false;
    const char* what = "begins";
    where at;
    where started;
    std::function<void()> body;
    std::vector<keepsake> kept;
    exceptions_of_thread exceptions;
    // Of the system's part.
    void* stack = nullptr;
    ucontext_t first;
    jmp_buf later;
    bool entered = false;
    void* fake_stack = nullptr;
};

struct change {
    std::uint64_t step = 0;
    std::int64_t time = 0;
    int from = 0;
    int to = 0;
    const char* what = "";
    where at;
};

enum class kind : unsigned char { even, sticky, few, priorities };
constexpr const char* name_of[] = {"random", "random, seldom", "few, long preemptions", "priorities"};

struct state {
    std::array<fiber, most_threads> fibers;
    int threads = 0;
    fiber* current = nullptr;
    fiber* reporter = nullptr;
    jmp_buf home;
    void* home_fake_stack = nullptr;
    const void* home_bottom = nullptr;
    std::size_t home_size = 0;

    const char* scenario = "";
    std::uint64_t number = 0;  // of this schedule, from 1
    std::uint64_t seed = 0;
    std::uint64_t length = 0;
    options how;
    random_numbers random;
    kind strategy = kind::even;
    bool strict = true;
    bool spurious = false;
    bool fences = true;
    std::int64_t spin = 0;  // ns, what a look costs that is in vain
    std::uint64_t next_switch = 0;
    std::uint64_t next_jump = 0;
    std::vector<std::uint64_t> changes;  // the next one last
    std::int64_t lowest = 0;
    std::uint64_t switches = 0;
    std::vector<keepsake> of_process;
    std::vector<keepsake> for_good;
    std::array<change, trace_length> trace;
    std::size_t traced = 0;
    bool failing = false;
};
state the;

constexpr std::uint64_t far = ~std::uint64_t{0};

}  // namespace

// ---- memory ---------------------------------------------------------------------------------------------

namespace {

// Nothing that is freed is used again in the same schedule.
struct block {
    std::uint64_t schedule;  // 0: none
    std::size_t size;
    std::size_t offset;
    block* next;
};
constinit std::uint64_t schedules_begun = 0;
constinit block* quarantine = nullptr;
constinit std::int64_t living = 0;
constinit int inside = 0;  // of the explorer, whose memory is its own business

struct not_counted {
    not_counted() noexcept { ++inside; }
    ~not_counted() { --inside; }
};

#if !defined(WATCHED_BY_ASAN)
constexpr std::uint64_t freed = 0xf4eedf4eed;

void* get_memory(std::size_t size, std::size_t alignment) {
    const std::size_t offset = (sizeof(block) + alignment - 1) / alignment * alignment;
    const std::size_t whole = (offset + size + alignment - 1) / alignment * alignment;
    char* const raw = static_cast<char*>(std::aligned_alloc(alignment, whole));
    if (raw == nullptr) throw std::bad_alloc();
    const bool counts = count.active && inside == 0;
    living += counts ? 1 : 0;
    new (raw + offset - sizeof(block)) block{counts ? schedules_begun : 0, size, offset, nullptr};
    return raw + offset;
}

void free_memory(void* p) noexcept {
    if (p == nullptr) return;
    block* const b = reinterpret_cast<block*>(static_cast<char*>(p) - sizeof(block));
    if (b->schedule == freed) fail("memory is freed twice");
    if (b->schedule == 0 || b->schedule != schedules_begun) {
        std::free(static_cast<char*>(p) - b->offset);
        return;
    }
    --living;
    std::memset(p, 0xdd, b->size);
    b->schedule = freed;
    b->next = quarantine;
    quarantine = b;
}
#endif

void empty_quarantine() noexcept {
    while (block* const b = quarantine) {
        quarantine = b->next;
        std::free(reinterpret_cast<char*>(b) + sizeof(block) - b->offset);
    }
}

}  // namespace

// ---- switching ------------------------------------------------------------------------------------------

namespace {

exceptions_of_thread& exceptions_here() noexcept {
    return *reinterpret_cast<exceptions_of_thread*>(abi::__cxa_get_globals());
}

void print_stack() noexcept;

void arrive(fiber& self) noexcept {
#if defined(WATCHED_BY_ASAN)
    const void* bottom = nullptr;
    std::size_t size = 0;
    __sanitizer_finish_switch_fiber(self.fake_stack, &bottom, &size);
    if (the.home_bottom == nullptr) {
        the.home_bottom = bottom;
        the.home_size = size;
    }
#endif
    exceptions_here() = self.exceptions;
}

[[noreturn]] void go_to(fiber& next) noexcept {
    the.current = &next;
    if (next.entered) longjmp(next.later, 1);
    next.entered = true;
    setcontext(&next.first);
    std::abort();
}

void switch_to(fiber& next) noexcept {
    fiber& self = *the.current;
    self.exceptions = exceptions_here();
#if defined(WATCHED_BY_ASAN)
    __sanitizer_start_switch_fiber(&self.fake_stack, next.stack, stack_size);
#endif
    if (_setjmp(self.later) == 0) go_to(next);
    arrive(self);
    while (the.reporter != nullptr && the.reporter != &self) {
        print_stack();
        switch_to(*the.reporter);
    }
}

void go_home() noexcept {
    fiber& self = *the.current;
    self.exceptions = exceptions_here();
#if defined(WATCHED_BY_ASAN)
    __sanitizer_start_switch_fiber(&self.fake_stack, the.home_bottom, the.home_size);
#endif
    if (_setjmp(self.later) == 0) longjmp(the.home, 1);
    arrive(self);
}

void end_thread() noexcept;

// Each fiber is used for thread after thread.
void live() {
    arrive(*the.current);
    for (;;) {
        fiber& self = *the.current;
        self.begun = true;
        {
            std::function<void()> body;
            body.swap(self.body);
            try {
                body();
            } catch (const std::exception& e) {
                fail(("an exception leaves the scenario: " + std::string(e.what())).c_str());
            }
        }
        end_thread();
    }
}

void prepare(fiber& f) {
    if (f.stack != nullptr) return;
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    void* const memory = mmap(nullptr, stack_size + page, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED || mprotect(memory, page, PROT_NONE) != 0)
        fail("there is no memory for a stack");
    f.stack = static_cast<char*>(memory) + page;
    getcontext(&f.first);
    f.first.uc_stack.ss_sp = f.stack;
    f.first.uc_stack.ss_size = stack_size;
    f.first.uc_link = nullptr;
    makecontext(&f.first, &live, 0);
}

}  // namespace

// ---- what is said of a schedule that fails --------------------------------------------------------------

namespace {

std::string_view file_of(const where& at) noexcept {
    std::string_view name = at.file_name();
    const std::size_t folder = name.rfind("/weir/");
    name.remove_prefix(folder == name.npos ? std::min(name.size(), name.rfind('/') + 1) : folder + 6);
    return name;
}

void print_place(const where& at) noexcept {
    const std::string_view file = file_of(at);
    std::printf("%.*s:%u", static_cast<int>(file.size()), file.data(), static_cast<unsigned>(at.line()));
}

// The functions of the library and of the scenario, innermost first.
void print_stack() noexcept {
    void* frames[64];
    const int depth = backtrace(frames, 64);
    char** const symbols = backtrace_symbols(frames, depth);
    int printed = 0;
    for (int i = 0; i < depth && printed < 12; ++i) {
        std::string_view line = symbols[i];
        const std::size_t begin = line.find('(');
        const std::size_t end = line.find('+', begin);
        if (begin == line.npos || end == line.npos || end == begin + 1) continue;
        const std::string mangled(line.substr(begin + 1, end - begin - 1));
        char* const text = abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, nullptr);
        std::string name = text == nullptr ? mangled : text;
        std::free(text);
        if (name.find("interleavings::") == 0 || name.find("std::") == 0 || name.find("weir") == name.npos)
            continue;
        for (const std::string_view noise :
             {"<weir::detail::standard_platform>", "weir::detail::", "weir::"}) {
            for (std::size_t at = name.find(noise); at != name.npos; at = name.find(noise))
                name.erase(at, noise.size());
        }
        if (name.size() > 110) name = name.substr(0, 107) + "...";
        std::printf("        %s\n", name.c_str());
        ++printed;
    }
    std::free(symbols);
}

void print_schedule() noexcept {
    const std::size_t shown = the.how.length != 0 ? 400 : 24;
    const std::size_t first = the.traced > shown ? the.traced - shown : 0;
    std::printf("  the last of %llu switches in %llu steps (%s, %s time%s%s):\n",
                static_cast<unsigned long long>(the.switches), static_cast<unsigned long long>(count.steps),
                name_of[static_cast<int>(the.strategy)], the.strict ? "strict" : "loose",
                the.spurious ? ", waits end early" : "", the.fences ? "" : ", no fences");
    for (std::size_t i = std::max(first, the.traced > trace_length ? the.traced - trace_length : 0);
         i < the.traced; ++i) {
        const change& c = the.trace[i % trace_length];
        std::printf("    %8llu %12lld ns  thread %d, which %s at ", static_cast<unsigned long long>(c.step),
                    static_cast<long long>(c.time), c.from, c.what);
        print_place(c.at);
        std::printf(" -> thread %d\n", c.to);
    }
    std::printf("  the threads:\n");
    for (int i = 0; i < the.threads; ++i) {
        fiber& f = the.fibers[static_cast<std::size_t>(i)];
        std::printf("    %d%s ", f.number, &f == the.current ? " (runs)" : "");
        if (f.now == condition::over) {
            std::printf("is over\n");
            continue;
        }
        std::printf("%s, %s at ",
                    f.now == condition::waits ? f.deadline == never ? "waits without a limit" : "waits"
                                              : "could run",
                    f.what);
        print_place(f.at);
        std::printf(", started at ");
        print_place(f.started);
        std::printf("\n");
        if (!f.begun) continue;
        if (&f == the.current) {
            print_stack();
        } else {
            the.reporter = the.current;
            switch_to(f);
            the.reporter = nullptr;
        }
    }
}

void on_signal(int signal) {
    static bool again = false;
    if (!std::exchange(again, true)) {
        std::fflush(stderr);
        std::printf("schedule %llu of %s fails: the program ends by signal %d (%s)\n",
                    static_cast<unsigned long long>(the.number), the.scenario, signal,
                    signal == SIGABRT ? "an assertion, or std::terminate" : "memory that is not there");
        std::printf("  again: WEIR_SEED=%llu:%llu with the scenario's name\n",
                    static_cast<unsigned long long>(the.seed), static_cast<unsigned long long>(the.length));
        if (the.current != nullptr) print_stack();
        std::fflush(stdout);
    }
    std::_Exit(1);
}

void expect_signals() {
    static char stack[1 << 16];
    stack_t where_to{};
    where_to.ss_sp = stack;
    where_to.ss_size = sizeof stack;
    sigaltstack(&where_to, nullptr);
    struct sigaction what{};
    what.sa_handler = on_signal;
    what.sa_flags = SA_ONSTACK;
    for (const int signal : {SIGABRT, SIGSEGV, SIGBUS}) sigaction(signal, &what, nullptr);
}

}  // namespace

void fail(const char* what, const where& at) noexcept {
    const not_counted mine;
    count.active = false;
    if (!std::exchange(the.failing, true)) {
        std::fflush(stderr);
        std::printf("schedule %llu of %s fails: %s (at ", static_cast<unsigned long long>(the.number),
                    the.scenario, what);
        print_place(at);
        std::printf(")\n  again: WEIR_SEED=%llu:%llu with the scenario's name\n",
                    static_cast<unsigned long long>(the.seed), static_cast<unsigned long long>(the.length));
        if (the.current != nullptr) print_schedule();
        std::fflush(stdout);
    }
    std::_Exit(1);
}

// ---- who goes on ----------------------------------------------------------------------------------------

namespace {

void reckon_deadlines() noexcept {
    count.next_deadline = never;
    for (int i = 0; i < the.threads; ++i) {
        const fiber& f = the.fibers[static_cast<std::size_t>(i)];
        if (f.now == condition::waits) count.next_deadline = std::min(count.next_deadline, f.deadline);
    }
}

void runs_again(fiber& f) noexcept {
    f.now = condition::runs;
    f.deadline = never;
    count.next_decision = 0;
}

void end_waits_that_are_due() noexcept {
    if (count.now < count.next_deadline) return;
    for (int i = 0; i < the.threads; ++i) {
        fiber& f = the.fibers[static_cast<std::size_t>(i)];
        if (f.now == condition::waits && f.deadline <= count.now) runs_again(f);
    }
    reckon_deadlines();
}

// From now on so many steps lie before the next switch.
void plan_switch() noexcept {
    switch (the.strategy) {
        case kind::even:
            the.next_switch = count.steps + 1;
            break;
        case kind::sticky:
            the.next_switch = count.steps + 1 + the.random.below(2 * 12);
            break;
        case kind::few:
        case kind::priorities:
            the.next_switch = far;
            if (!the.changes.empty()) {
                the.next_switch = the.changes.back();
                the.changes.pop_back();
            }
            break;
    }
}

void plan_jump() noexcept { the.next_jump = the.strict ? far : count.steps + 1 + the.random.below(400); }

fiber* choose(fiber& self, bool leaves) noexcept {
    fiber* all[most_threads];
    std::size_t n = 0;
    if (the.strategy == kind::few && count.steps >= the.next_switch) {
        self.stalled_until = count.steps + the.random.below(the.length + 1);
        plan_switch();
    }
    for (int i = 0; i < the.threads; ++i) {
        fiber& f = the.fibers[static_cast<std::size_t>(i)];
        if (f.now == condition::runs && f.stalled_until <= count.steps && !(leaves && &f == &self))
            all[n++] = &f;
    }
    const bool can_stay = self.now == condition::runs;
    if (n == 0 && !(can_stay && self.stalled_until <= count.steps)) {
        // Those that are stalled, or none.
        for (int i = 0; i < the.threads; ++i) {
            fiber& f = the.fibers[static_cast<std::size_t>(i)];
            if (f.now == condition::runs) all[n++] = &f;
            f.stalled_until = 0;
        }
    }
    if (n == 0) return can_stay ? &self : nullptr;
    if (the.strategy == kind::priorities) {
        if (leaves && can_stay) self.priority = --the.lowest;
        if (count.steps >= the.next_switch) {
            self.priority = --the.lowest;
            plan_switch();
        }
        fiber* best = leaves && can_stay ? &self : all[0];
        for (std::size_t i = 0; i < n; ++i) {
            if (all[i]->priority > best->priority) best = all[i];
        }
        return best;
    }
    if (can_stay && !leaves && count.steps < the.next_switch && self.stalled_until <= count.steps)
        return &self;
    if (count.steps >= the.next_switch) plan_switch();
    return all[the.random.below(n)];
}

// The calling thread waits, or is asked to let others go on.
void pass_on(bool leaves) noexcept {
    fiber& self = *the.current;
    if (count.steps > the.how.most_steps) fail("it goes on without end", self.at);
    if (count.steps >= the.next_jump) {
        if (count.next_deadline != never) count.now = std::max(count.now, count.next_deadline);
        plan_jump();
    }
    end_waits_that_are_due();
    fiber* next = choose(self, leaves);
    while (next == nullptr) {
        // Nobody can run: time passes.
        if (count.next_deadline == never) fail("all threads wait, and nothing will wake them", self.at);
        // Waits that end nearly at once end together.
        count.now =
            std::max(count.now, count.next_deadline) + static_cast<std::int64_t>(the.random.below(2'000));
        end_waits_that_are_due();
        next = choose(self, leaves);
    }
    count.next_decision = std::min({the.next_switch, the.next_jump, the.how.most_steps + 1});
    if (next == &self) return;
    the.trace[the.traced++ % trace_length] = {count.steps,  count.now, self.number,
                                              next->number, self.what, self.at};
    ++the.switches;
    switch_to(*next);
}

void end_thread() noexcept {
    fiber& self = *the.current;
    self.what = "ends";
    self.at = where::current();
    while (true) {
        keepsake last;
        for (std::size_t i = self.kept.size(); i-- > 0;) {
            keepsake& k = self.kept[i];
            if (k.object == nullptr || k.trivial) continue;
            last = std::exchange(k, {});
            break;
        }
        if (last.object == nullptr) break;
        last.destroy(last.object);
    }
    step("ends", where::current());
    self.now = condition::over;
    if (&self == the.fibers.data()) {
        for (int i = 1; i < the.threads; ++i) {
            if (the.fibers[static_cast<std::size_t>(i)].now != condition::over) {
                fail("the scenario is over, and not all its threads are");
            }
        }
        go_home();
        return;
    }
    for (int i = 0; i < the.threads; ++i) {
        fiber& f = the.fibers[static_cast<std::size_t>(i)];
        if (f.now == condition::waits && f.on == &self) runs_again(f);
    }
    pass_on(true);
}

fiber& make_thread(std::function<void()> body, const where& at) {
    if (the.threads == most_threads) fail("too many threads", at);
    fiber& f = the.fibers[static_cast<std::size_t>(the.threads++)];
    f.number = the.threads;
    f.now = condition::runs;
    f.deadline = never;
    f.stalled_until = 0;
    f.begun = false;
    f.what = "begins";
    f.at = f.started = at;
    f.body = std::move(body);
    f.exceptions = {};
    f.priority = 1000 + static_cast<std::int64_t>(the.random.below(1 << 20));
    const not_counted mine;
    prepare(f);
    return f;
}

}  // namespace

void decide(const char* what, const where& at) noexcept {
    if (inside != 0) return;
    the.current->what = what;
    the.current->at = at;
    pass_on(false);
}

void wait(const void* word, std::int64_t timeout_ns, const where& at) noexcept {
    if (!count.active || timeout_ns == 0) return;
    fiber& self = *the.current;
    self.what = "waits";
    self.at = at;
    if (the.spurious && the.random.one_in(8)) return;
    self.now = condition::waits;
    self.on = word;
    self.deadline = timeout_ns < 0 || timeout_ns > never - count.now ? never : count.now + timeout_ns;
    count.next_deadline = std::min(count.next_deadline, self.deadline);
    pass_on(true);
}

void wake(const void* word, bool all, const where& at) noexcept {
    step("wakes", at);
    if (!count.active) return;
    fiber* waiting[most_threads];
    std::size_t n = 0;
    for (int i = 0; i < the.threads; ++i) {
        fiber& f = the.fibers[static_cast<std::size_t>(i)];
        if (f.now == condition::waits && f.on == word) waiting[n++] = &f;
    }
    if (n == 0) return;
    if (all) {
        for (std::size_t i = 0; i < n; ++i) runs_again(*waiting[i]);
    } else {
        runs_again(*waiting[n == 1 ? 0 : the.random.below(n)]);
    }
    reckon_deadlines();
}

void spin(const where& at) noexcept {
    if (!count.active) return;
    ++count.steps;
    count.now += the.spin;
    the.current->what = "spins";
    the.current->at = at;
    pass_on(true);
}

std::int64_t read_clock() noexcept {
    count.now += 25;
    if (count.now >= count.next_deadline) count.next_decision = 0;
    return count.now;
}

std::uint64_t draw(std::uint64_t below) noexcept { return the.random.below(below); }
bool fences_work() noexcept { return the.fences; }
int this_thread() noexcept { return the.current == nullptr ? 0 : the.current->number; }
bool strict() noexcept { return the.strict; }

int start(std::function<void()> body, const where& at) {
    const int number = make_thread(std::move(body), at).number;
    count.next_decision = 0;
    step("starts a thread", at);
    return number;
}

void join(int thread, const where& at) noexcept {
    step("joins", at);
    const fiber& other = the.fibers[static_cast<std::size_t>(thread - 1)];
    fiber& self = *the.current;
    while (other.now != condition::over) {
        self.what = "joins";
        self.at = at;
        self.now = condition::waits;
        self.on = &other;
        self.deadline = never;
        pass_on(true);
    }
}

namespace {

keepsake& index_of(std::vector<keepsake>& all, int type) {
    const not_counted mine;
    if (all.size() <= static_cast<std::size_t>(type)) all.resize(static_cast<std::size_t>(type) + 1);
    return all[static_cast<std::size_t>(type)];
}

// What the program's own thread has, outside of all schedules.
std::vector<keepsake> outside;

void drop(std::vector<keepsake>& all) noexcept {
    for (std::size_t i = all.size(); i-- > 0;) {
        const keepsake k = std::exchange(all[i], {});
        if (k.object != nullptr) k.destroy(k.object);
    }
}

}  // namespace

void* of_thread(int type, maker make, breaker destroy, bool trivial) noexcept {
    std::vector<keepsake>& all = the.current == nullptr ? outside : the.current->kept;
    if (index_of(all, type).object == nullptr) {
        void* const object = make();
        index_of(all, type) = {object, destroy, trivial};
    }
    return index_of(all, type).object;
}

void* of_process(int type, maker make, breaker destroy) noexcept {
    if (index_of(the.of_process, type).object == nullptr) {
        void* const object = make();
        index_of(the.of_process, type) = {object, destroy, false};
    }
    return index_of(the.of_process, type).object;
}

void keep_for_good(void* object, breaker destroy) noexcept {
    const not_counted mine;
    the.for_good.push_back({object, destroy, false});
}

int next_type() noexcept {
    static int last = 0;
    return last++;
}

// ---- schedule after schedule ----------------------------------------------------------------------------

namespace {

void plan(std::uint64_t seed) {
    the.seed = seed;
    the.random.state = seed;
    the.strategy = the.length == 0 ? kind::even : static_cast<kind>(the.random.below(4));
    the.strict = the.random.one_in(2);
    the.spurious = !the.strict && the.random.one_in(2);
    the.fences = !the.random.one_in(4);
    the.spin = std::int64_t{100} << (2 * the.random.below(3));
    the.changes.clear();
    if (the.strategy == kind::few || the.strategy == kind::priorities) {
        const std::uint64_t points = the.random.below(5);
        for (std::uint64_t i = 0; i < points; ++i) the.changes.push_back(1 + the.random.below(the.length));
        std::ranges::sort(the.changes, std::greater<>());
    }
    the.lowest = 0;
    the.traced = the.switches = 0;
    count.steps = 0;
    count.now = 1'000'000'000 + static_cast<std::int64_t>(the.random.below(4'000'000));
    count.next_deadline = never;
    plan_switch();
    plan_jump();
    count.next_decision = 0;
}

void run_one(const std::function<void()>& scenario) {
    the.threads = 0;
    living = 0;
    ++schedules_begun;
    fiber& first = make_thread(scenario, where::current());
    count.active = true;
#if defined(WATCHED_BY_ASAN)
    __sanitizer_start_switch_fiber(&the.home_fake_stack, first.stack, stack_size);
#endif
    if (_setjmp(the.home) == 0) go_to(first);
#if defined(WATCHED_BY_ASAN)
    __sanitizer_finish_switch_fiber(the.home_fake_stack, nullptr, nullptr);
#endif
    the.current = nullptr;
    count.active = false;
    for (int i = 0; i < the.threads; ++i) drop(the.fibers[static_cast<std::size_t>(i)].kept);
    drop(the.for_good);
    the.for_good.clear();
    drop(the.of_process);
    empty_quarantine();
}

}  // namespace

explored explore(const char* name, const std::function<void()>& scenario, const options& how) {
    static const bool expected = (expect_signals(), true);
    static_cast<void>(expected);
    the.scenario = name;
    the.how = how;
    the.length = 0;
    explored all;
    if (how.length != 0) {
        the.length = how.length;
        the.number = 1;
        plan(how.seed);
        run_one(scenario);
        return {1, count.steps, the.switches, the.threads};
    }
    random_numbers seeds;
    seeds.state = how.seed;
    for (const char c : std::string_view(name)) seeds.state = seeds.next() ^ static_cast<unsigned char>(c);
    for (std::uint64_t i = 1; i <= how.schedules; ++i) {
        the.number = i;
        plan(seeds.next() >> 16);
        run_one(scenario);
        all.schedules += 1;
        all.steps += count.steps;
        all.switches += the.switches;
        all.threads = std::max(all.threads, the.threads);
        // What is made once for all schedules is made in the first.
        if (living != 0 && i > 1) fail("not all memory was freed");
        if (the.length == 0) the.length = std::max<std::uint64_t>(count.steps, 1);
    }
    return all;
}

}  // namespace interleavings

#if !defined(WATCHED_BY_ASAN)
void* operator new(std::size_t size) { return interleavings::get_memory(size, 16); }
void* operator new(std::size_t size, std::align_val_t a) {
    return interleavings::get_memory(size, std::max<std::size_t>(16, static_cast<std::size_t>(a)));
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
    return interleavings::get_memory(size, 16);
}
void* operator new(std::size_t size, std::align_val_t a, const std::nothrow_t&) noexcept {
    return interleavings::get_memory(size, std::max<std::size_t>(16, static_cast<std::size_t>(a)));
}
void operator delete(void* p) noexcept { interleavings::free_memory(p); }
void operator delete(void* p, std::size_t) noexcept { interleavings::free_memory(p); }
void operator delete(void* p, std::align_val_t) noexcept { interleavings::free_memory(p); }
void operator delete(void* p, std::size_t, std::align_val_t) noexcept { interleavings::free_memory(p); }
#endif
