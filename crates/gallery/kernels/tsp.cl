// The travelling salesman, by branch and bound: a work-item tries all tours that begin as its number says. CITIES cities,
// the first PREFIX after city 0 are the work-item's. Distances are integers, so that the shortest length is one number.

#define ALL ((1u << CITIES) - 1)

// The bound is what any of the items has found so far. A stale value only lets an item try more than it had to.
void tsp_search(__global const unsigned *distances, __global const unsigned *nearest, volatile __global unsigned *best,
                __global unsigned *lengths, __global uchar *tours, const bool is_shared, const bool looks_ahead)
{
    const unsigned id = get_global_id(0);
    unsigned visited = 1, number = id, shortest = ~0u;
    uchar path[CITIES], tried[CITIES];
    unsigned length[CITIES];
    // What the way on from the cities not yet left costs at least: the shortest way out of each.
    unsigned ahead[CITIES];

    if (id >= PREFIXES)
        return;
    path[0] = 0;
    length[0] = 0;
    ahead[0] = 0;
    for (int i = 0; i < CITIES; i++)
        ahead[0] += nearest[i];
    for (int depth = 1; depth <= PREFIX; depth++) {
        // The k-th of the cities that are left.
        unsigned k = number % (CITIES - depth), city = 1;
        number /= CITIES - depth;
        for (;; city++) {
            if (visited & 1u << city)
                continue;
            if (k == 0)
                break;
            k--;
        }
        visited |= 1u << city;
        path[depth] = city;
        length[depth] = length[depth - 1] + distances[path[depth - 1] * CITIES + city];
        ahead[depth] = ahead[depth - 1] - nearest[path[depth - 1]];
    }

    int depth = PREFIX;
    tried[depth] = 0;
    while (depth >= PREFIX) {
        if (depth == CITIES - 1) {
            const unsigned whole = length[depth] + distances[path[depth] * CITIES];
            if (whole < shortest) {
                shortest = whole;
                for (int i = 0; i < CITIES; i++)
                    tours[id * CITIES + i] = path[i];
                if (is_shared)
                    atomic_min(best, whole);
            }
            visited ^= 1u << path[depth];
            depth--;
            continue;
        }
        // The cities after the one tried last that are left; the first of them is the lowest bit.
        const unsigned left = ALL & ~visited & -(2u << tried[depth]);
        const unsigned city = 31 - clz(left & -left);
        if (left == 0) {
            visited ^= 1u << path[depth];
            depth--;
            continue;
        }
        tried[depth] = city;
        const unsigned so_far = length[depth] + distances[path[depth] * CITIES + city];
        const unsigned rest = looks_ahead ? ahead[depth] - nearest[path[depth]] : 0;
        const unsigned bound = is_shared ? min(*best, shortest) : shortest;
        if (so_far + rest < bound) {
            visited |= 1u << city;
            depth++;
            path[depth] = city;
            tried[depth] = 0;
            length[depth] = so_far;
            ahead[depth] = ahead[depth - 1] - nearest[path[depth - 1]];
        }
    }
    lengths[id] = shortest;
}

// One shortest length for all, and no way that cannot beat it with the shortest steps out of every city to come.
__kernel void tsp_ocl(__global const unsigned *distances, __global const unsigned *nearest, volatile __global unsigned *best,
                      __global unsigned *lengths, __global uchar *tours)
{
    tsp_search(distances, nearest, best, lengths, tours, true, true);
}

// One shortest length for all; the way so far has to be shorter.
__kernel void tsp_ocl_length(__global const unsigned *distances, __global const unsigned *nearest, volatile __global unsigned *best,
                             __global unsigned *lengths, __global uchar *tours)
{
    tsp_search(distances, nearest, best, lengths, tours, true, false);
}

// Each work-item knows of its own tours only.
__kernel void tsp_ocl_alone(__global const unsigned *distances, __global const unsigned *nearest, volatile __global unsigned *best,
                            __global unsigned *lengths, __global uchar *tours)
{
    tsp_search(distances, nearest, best, lengths, tours, false, true);
}
