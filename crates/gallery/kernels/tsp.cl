// The travelling salesman, by branch and bound: a work-item tries all tours that begin as its number says. CITIES cities,
// the first PREFIX after city 0 are the work-item's. Distances are integers, so that the shortest length is one number.

#define ALL ((1u << CITIES) - 1)

// A node of the search is a way from city 0 to `here`. What its loop over the next cities needs is in variables, and in
// arrays only while the search is further down. The bound is what any of the items has found so far, looked up when a
// node is entered: a stale one only lets an item try more than it had to.
void tsp_search(__global const unsigned *distances, __global const unsigned *nearest, volatile __global unsigned *best,
                __global unsigned *lengths, __global uchar *tours, const bool is_shared, const bool looks_ahead)
{
    const unsigned id = get_global_id(0);
    // The cities of the way, and for the nodes above, which cities are left to try, how long the way there is, and what
    // the way on from there costs at least: the shortest way out of each city that has not been left.
    uchar path[CITIES];
    unsigned untried[CITIES], length_of[CITIES], rest_of[CITIES];
    unsigned unvisited = ALL ^ 1, number = id, here = 0, length = 0, rest = 0, shortest = ~0u;

    if (id >= PREFIXES)
        return;
    for (int i = 1; i < CITIES; i++)
        rest += nearest[i];
    path[0] = 0;
    for (int depth = 1; depth <= PREFIX; depth++) {
        // The k-th of the cities that are left: each is a bit, and the number of ones below the lowest one is its place.
        unsigned left = unvisited;
        for (unsigned k = number % (CITIES - depth); k > 0; k--)
            left &= left - 1;
        number /= CITIES - depth;
        const unsigned city = popcount(~left & (left - 1));
        length += distances[here * CITIES + city];
        rest -= nearest[city];
        unvisited ^= 1u << city;
        path[depth] = here = city;
    }

    int depth = PREFIX;
    // cloom: allow race-groups a bound that is too old is only weaker
    unsigned left = unvisited, bound = is_shared ? *best : ~0u;
    for (;;) {
        if (left == 0) {
            if (depth == PREFIX)
                break;
            unvisited |= 1u << here;
            depth--;
            here = path[depth];
            left = untried[depth];
            length = length_of[depth];
            rest = rest_of[depth];
            continue;
        }
        const unsigned city = popcount(~left & (left - 1));
        left &= left - 1;
        const unsigned so_far = length + distances[here * CITIES + city];
        if (so_far + (looks_ahead ? rest : 0) >= bound)
            continue;
        path[depth + 1] = city;
        if (depth + 1 < CITIES - 1) {
            untried[depth] = left;
            length_of[depth] = length;
            rest_of[depth] = rest;
            depth++;
            unvisited ^= 1u << city;
            left = unvisited;
            here = city;
            length = so_far;
            rest -= nearest[city];
            if (is_shared)
                // cloom: allow race-groups a bound that is too old is only weaker
                bound = min(bound, *best);
            continue;
        }
        // The last city: home again.
        const unsigned whole = so_far + distances[city * CITIES];
        if (whole < bound) {
            shortest = bound = whole;
            for (int i = 0; i < CITIES; i++)
                tours[id * CITIES + i] = path[i];
            if (is_shared)
                atomic_min(best, whole);
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
