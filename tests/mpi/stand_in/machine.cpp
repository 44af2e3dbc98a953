// SPDX-License-Identifier: BSL-1.0
#include "machine.hpp"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <utility>

struct stand_in_group {
    std::vector<int> members;  // ranks in the world
};

// One rank's view of a communicator; `context` is common to its ranks.
struct stand_in_comm {
    std::string context;
    std::vector<int> members;         // ranks in the world
    int rank = 0;                     // in `members`
    std::map<std::string, int> made;  // how often each kind of communicator was made of this one
    int collectives = 0;
};

struct stand_in_request {
    enum kind : std::uint8_t { send, receive, collective } what = send;
    int owner = 0;  // rank in the world
    std::string context;
    int source = 0, tag = 0;  // of a receive
    std::byte* into = nullptr;
    std::size_t room = 0;
    bool matched = false, complete = false, cancelled = false, is_freed = false;
    int delay = 0;
    int error = MPI_SUCCESS;
    MPI_Status status{};
    stand_in_message* message = nullptr;  // of a send by rendezvous
    std::string collective_name;
    int collective_number = 0;
};

struct stand_in_message {
    std::string context;
    int source = 0, tag = 0;  // rank of the communicator
    int to = 0;               // rank in the world
    std::vector<std::byte> data;
    const std::byte* at = nullptr;  // of a rendezvous: the sender's memory
    std::size_t size = 0;
    int delay = 0;
    stand_in_request* sender = nullptr;  // of a rendezvous
};

namespace {

struct part {  // of one rank in a collective operation
    stand_in_request* request = nullptr;
    std::vector<std::byte> given;
    std::byte* to = nullptr;
    std::vector<std::size_t> places;
};
struct collective {
    std::string what;
    std::vector<part> parts;
    int root = -1;
    MPI_Datatype type = MPI_BYTE;
    MPI_Op op = MPI_SUM;
    std::size_t begun = 0;
};

struct rank_state {
    bool initialised = false, finalised = false;
    int level = 0;
    std::thread::id thread;
    std::atomic<int> inside{0};
    std::unique_ptr<stand_in_comm> world;
};

struct fault {
    std::string function;
    int left;
    int error;
    bool at_end;
};

struct machine {
    std::recursive_mutex lock;
    stand_in::settings how;
    std::uint64_t random = 1;
    std::vector<std::unique_ptr<rank_state>> ranks;
    std::list<std::unique_ptr<stand_in_request>> requests;
    std::list<std::unique_ptr<stand_in_message>> messages;  // in the order in which they were sent
    std::list<std::unique_ptr<stand_in_message>> matched;   // by MPI_Improbe
    std::set<std::unique_ptr<stand_in_comm>> comms;
    std::set<std::unique_ptr<stand_in_group>> groups;
    std::map<std::pair<std::string, int>, collective> collectives;
    std::vector<fault> faults;
    std::vector<stand_in::failed_call> failed;
    std::function<void()> meanwhile;
    std::map<std::string, std::size_t> called;
    stand_in::report told;
};

machine& all() {
    static machine one;
    return one;
}
thread_local int me = 0;

int draw() {
    machine& m = all();
    if (m.how.seed == 0) return 0;
    m.random = m.random * 6364136223846793005U + 1442695040888963407U;
    return static_cast<int>((m.random >> 33U) % static_cast<std::uint64_t>(m.how.longest_delay + 1));
}
std::size_t size_of(MPI_Datatype type) {
    const auto size = static_cast<std::size_t>(type & 15);
    return size == 0 ? 16 : size;
}
std::size_t bytes_of(int n, MPI_Datatype type) { return static_cast<std::size_t>(n) * size_of(type); }
void wrong(const std::string& what) { all().told.wrong.push_back(what); }

int world_rank(MPI_Comm comm) { return comm->members[static_cast<std::size_t>(comm->rank)]; }
thread_local bool is_inside = false;

// A call: under the lock of the machine; checks the rules for threads, if it is known for which rank.
class call {
  public:
    explicit call(const char* name) : held_(lock()) { begin(name, ""); }
    call(const char* name, const rank_state& r, bool needs_mpi = true) : held_(lock()) {
        begin(name, "");
        if (needs_mpi) check(name, r);
    }
    call(const char* name, MPI_Comm comm) : held_(lock()) {
        begin(name, comm->context);
        check(name, *all().ranks.at(static_cast<std::size_t>(world_rank(comm))));
    }
    call(const char* name, int rank, const std::string& context) : held_(lock()) {
        begin(name, context);
        check(name, *all().ranks.at(static_cast<std::size_t>(rank)));
    }
    int error() const { return error_; }
    int at_end() const { return at_end_; }

  private:
    static std::unique_lock<std::recursive_mutex> lock() {
        machine& m = all();
        if (m.meanwhile && !std::exchange(is_inside, true)) {
            m.meanwhile();
            is_inside = false;
        }
        return std::unique_lock(m.lock);
    }
    void begin(const char* name, const std::string& context) {
        machine& m = all();
        ++m.called[name];
        ++m.told.calls;
        for (fault& f : m.faults) {
            if (f.function != name || f.left-- != 0) continue;
            (f.at_end ? at_end_ : error_) = f.error;
            m.failed.push_back({name, context});
        }
    }
    static void check(const std::string& name, const rank_state& r) {
        if (!r.initialised) wrong(name + " before MPI_Init_thread");
        if (r.finalised) wrong(name + " after MPI_Finalize");
        if (r.level < MPI_THREAD_SERIALIZED && r.thread != std::this_thread::get_id()) {
            wrong(name + " on another thread than MPI_Init_thread, which granted FUNNELED");
        }
    }

    std::unique_lock<std::recursive_mutex> held_;
    int error_ = MPI_SUCCESS;
    int at_end_ = MPI_SUCCESS;
};

bool fits(const stand_in_message& m, const std::string& context, int owner, int source, int tag) {
    return m.context == context && m.to == owner && (source == MPI_ANY_SOURCE || source == m.source) &&
           (tag == MPI_ANY_TAG || tag == m.tag);
}
// The first message that has arrived and fits. Messages of one sender don't overtake each other.
auto find_message(const std::string& context, int owner, int source, int tag) {
    auto& messages = all().messages;
    std::set<int> late;
    for (auto it = messages.begin(); it != messages.end(); ++it) {
        const stand_in_message& m = **it;
        if (m.context != context || m.to != owner) continue;
        if (m.delay > 0) late.insert(m.source);
        if (!late.contains(m.source) && fits(m, context, owner, source, tag)) return it;
    }
    return messages.end();
}

void deliver(stand_in_request& r, stand_in_message& m) {
    const std::size_t n = std::min(m.size, r.room);
    const std::byte* const from = m.at != nullptr ? m.at : m.data.data();
    if (n != 0) std::memcpy(r.into, from, n);
    r.matched = true;
    r.delay = draw();
    r.status = {m.source, m.tag, MPI_SUCCESS, static_cast<int>(n), 0};
    if (m.size > r.room) r.error = MPI_ERR_TRUNCATE;
    if (m.sender != nullptr) {
        m.sender->matched = true;
        m.sender->message = nullptr;
        m.sender->delay = draw();
    }
}

template <class T>
void reduce_as(std::vector<std::byte>& to, const std::vector<std::byte>& from, MPI_Op op) {
    for (std::size_t i = 0; i + sizeof(T) <= to.size(); i += sizeof(T)) {
        T a, b;
        std::memcpy(&a, &to[i], sizeof a);
        std::memcpy(&b, &from[i], sizeof b);
        if (op == MPI_SUM) a = static_cast<T>(a + b);
        if (op == MPI_MIN) a = std::min(a, b);
        if (op == MPI_MAX) a = std::max(a, b);
        std::memcpy(&to[i], &a, sizeof a);
    }
}
void reduce(std::vector<std::byte>& to, const std::vector<std::byte>& from, MPI_Datatype type, MPI_Op op) {
    switch (type) {
        case MPI_INT8_T:
            return reduce_as<std::int8_t>(to, from, op);
        case MPI_UINT8_T:
            return reduce_as<std::uint8_t>(to, from, op);
        case MPI_INT16_T:
            return reduce_as<std::int16_t>(to, from, op);
        case MPI_UINT16_T:
            return reduce_as<std::uint16_t>(to, from, op);
        case MPI_INT32_T:
            return reduce_as<std::int32_t>(to, from, op);
        case MPI_UINT32_T:
            return reduce_as<std::uint32_t>(to, from, op);
        case MPI_INT64_T:
            return reduce_as<std::int64_t>(to, from, op);
        case MPI_UINT64_T:
            return reduce_as<std::uint64_t>(to, from, op);
        case MPI_FLOAT:
            return reduce_as<float>(to, from, op);
        case MPI_DOUBLE:
            return reduce_as<double>(to, from, op);
        case MPI_LONG_DOUBLE:
            return reduce_as<long double>(to, from, op);
        default:
            wrong("a reduction of elements that are no numbers");
    }
}

void finish(collective& c) {
    std::vector<std::byte> joined;
    if (c.what == "reduce") {
        joined = c.parts[0].given;
        for (std::size_t i = 1; i < c.parts.size(); ++i) reduce(joined, c.parts[i].given, c.type, c.op);
    } else if (c.what == "bcast") {
        joined = c.parts[static_cast<std::size_t>(c.root)].given;
    }
    for (std::size_t i = 0; i < c.parts.size(); ++i) {
        part& p = c.parts[i];
        p.request->matched = true;
        p.request->delay = draw();
        if (p.to == nullptr || (c.what != "bcast" && c.root >= 0 && c.root != static_cast<int>(i))) continue;
        if (c.what != "gather") {
            if (!joined.empty()) std::memcpy(p.to, joined.data(), joined.size());
            continue;
        }
        std::size_t at = 0;
        for (std::size_t j = 0; j < c.parts.size(); ++j) {
            const auto& given = c.parts[j].given;
            if (!given.empty())
                std::memcpy(p.to + (p.places.empty() ? at : p.places[j]), given.data(), given.size());
            at += given.size();
        }
    }
}

stand_in_request* add(stand_in_request::kind what, MPI_Comm comm, int at_end) {
    auto r = std::make_unique<stand_in_request>();
    r->what = what;
    r->owner = world_rank(comm);
    r->context = comm->context;
    r->error = at_end;
    return all().requests.emplace_back(std::move(r)).get();
}

int collect(const char* name, const std::string& what, MPI_Comm comm, MPI_Request* request, const void* from,
            std::size_t bytes, void* to, int root = -1, MPI_Datatype type = MPI_BYTE, MPI_Op op = MPI_SUM,
            std::vector<std::size_t> places = {}) {
    const call c(name, comm);
    if (c.error() != MPI_SUCCESS) return c.error();
    const int number = comm->collectives++;
    collective& one = all().collectives[{comm->context, number}];
    if (one.begun == 0) {
        one.what = what;
        one.root = root;
        one.parts.resize(comm->members.size());
    }
    if (one.what != what || one.root != root) wrong("ranks call different collective operations");
    one.type = type;
    one.op = op;
    part& p = one.parts[static_cast<std::size_t>(comm->rank)];
    p.request = add(stand_in_request::collective, comm, c.at_end());
    p.request->collective_name = what;
    p.request->collective_number = number;
    p.to = static_cast<std::byte*>(to);
    p.places = std::move(places);
    const void* const given = from == MPI_IN_PLACE ? to : from;
    if (bytes != 0)
        p.given.assign(static_cast<const std::byte*>(given), static_cast<const std::byte*>(given) + bytes);
    *request = p.request;
    if (++one.begun == one.parts.size()) finish(one);
    return MPI_SUCCESS;
}

// What each call may do for the rank: messages arrive, receives find them, what is matched becomes complete.
void progress(int rank) {
    machine& m = all();
    for (auto& one : m.messages) {
        if (one->to == rank && one->delay > 0) --one->delay;
    }
    for (auto& r : m.requests) {
        if (r->owner != rank) continue;
        if (r->what == stand_in_request::receive && !r->matched && !r->cancelled) {
            const auto found = find_message(r->context, rank, r->source, r->tag);
            if (found != m.messages.end()) {
                deliver(*r, **found);
                m.messages.erase(found);
            }
        }
        if (r->matched && !r->complete && r->delay-- <= 0) r->complete = true;
    }
    std::erase_if(m.requests, [](const auto& r) { return r->is_freed && r->complete; });
}

// Takes a complete request away. Returns its error.
int take(MPI_Request* request, MPI_Status* status) {
    const stand_in_request& r = **request;
    MPI_Status s = r.status;
    s.MPI_ERROR = r.error;
    s.cancelled = r.cancelled ? 1 : 0;
    if (status != MPI_STATUS_IGNORE) *status = s;
    all().requests.remove_if([&](const auto& one) { return one.get() == &r; });
    *request = MPI_REQUEST_NULL;
    return s.MPI_ERROR;
}

MPI_Comm make(MPI_Comm from, const std::string& kind, std::vector<int> members) {
    auto made = std::make_unique<stand_in_comm>();
    made->context = from->context + '/' + kind + std::to_string(from->made[kind]++);
    const int rank = world_rank(from);
    made->rank = static_cast<int>(std::find(members.begin(), members.end(), rank) - members.begin());
    made->members = std::move(members);
    ++all().told.communicators;
    return all().comms.insert(std::move(made)).first->get();
}

}  // namespace

namespace stand_in {

void reset(const settings& how) {
    machine& m = all();
    const std::lock_guard held(m.lock);
    m.how = how;
    m.random = how.seed * 2 + 1;
    m.ranks.clear();
    m.requests.clear();
    m.messages.clear();
    m.matched.clear();
    m.comms.clear();
    m.groups.clear();
    m.collectives.clear();
    m.faults.clear();
    m.failed.clear();
    m.meanwhile = nullptr;
    m.called.clear();
    m.told = {};
    std::vector<int> members;
    for (int i = 0; i < how.ranks; ++i) members.push_back(i);
    for (int i = 0; i < how.ranks; ++i) {
        auto& r = m.ranks.emplace_back(std::make_unique<rank_state>());
        r->world = std::make_unique<stand_in_comm>(stand_in_comm{"world", members, i, {}, 0});
    }
    me = 0;
}
void as(int rank) { me = rank; }
void fail(const std::string& function, int nth, int error_class, bool at_end) {
    const std::lock_guard held(all().lock);
    all().faults.push_back({function, nth, error_class, at_end});
}
report look() {
    const std::lock_guard held(all().lock);
    report r = all().told;
    r.requests = all().requests.size();
    r.messages = all().messages.size() + all().matched.size();
    return r;
}
std::size_t num_calls(const std::string& function) {
    const std::lock_guard held(all().lock);
    return all().called[function];
}

std::vector<failed_call> failed() {
    const std::lock_guard held(all().lock);
    return all().failed;
}
std::vector<std::string> called() {
    const std::lock_guard held(all().lock);
    std::vector<std::string> names;
    for (const auto& one : all().called) names.push_back(one.first);
    return names;
}
void during_calls(std::function<void()> what) { all().meanwhile = std::move(what); }

}  // namespace stand_in

MPI_Comm stand_in_world() {
    const std::lock_guard held(all().lock);
    return all().ranks.at(static_cast<std::size_t>(me))->world.get();
}

namespace {
rank_state& mine() { return *all().ranks.at(static_cast<std::size_t>(me)); }
}  // namespace

int MPI_Init_thread(int*, char***, int required, int* provided) {
    rank_state& r = mine();
    const call c("MPI_Init_thread", r, false);
    if (c.error() != MPI_SUCCESS) return c.error();
    if (r.initialised) wrong("MPI_Init_thread twice");
    r.initialised = true;
    r.thread = std::this_thread::get_id();
    *provided = r.level = std::min(required, all().how.level);
    return MPI_SUCCESS;
}
int MPI_Initialized(int* flag) {
    const call c("MPI_Initialized", mine(), false);
    if (c.error() == MPI_SUCCESS) *flag = mine().initialised ? 1 : 0;
    return c.error();
}
int MPI_Finalized(int* flag) {
    const call c("MPI_Finalized", mine(), false);
    if (c.error() == MPI_SUCCESS) *flag = mine().finalised ? 1 : 0;
    return c.error();
}
int MPI_Query_thread(int* provided) {
    const call c("MPI_Query_thread", mine());
    if (c.error() == MPI_SUCCESS) *provided = mine().level;
    return c.error();
}
int MPI_Finalize() {
    rank_state& r = mine();
    const call c("MPI_Finalize", r);
    if (r.thread != std::this_thread::get_id()) wrong("MPI_Finalize on another thread than MPI_Init_thread");
    r.finalised = true;
    return c.error();
}
int MPI_Abort(MPI_Comm comm, int status) {
    const call c("MPI_Abort", comm);
    if (c.error() == MPI_SUCCESS) all().told.aborted = status;
    if (all().how.abort_exits) std::_Exit(status);
    return c.error();
}
int MPI_Error_class(int code, int* error_class) {
    const call c("MPI_Error_class");
    if (c.error() == MPI_SUCCESS) *error_class = code;
    return c.error();
}

int MPI_Comm_dup(MPI_Comm comm, MPI_Comm* made) {
    const call c("MPI_Comm_dup", comm);
    if (c.error() == MPI_SUCCESS) *made = make(comm, "dup", comm->members);
    return c.error();
}
int MPI_Comm_group(MPI_Comm comm, MPI_Group* group) {
    const call c("MPI_Comm_group", comm);
    if (c.error() != MPI_SUCCESS) return c.error();
    *group =
        all().groups.insert(std::make_unique<stand_in_group>(stand_in_group{comm->members})).first->get();
    return MPI_SUCCESS;
}
int MPI_Group_incl(MPI_Group group, int n, const int* ranks, MPI_Group* made) {
    const call c("MPI_Group_incl");
    if (c.error() != MPI_SUCCESS) return c.error();
    auto one = std::make_unique<stand_in_group>();
    for (int i = 0; i < n; ++i) one->members.push_back(group->members.at(static_cast<std::size_t>(ranks[i])));
    *made = all().groups.insert(std::move(one)).first->get();
    return MPI_SUCCESS;
}
int MPI_Group_free(MPI_Group* group) {
    const call c("MPI_Group_free");
    std::erase_if(all().groups, [&](const auto& one) { return one.get() == *group; });
    *group = MPI_GROUP_NULL;
    return c.error();
}
int MPI_Comm_create_group(MPI_Comm comm, MPI_Group group, int, MPI_Comm* made) {
    const call c("MPI_Comm_create_group", comm);
    if (c.error() != MPI_SUCCESS) return c.error();
    std::string kind = "group";
    for (const int r : group->members) kind += '.' + std::to_string(r);
    *made = make(comm, kind + '.', group->members);
    return MPI_SUCCESS;
}
int MPI_Comm_free(MPI_Comm* comm) {
    const call c("MPI_Comm_free", *comm);
    std::erase_if(all().comms, [&](const auto& one) { return one.get() == *comm; });
    --all().told.communicators;
    *comm = MPI_COMM_NULL;
    return c.error();
}
int MPI_Comm_rank(MPI_Comm comm, int* rank) {
    const call c("MPI_Comm_rank", comm);
    if (c.error() == MPI_SUCCESS) *rank = comm->rank;
    return c.error();
}
int MPI_Comm_size(MPI_Comm comm, int* size) {
    const call c("MPI_Comm_size", comm);
    if (c.error() == MPI_SUCCESS) *size = static_cast<int>(comm->members.size());
    return c.error();
}
int MPI_Comm_set_errhandler(MPI_Comm comm, MPI_Errhandler) {
    const call c("MPI_Comm_set_errhandler", comm);
    return c.error();
}

int MPI_Isend(const void* from, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request* request) {
    const call c("MPI_Isend", comm);
    if (c.error() != MPI_SUCCESS) return c.error();
    stand_in_request* const r = add(stand_in_request::send, comm, c.at_end());
    *request = r;
    auto m = std::make_unique<stand_in_message>();
    m->context = comm->context;
    m->source = comm->rank;
    m->to = comm->members.at(static_cast<std::size_t>(to));
    m->tag = tag;
    m->size = bytes_of(count, type);
    m->delay = draw();
    if (m->size > all().how.eager) {
        m->at = static_cast<const std::byte*>(from);
        m->sender = r;
        r->message = m.get();
    } else {
        const auto* const data = static_cast<const std::byte*>(from);
        if (m->size != 0) m->data.assign(data, data + m->size);
        r->matched = true;
        r->delay = draw();
    }
    all().messages.push_back(std::move(m));
    return MPI_SUCCESS;
}
int MPI_Irecv(void* into, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
              MPI_Request* request) {
    const call c("MPI_Irecv", comm);
    if (c.error() != MPI_SUCCESS) return c.error();
    stand_in_request* const r = add(stand_in_request::receive, comm, c.at_end());
    r->source = from;
    r->tag = tag;
    r->into = static_cast<std::byte*>(into);
    r->room = bytes_of(count, type);
    *request = r;
    return MPI_SUCCESS;
}
int MPI_Recv(void* into, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status* status) {
    const call c("MPI_Recv", comm);
    if (c.error() != MPI_SUCCESS) return c.error();
    const auto found = find_message(comm->context, world_rank(comm), from, tag);
    if (found == all().messages.end()) {
        wrong("MPI_Recv would block");
        return MPI_ERR_OTHER;
    }
    stand_in_request r;
    r.into = static_cast<std::byte*>(into);
    r.room = bytes_of(count, type);
    deliver(r, **found);
    all().messages.erase(found);
    if (status != MPI_STATUS_IGNORE) *status = r.status;
    return r.error;
}
int MPI_Iprobe(int from, int tag, MPI_Comm comm, int* flag, MPI_Status* status) {
    const call c("MPI_Iprobe", comm);
    if (c.error() != MPI_SUCCESS) return c.error();
    progress(world_rank(comm));
    const auto found = find_message(comm->context, world_rank(comm), from, tag);
    *flag = found != all().messages.end() ? 1 : 0;
    if (*flag != 0) *status = {(*found)->source, (*found)->tag, 0, static_cast<int>((*found)->size), 0};
    return MPI_SUCCESS;
}
int MPI_Improbe(int from, int tag, MPI_Comm comm, int* flag, MPI_Message* message, MPI_Status* status) {
    const call c("MPI_Improbe", comm);
    if (c.error() != MPI_SUCCESS) return c.error();
    progress(world_rank(comm));
    const auto found = find_message(comm->context, world_rank(comm), from, tag);
    *flag = found != all().messages.end() ? 1 : 0;
    if (*flag == 0) return MPI_SUCCESS;
    *status = {(*found)->source, (*found)->tag, 0, static_cast<int>((*found)->size), 0};
    *message = found->get();
    all().matched.push_back(std::move(*found));
    all().messages.erase(found);
    return MPI_SUCCESS;
}
int MPI_Imrecv(void* into, int count, MPI_Datatype type, MPI_Message* message, MPI_Request* request) {
    const std::lock_guard held(all().lock);
    stand_in_message& m = **message;
    const call c("MPI_Imrecv", m.to, m.context);
    if (c.error() != MPI_SUCCESS) return c.error();
    auto r = std::make_unique<stand_in_request>();
    r->what = stand_in_request::receive;
    r->owner = m.to;
    r->error = c.at_end();
    r->into = static_cast<std::byte*>(into);
    r->room = bytes_of(count, type);
    deliver(*r, m);
    *request = all().requests.emplace_back(std::move(r)).get();
    all().matched.remove_if([&](const auto& one) { return one.get() == &m; });
    *message = MPI_MESSAGE_NULL;
    return MPI_SUCCESS;
}

namespace {
int test(MPI_Request* request, int* flag, MPI_Status* status) {
    progress((*request)->owner);
    *flag = (*request)->complete ? 1 : 0;
    return *flag != 0 ? take(request, status) : MPI_SUCCESS;
}
}  // namespace

int MPI_Test(MPI_Request* request, int* flag, MPI_Status* status) {
    if (*request == MPI_REQUEST_NULL) {
        *flag = 1;
        return MPI_SUCCESS;
    }
    const call c("MPI_Test", (*request)->owner, (*request)->context);
    return c.error() != MPI_SUCCESS ? c.error() : test(request, flag, status);
}
int MPI_Testsome(int count, MPI_Request* requests, int* num_done, int* places, MPI_Status* statuses) {
    std::vector<int> pending;
    for (int i = 0; i < count; ++i) {
        if (requests[i] != MPI_REQUEST_NULL) pending.push_back(i);
    }
    *num_done = MPI_UNDEFINED;
    if (pending.empty()) return MPI_SUCCESS;
    const MPI_Request first = requests[pending[0]];
    const call c("MPI_Testsome", first->owner, first->context);
    if (c.error() != MPI_SUCCESS) return c.error();
    progress(first->owner);
    *num_done = 0;
    int code = MPI_SUCCESS;
    // In any order, and from any one on: the standard doesn't say.
    const auto begin = static_cast<std::size_t>(draw());
    for (std::size_t i = 0; i < pending.size(); ++i) {
        const int place = pending[(begin + i) % pending.size()];
        if (!requests[place]->complete) continue;
        places[*num_done] = place;
        if (take(&requests[place], &statuses[*num_done]) != MPI_SUCCESS) code = MPI_ERR_IN_STATUS;
        ++*num_done;
    }
    return code;
}
int MPI_Testall(int count, MPI_Request* requests, int* flag, MPI_Status*) {
    std::vector<MPI_Request*> pending;
    for (int i = 0; i < count; ++i) {
        if (requests[i] != MPI_REQUEST_NULL) pending.push_back(&requests[i]);
    }
    const call c("MPI_Testall");
    if (c.error() != MPI_SUCCESS) return c.error();
    if (!pending.empty()) progress((*pending[0])->owner);
    *flag = std::all_of(pending.begin(), pending.end(), [](auto r) { return (*r)->complete; }) ? 1 : 0;
    for (MPI_Request* const r : pending) {
        if (*flag != 0) static_cast<void>(take(r, MPI_STATUS_IGNORE));
    }
    return MPI_SUCCESS;
}
int MPI_Wait(MPI_Request* request, MPI_Status* status) {
    if (*request == MPI_REQUEST_NULL) return MPI_SUCCESS;
    const call c("MPI_Wait", (*request)->owner, (*request)->context);
    if (c.error() != MPI_SUCCESS) return c.error();
    for (int i = 0; i < 1000; ++i) {
        int complete = 0;
        const int code = test(request, &complete, status);
        if (complete != 0) return code;
    }
    wrong("MPI_Wait would block");
    return MPI_ERR_OTHER;
}
int MPI_Request_free(MPI_Request* request) {
    const call c("MPI_Request_free", (*request)->owner, (*request)->context);
    if (c.error() != MPI_SUCCESS) return c.error();
    (*request)->is_freed = true;
    *request = MPI_REQUEST_NULL;
    return MPI_SUCCESS;
}
int MPI_Cancel(MPI_Request* request) {
    stand_in_request& r = **request;
    const call c("MPI_Cancel", r.owner, r.context);
    if (c.error() != MPI_SUCCESS) return c.error();
    if (r.what == stand_in_request::collective) wrong("MPI_Cancel of a collective operation");
    if (r.what == stand_in_request::send) wrong("MPI_Cancel of a send");
    if (!r.matched) r.cancelled = r.matched = true;
    return MPI_SUCCESS;
}
int MPI_Test_cancelled(const MPI_Status* status, int* flag) {
    const call c("MPI_Test_cancelled");
    if (c.error() == MPI_SUCCESS) *flag = status->cancelled;
    return c.error();
}
int MPI_Get_count(const MPI_Status* status, MPI_Datatype type, int* count) {
    const call c("MPI_Get_count");
    const auto size = static_cast<int>(size_of(type));
    if (c.error() == MPI_SUCCESS) *count = status->bytes % size == 0 ? status->bytes / size : MPI_UNDEFINED;
    return c.error();
}

int MPI_Ibarrier(MPI_Comm comm, MPI_Request* request) {
    return collect("MPI_Ibarrier", "barrier", comm, request, nullptr, 0, nullptr);
}
int MPI_Ibcast(void* data, int count, MPI_Datatype type, int root, MPI_Comm comm, MPI_Request* request) {
    return collect("MPI_Ibcast", "bcast", comm, request, data, bytes_of(count, type), data, root);
}
int MPI_Iallreduce(const void* from, void* to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                   MPI_Request* request) {
    return collect("MPI_Iallreduce", "reduce", comm, request, from, bytes_of(count, type), to, -1, type, op);
}
int MPI_Ireduce(const void* from, void* to, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm,
                MPI_Request* request) {
    return collect("MPI_Ireduce", "reduce", comm, request, from, bytes_of(count, type), to, root, type, op);
}
int MPI_Iallgather(const void* from, int n, MPI_Datatype type, void* to, int, MPI_Datatype, MPI_Comm comm,
                   MPI_Request* request) {
    return collect("MPI_Iallgather", "gather", comm, request, from, bytes_of(n, type), to);
}
int MPI_Igather(const void* from, int n, MPI_Datatype type, void* to, int, MPI_Datatype, int root,
                MPI_Comm comm, MPI_Request* request) {
    return collect("MPI_Igather", "gather", comm, request, from, bytes_of(n, type), to, root);
}
int MPI_Igatherv(const void* from, int n, MPI_Datatype type, void* to, const int* counts, const int* places,
                 MPI_Datatype into, int root, MPI_Comm comm, MPI_Request* request) {
    static_cast<void>(counts);
    std::vector<std::size_t> at;
    for (std::size_t i = 0; i < comm->members.size(); ++i) at.push_back(bytes_of(places[i], into));
    return collect("MPI_Igatherv", "gather", comm, request, from, bytes_of(n, type), to, root, MPI_BYTE,
                   MPI_SUM, std::move(at));
}
