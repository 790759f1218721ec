// Work-group functions: work_group_all, any, broadcast, reduce, scan.
//
// In: the value of each work-item, and local memory of the group (`shared`) with a slot of eight bytes for the result,
// followed by one for each sub-group. Sub-groups combine their own values first, the first one combines those of all,
// between two barriers. No third one is needed before the memory is used again: a sub-group writes its own slot only,
// which no other reads after the second barrier, and the result is written after the first barrier of the next use,
// when all have read it.

#define FN __attribute__((overloadable))

#define RESULT(T) (*(local T *)shared)
#define PLACE(T, k) (*(local T *)(shared + 1 + (k)))

#define REDUCE(T, name, COMBINE)                                                                   \
    T FN __work_group_reduce_##name(T x, local ulong *shared)                                      \
    {                                                                                              \
        PLACE(T, get_sub_group_id()) = sub_group_non_uniform_reduce_##name(x);                     \
        barrier(CLK_LOCAL_MEM_FENCE);                                                              \
        if (get_sub_group_id() == 0) {                                                             \
            uint n = get_num_sub_groups();                                                         \
            T all = PLACE(T, 0);                                                                   \
            for (uint k = 1; k < n; k++)                                                           \
                all = COMBINE(all, PLACE(T, k));                                                   \
            RESULT(T) = all;                                                                       \
        }                                                                                          \
        barrier(CLK_LOCAL_MEM_FENCE);                                                              \
        return RESULT(T);                                                                          \
    }

// Replaces each slot by the combination of the slots before it (an exclusive scan). One work-item does it, in place.
#define SCAN(T, kind, name, COMBINE)                                                               \
    T FN __work_group_scan_##kind##_##name(T x, local ulong *shared)                               \
    {                                                                                              \
        uint id = get_sub_group_id();                                                              \
        PLACE(T, id) = sub_group_non_uniform_reduce_##name(x);                                     \
        T own = sub_group_non_uniform_scan_##kind##_##name(x);                                     \
        barrier(CLK_LOCAL_MEM_FENCE);                                                              \
        if (id == 0 && get_sub_group_local_id() == 0) {                                            \
            uint n = get_num_sub_groups();                                                         \
            T sum = PLACE(T, 0);                                                                   \
            for (uint k = 1; k < n; k++) {                                                         \
                T next = PLACE(T, k);                                                              \
                PLACE(T, k) = sum;                                                                 \
                sum = COMBINE(sum, next);                                                          \
            }                                                                                      \
        }                                                                                          \
        barrier(CLK_LOCAL_MEM_FENCE);                                                              \
        return id == 0 ? own : COMBINE(PLACE(T, id), own);                                         \
    }

// The one that has it may have to wait until all have read an earlier result.
#define SEND(T, PARAMS, IS_IT)                                                                     \
    T FN __work_group_broadcast PARAMS                                                             \
    {                                                                                              \
        barrier(CLK_LOCAL_MEM_FENCE);                                                              \
        if (IS_IT)                                                                                 \
            RESULT(T) = x;                                                                         \
        barrier(CLK_LOCAL_MEM_FENCE);                                                              \
        return RESULT(T);                                                                          \
    }

#define ONE(T, name, COMBINE)                                                                      \
    REDUCE(T, name, COMBINE)                                                                       \
    SCAN(T, inclusive, name, COMBINE)                                                              \
    SCAN(T, exclusive, name, COMBINE)

#define ADD(a, b) ((a) + (b))
#define MUL(a, b) ((a) * (b))
#define AND(a, b) ((a) & (b))
#define OR(a, b) ((a) | (b))
#define XOR(a, b) ((a) ^ (b))
#define ALL(T, MIN, MAX)                                                                           \
    ONE(T, add, ADD)                                                                               \
    ONE(T, mul, MUL)                                                                               \
    ONE(T, min, MIN)                                                                               \
    ONE(T, max, MAX)                                                                               \
    SEND(T, (T x, size_t i, local ulong *shared), get_local_id(0) == i)                            \
    SEND(T, (T x, size_t i, size_t j, local ulong *shared),                                        \
         get_local_id(0) == i && get_local_id(1) == j)                                             \
    SEND(T, (T x, size_t i, size_t j, size_t k, local ulong *shared),                              \
         get_local_id(0) == i && get_local_id(1) == j && get_local_id(2) == k)

ALL(int, __cl_min, __cl_max)
ALL(uint, __cl_min, __cl_max)
ALL(long, __cl_min, __cl_max)
ALL(ulong, __cl_min, __cl_max)
ALL(float, __cl_fmin, __cl_fmax)
ALL(double, __cl_fmin, __cl_fmax)
ALL(half, __cl_fmin, __cl_fmax)

#define BITS(T)                                                                                    \
    ONE(T, and, AND)                                                                               \
    ONE(T, or, OR)                                                                                 \
    ONE(T, xor, XOR)

BITS(int)
BITS(uint)
BITS(long)
BITS(ulong)

// The values of sub-groups are 0 or 1.
ONE(int, logical_and, AND)
ONE(int, logical_or, OR)
ONE(int, logical_xor, XOR)

int FN __work_group_all(int predicate, local ulong *shared)
{
    return __work_group_reduce_min((int)(predicate != 0), shared);
}

int FN __work_group_any(int predicate, local ulong *shared)
{
    return __work_group_reduce_max((int)(predicate != 0), shared);
}
