// Pipes: reservations, places of packets, commits.
//
// In: the address of a pipe's header (`cloom_ir::abi::pipe` has its layout), ids of reservations, sizes of packets.
//
// Packets are numbered for ever: packet t lies in slot t modulo the number of slots, a power of two. A pipe has two
// sides, each with two counters. `RESERVED` is the number that the next reservation begins at, `DONE` the number that
// all reservations before it are committed up to. What is between the two is reserved and not committed. Packets may
// be read up to `DONE` of the write side, and written up to `DONE` of the read side plus the capacity. A reservation of
// the packets from t on has the id t + 1, so that 0 is none.
//
// No one waits for another: work-items of a vector run in turns, and groups need not run at the same time. A commit
// leaves a mark at the first slot of its reservation, then moves `DONE` over all marks that follow each other, its own
// and those of later reservations that were committed before. Whoever commits the first one moves it over all of them:
// between the mark's store and the load of `DONE` is a sequentially consistent fence, and so is the change of `DONE`
// before the next mark is looked at, which makes sure that someone does. Each loop here goes around again only if
// another one made progress.
//
// The work-items of a sub-group that come here together reserve all their packets by one atomic operation, and one of
// them moves `DONE` for all. Each has a reservation of its own nevertheless. Where work-items may part between two
// operations of their sub-group (`WORK_ITEMS_PART`: on GPUs, behind a branch), each acts for itself instead.

#define FN __attribute__((overloadable))

// Words of the header.
#define PACKET_SIZE 0
#define MAX_PACKETS 1
#define MASK 2
#define DATA 3
#define WRITE 16
#define READ 32
#define MARKS 48
#ifdef WORK_ITEMS_PART
#define ACTS_FOR_ALL true
#define MEET sub_group_barrier(0)
#else
#define ACTS_FOR_ALL sub_group_elect()
#define MEET
#endif
// Words from the first counter of a side (`RESERVED`) to the second.
#define DONE 8

static ulong load(global ulong *word)
{
    return atomic_load((global atomic_ulong *)word);
}

static bool exchange(global ulong *word, ulong *expected, ulong value)
{
    return atomic_compare_exchange_strong((global atomic_ulong *)word, expected, value);
}

// The mark of the reservation that begins with this packet: its id once it is committed, and its length.
static global ulong *mark(global ulong *p, uint side, ulong packet)
{
    ulong mask = p[MASK];
    ulong first = side == READ ? mask + 1 : 0;
    return p + MARKS + 2 * (first + (packet & mask));
}

// Counts packets as reserved for one work-item. Gives the id of a reservation that begins with the first one.
static ulong take(global ulong *p, uint side, ulong n)
{
    ulong at = load(p + side);
    do {
        // This is loaded after `at`: if there is too little room for packets from there on, there is now.
        ulong end = side == READ ? load(p + WRITE + DONE) : load(p + READ + DONE) + p[MAX_PACKETS];
        if ((long)(end - at) < (long)n)
            return 0;
    } while (!exchange(p + side, &at, at + n));
    return at + 1;
}

// A commit that is late may look at the length; it then finds that `DONE` has moved on.
static void set_length(global ulong *p, uint side, ulong id, uint n)
{
    if (id != 0)
        atomic_store_explicit((global atomic_ulong *)(mark(p, side, id - 1) + 1), n, memory_order_relaxed);
}

static bool is_possible(global ulong *p, uint n, uint size)
{
    return n != 0 && n <= p[MAX_PACKETS] && size == p[PACKET_SIZE];
}

// A reservation of one work-item, for itself or its group.
static ulong reserve_alone(global ulong *p, uint side, uint n, uint size)
{
    ulong id = is_possible(p, n, size) ? take(p, side, n) : 0;
    set_length(p, side, id, n);
    return id;
}

// Reservations of all work-items that are here, one after the other in the pipe. If there is not enough for all, each
// tries to get its own.
static ulong reserve(global ulong *p, uint side, uint n, uint size)
{
#ifdef WORK_ITEMS_PART
    return reserve_alone(p, side, n, size);
#else
    if (!is_possible(p, n, size))
        return 0;
    ulong before = sub_group_non_uniform_scan_exclusive_add((ulong)n);
    ulong all = sub_group_non_uniform_reduce_add((ulong)n);
    ulong id = 0;
    if (sub_group_elect())
        id = take(p, side, all);
    id = sub_group_broadcast_first(id);
    id = id != 0 ? id + before : take(p, side, n);
    set_length(p, side, id, n);
    return id;
#endif
}

// Bytes from the header to a packet of a reservation; 0 if there is no such packet.
static ulong packet(global ulong *p, uint side, ulong id, uint index, uint size)
{
    ulong at = id - 1;
    if (id == 0 || size != p[PACKET_SIZE] || index >= mark(p, side, at)[1])
        return 0;
    return p[DATA] + ((at + index) & p[MASK]) * size;
}

// Moves `DONE` over all reservations that are committed and follow each other.
static void advance(global ulong *p, uint side)
{
    ulong done = load(p + side + DONE);
    for (;;) {
        ulong end = done;
        for (;;) {
            global ulong *m = mark(p, side, end);
            if (load(m) != end + 1)
                break;
            ulong n = atomic_load_explicit((global atomic_ulong *)(m + 1), memory_order_relaxed);
            if (n == 0)
                break;
            end += n;
        }
        if (end == done)
            return;
        if (exchange(p + side + DONE, &done, end))
            done = end;
    }
}

static void commit(global ulong *p, uint side, ulong id)
{
    if (id == 0)
        return;
    atomic_store_explicit((global atomic_ulong *)mark(p, side, id - 1), id, memory_order_release);
    // The one that is elected comes after the stores of all that are here.
    if (ACTS_FOR_ALL) {
        atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_seq_cst, memory_scope_device);
        advance(p, side);
    }
}

// The work-item that acts for its group.
static bool is_first(void)
{
    return (get_local_id(0) | get_local_id(1) | get_local_id(2)) == 0;
}

#define SIDE(name, side)                                                                           \
    ulong FN __pipe_reserve_##name(global ulong *p, uint n, uint size)                             \
    {                                                                                              \
        return reserve(p, side, n, size);                                                          \
    }                                                                                              \
    ulong FN __pipe_packet_##name(global ulong *p, ulong id, uint index, uint size)                \
    {                                                                                              \
        return packet(p, side, id, index, size);                                                   \
    }                                                                                              \
    void FN __pipe_commit_##name(global ulong *p, ulong id)                                        \
    {                                                                                              \
        commit(p, side, id);                                                                       \
    }                                                                                              \
    ulong FN __pipe_sub_group_reserve_##name(global ulong *p, uint n, uint size)                   \
    {                                                                                              \
        ulong id = 0;                                                                              \
        if (sub_group_elect())                                                                     \
            id = reserve_alone(p, side, n, size);                                                  \
        MEET;                                                                                      \
        return sub_group_broadcast_first(id);                                                      \
    }                                                                                              \
    void FN __pipe_sub_group_commit_##name(global ulong *p, ulong id)                              \
    {                                                                                              \
        sub_group_barrier(CLK_GLOBAL_MEM_FENCE);                                                   \
        if (sub_group_elect())                                                                     \
            commit(p, side, id);                                                                   \
    }                                                                                              \
    /* The first barrier waits until all have read what the memory was used for before. */         \
    ulong FN __pipe_work_group_reserve_##name(global ulong *p, uint n, uint size,                  \
                                              local ulong *shared)                                 \
    {                                                                                              \
        barrier(CLK_LOCAL_MEM_FENCE);                                                              \
        if (is_first())                                                                            \
            shared[0] = reserve_alone(p, side, n, size);                                           \
        barrier(CLK_LOCAL_MEM_FENCE);                                                              \
        return shared[0];                                                                          \
    }                                                                                              \
    void FN __pipe_work_group_commit_##name(global ulong *p, ulong id)                             \
    {                                                                                              \
        barrier(CLK_GLOBAL_MEM_FENCE);                                                             \
        if (is_first())                                                                            \
            commit(p, side, id);                                                                   \
    }

SIDE(read, READ)
SIDE(write, WRITE)

// In this order, so that the difference is not negative.
uint FN __pipe_num_packets(global ulong *p)
{
    ulong first = load(p + READ);
    ulong n = load(p + WRITE + DONE) - first;
    return (uint)min(n, p[MAX_PACKETS]);
}

uint FN __pipe_max_packets(global ulong *p)
{
    return (uint)p[MAX_PACKETS];
}
