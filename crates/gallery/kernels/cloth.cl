// Cloths of W x H nodes, FLAGS of them: Verlet steps under gravity and wind, then RELAX times every link moves its ends
// towards its rest length. A state is three planes: all x, all y, all z. `inverse` is 0 for a pinned node, else 1.

#pragma OPENCL FP_CONTRACT OFF

#define PLANE (FLAGS * NODES)
#define AT(p, plane, i) (float3)((p)[i], (p)[(plane) + (i)], (p)[2 * (plane) + (i)])
#define PUT(p, plane, i, v) ((p)[i] = (v).x, (p)[(plane) + (i)] = (v).y, (p)[2 * (plane) + (i)] = (v).z)

float length_of(float3 v)
{
    return sqrt(v.x * v.x + v.y * v.y + v.z * v.z);
}

// What a free end of a link moves towards the other one, which lies at a distance of `d`; both ends move where both are
// free (`free` counts them).
float3 pull(float3 d, float free, float rest, float stiff)
{
    const float share = free > 1.5f ? 0.5f * stiff : stiff;
    return d * (share - share * rest / fmax(length_of(d), 1e-9f));
}

// The next place of a node after q, p. The air presses along the normal and rubs along the cloth; `across` and `along` lead from neighbour to
// neighbour, so that their cross product is twice the sum of the area vectors of the four triangles around the node.
float3 next_place(float3 p, float3 q, float3 across, float3 along, float time, int flag)
{
    const float phase = flag * 2.4f;
    const float gust = WIND_X * (1.0f + 0.25f * sin(0.9f * time + phase));
    const float lift = WIND_Y * sin(1.7f * time + 2.0f * p.y + phase);
    const float side = WIND_Z * (0.6f + 0.4f * sin(1.3f * time + phase))
                     + WIND_WAVE * sin(4.5f * p.x - 11.0f * time + 1.5f * p.y + phase);
    const float3 moved = p - q;
    const float3 air = (float3)(gust, lift, side) - moved * (1.0f / STEP_TIME);
    const float3 area = (float3)(across.y * along.z - across.z * along.y, across.z * along.x - across.x * along.z,
                                 across.x * along.y - across.y * along.x) * 0.25f;
    const float through = air.x * area.x + air.y * area.y + air.z * area.z;
    const float press = DRAG * through / (fmax(length_of(area), 1e-12f) * NODE_AREA);
    const float3 force = area * press + air * RUB + (float3)(0, GRAVITY, 0);
    return p + moved * KEEP + force * (STEP_TIME * STEP_TIME);
}

// Where a node comes to lie that moved from q to p over a surface which it has entered by `depth` along `normal`:
// outside, and held back by Coulomb friction.
float3 pushed_out(float3 p, float3 q, float depth, float3 normal)
{
    if (depth <= 0)
        return p;
    const float3 out = p + normal * depth;
    const float3 moved = out - q;
    const float into = moved.x * normal.x + moved.y * normal.y + moved.z * normal.z;
    const float3 slide = moved - normal * into;
    const float held = fmin(1.0f, FRICTION * depth / fmax(length_of(slide), 1e-12f));
    return out - slide * held;
}

float3 outside(float3 p, float3 q)
{
#if HAS_SPHERE
    const float3 from = p - (float3)(SPHERE_X, SPHERE_Y, SPHERE_Z);
    const float far = fmax(length_of(from), 1e-9f);
    p = pushed_out(p, q, SPHERE_R + MARGIN - far, from * (1.0f / far));
#endif
    return pushed_out(p, q, GROUND + MARGIN - p.y, (float3)(0, 1, 0));
}

// Where a Verlet step takes node (x, y), element i of a state whose rows begin `pitch` apart and whose last element is
// `last`.
float3 moved_on(__global const float *p, __global const float *q, int plane, int pitch, int last, int i, int x, int y,
                __global const float *inverse, float time, int flag)
{
    const int above = y > 0 ? i - pitch : i, below = y < H - 1 ? i + pitch : i;
    const float3 now = AT(p, plane, i);
    // At the ends of a row a neighbour is the node itself; what lies there instead is loaded, but not taken.
    const float3 left = AT(p, plane, max(i - 1, 0)), right = AT(p, plane, min(i + 1, last));
    const float3 across = (x < W - 1 ? right : now) - (x > 0 ? left : now);
    const float3 along = AT(p, plane, above) - AT(p, plane, below);
    const float3 next = next_place(now, AT(q, plane, i), across, along, time, flag);
    return inverse[y * W + x] > 0 ? next : now;
}

// A Verlet step: the next places replace the ones before the last, so that no other work-item needs what is overwritten.
__kernel void cloth_move(__global const float *p, __global float *q, __global const float *inverse, float time)
{
    const int x = get_global_id(0), row = get_global_id(1);
    if (x >= W || row >= H * FLAGS)
        return;
    const int flag = row / H, y = row - flag * H, i = row * W + x;
    const float3 place = moved_on(p, q, PLANE, W, PLANE - 1, i, x, y, inverse, time, flag);
    PUT(q, PLANE, i, place);
}

__kernel void cloth_collide(__global float *p, __global const float *q, __global const float *inverse)
{
    const int x = get_global_id(0), row = get_global_id(1);
    if (x >= W || row >= H * FLAGS)
        return;
    const int flag = row / H, i = row * W + x;
    const float3 now = AT(p, PLANE, i);
    const float3 out = outside(now, AT(q, PLANE, i));
    const float3 place = inverse[(row - flag * H) * W + x] > 0 ? out : now;
    PUT(p, PLANE, i, place);
}

#define LINK(p, plane, base, a, b, rest, stiff)                          \
    {                                                                    \
        const float free_a = inverse[a], free_b = inverse[b];            \
        const float3 at_a = AT(p, plane, (base) + (a));                  \
        const float3 at_b = AT(p, plane, (base) + (b));                  \
        const float3 by = pull(at_b - at_a, free_a + free_b, rest, stiff); \
        const float3 to_a = at_a + by * free_a;                          \
        const float3 to_b = at_b - by * free_b;                          \
        PUT(p, plane, (base) + (a), to_a);                               \
        PUT(p, plane, (base) + (b), to_b);                               \
    }

// A batch of links, given by their ends: no two of them share a node. Any mesh can be relaxed like this.
__kernel void cloth_batch(__global float *p, __global const float *inverse, __global const uint *ends,
                          __global const float *rests, __global const float *stiffs, uint first, uint count)
{
    const uint k = get_global_id(0);
    if (k >= count)
        return;
    const int a = ends[first + k], b = ends[LINKS + first + k], base = get_global_id(1) * NODES;
    const float rest = rests[first + k], stiff = stiffs[first + k];
    LINK(p, PLANE, base, a, b, rest, stiff)
}

// Links along rows, by index arithmetic: from every other node to the next one.
__kernel void cloth_across_1(__global float *p, __global const float *inverse, int phase, float rest, float stiff)
{
    const int x = 2 * get_global_id(0) + phase, row = get_global_id(1);
    if (x + 1 >= W || row >= H * FLAGS)
        return;
    const int flag = row / H, a = (row - flag * H) * W + x;
    LINK(p, PLANE, flag * NODES, a, a + 1, rest, stiff)
}

// From every other pair of nodes to the next pair: two links a work-item, so that strides are constant.
__kernel void cloth_across_2(__global float *p, __global const float *inverse, int phase, float rest, float stiff)
{
    const int x = 4 * get_global_id(0) + 2 * phase, row = get_global_id(1);
    if (x + 2 >= W || row >= H * FLAGS)
        return;
    const int flag = row / H, a = (row - flag * H) * W + x;
    LINK(p, PLANE, flag * NODES, a, a + 2, rest, stiff)
    if (x + 3 < W)
        LINK(p, PLANE, flag * NODES, a + 1, a + 3, rest, stiff)
}

// The k-th of every other node, or of every other pair of nodes.
int every_other(int k, int reach, int phase)
{
    return reach == 1 ? 2 * k + phase : 4 * (k >> 1) + 2 * phase + (k & 1);
}

// Links to another row, by index arithmetic: neighbours touch neighbours.
__kernel void cloth_down(__global float *p, __global const float *inverse, int aside, int reach, int phase, float rest,
                         float stiff)
{
    const int x = get_global_id(0), row = get_global_id(1), flag = row / HALF_ROWS;
    const int y = every_other(row - flag * HALF_ROWS, reach, phase);
    if (x >= W || x + aside < 0 || x + aside >= W || y + reach >= H || flag >= FLAGS)
        return;
    const int a = y * W + x;
    LINK(p, PLANE, flag * NODES, a, a + reach * W + aside, rest, stiff)
}

// The twelve batches of a grid: DOWN(aside, reach, phase, rest, stiff) and ACROSS(reach, phase, rest, stiff).
#define ALL_BATCHES                                                              \
    ACROSS(1, 0, SPACING, STRUCTURAL)     ACROSS(1, 1, SPACING, STRUCTURAL)      \
    DOWN(0, 1, 0, SPACING, STRUCTURAL)    DOWN(0, 1, 1, SPACING, STRUCTURAL)     \
    DOWN(1, 1, 0, DIAGONAL, SHEAR)        DOWN(1, 1, 1, DIAGONAL, SHEAR)         \
    DOWN(-1, 1, 0, DIAGONAL, SHEAR)       DOWN(-1, 1, 1, DIAGONAL, SHEAR)        \
    ACROSS(2, 0, 2 * SPACING, BENDING)    ACROSS(2, 1, 2 * SPACING, BENDING)     \
    DOWN(0, 2, 0, 2 * SPACING, BENDING)   DOWN(0, 2, 1, 2 * SPACING, BENDING)

// A group a patch of the cloth, in local memory, with a barrier between batches. Links that leave a patch are the
// business of three further launches, whose patches are strips over the seams: `over_x`, `over_y` say which.
__kernel void cloth_patch(__global float *p, __global const float *inverse, int over_x, int over_y,
                          int patch_rows)
{
    __local float tile[3 * PATCH * PATCH], may[PATCH * PATCH];
    const int l = get_local_id(0), flag = get_group_id(1) / patch_rows;
    const int px = get_group_id(0), py = get_group_id(1) - flag * patch_rows;
    const int left = over_x ? (px + 1) * PATCH - 2 : px * PATCH, top = over_y ? (py + 1) * PATCH - 2 : py * PATCH;
    const int wide = min(over_x ? 4 : PATCH, W - left), high = min(over_y ? 4 : PATCH, H - top);
    const int base = flag * NODES;

    if (l < wide)
        for (int y = 0; y < high; y++) {
            const int n = (top + y) * W + left + l, t = y * PATCH + l;
            tile[t] = p[base + n];
            tile[PATCH * PATCH + t] = p[PLANE + base + n];
            tile[2 * PATCH * PATCH + t] = p[2 * PLANE + base + n];
            may[t] = inverse[n];
        }
    barrier(CLK_LOCAL_MEM_FENCE);

    // Whether a link of a strip crosses the seam, which lies behind the second node. A link of a patch crosses none.
#define CROSSES(over, from, to) (!(over) || (min(from, to) < 2 && max(from, to) >= 2))
#define MINE(x0, y0, x1, y1) (CROSSES(over_x, x0, x1) && CROSSES(over_y, y0, y1))
#define RELAX_TILE(x0, y0, x1, y1, rest, stiff)                                      \
    if (MINE(x0, y0, x1, y1)) {                                                      \
        const int a = (y0) * PATCH + (x0), b = (y1) * PATCH + (x1);                  \
        LINK_TILE(a, b, rest, stiff)                                                 \
    }
#define LINK_TILE(a, b, rest, stiff)                                                 \
    const float free_a = may[a], free_b = may[b];                                    \
    const float3 at_a = AT(tile, PATCH * PATCH, a), at_b = AT(tile, PATCH * PATCH, b); \
    const float3 by = pull(at_b - at_a, free_a + free_b, rest, stiff);               \
    const float3 to_a = at_a + by * free_a, to_b = at_b - by * free_b;               \
    PUT(tile, PATCH * PATCH, a, to_a);                                               \
    PUT(tile, PATCH * PATCH, b, to_b);
    // Phases count from the cloth's edge, as everywhere.
#define ACROSS(reach, phase, rest, stiff)                                            \
    if (l + reach < wide && (((left + l) / reach) & 1) == phase)                     \
        for (int y = 0; y < high; y++)                                               \
            RELAX_TILE(l, y, l + reach, y, rest, stiff)                              \
    barrier(CLK_LOCAL_MEM_FENCE);
#define DOWN(aside, reach, phase, rest, stiff)                                       \
    if (l < wide && l + aside >= 0 && l + aside < wide)                              \
        for (int y = 0; y + reach < high; y++)                                       \
            if ((((top + y) / reach) & 1) == phase)                                  \
                RELAX_TILE(l, y, l + aside, y + reach, rest, stiff)                  \
    barrier(CLK_LOCAL_MEM_FENCE);
    ALL_BATCHES
#undef ACROSS
#undef DOWN

    if (l < wide)
        for (int y = 0; y < high; y++) {
            const int n = (top + y) * W + left + l, t = y * PATCH + l;
            p[base + n] = tile[t];
            p[PLANE + base + n] = tile[PATCH * PATCH + t];
            p[2 * PLANE + base + n] = tile[2 * PATCH * PATCH + t];
        }
}

#if FUSED_LOCAL
#define HELD __local
#define FENCE (CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)
#else
#define HELD __global
#define FENCE CLK_GLOBAL_MEM_FENCE
#endif

// All steps of a frame in one launch, a group a flag: what lay between launches is a barrier. The places are in local
// memory if a cloth fits there.
__kernel void cloth_fused(__global float *p, __global float *q, __global const float *inverse, float start
#if FUSED_LOCAL
                          , __local float *held
#endif
)
{
    const int l = get_local_id(0), size = get_local_size(0), flag = get_group_id(0), base = flag * NODES;
#if FUSED_LOCAL
#define HELD_PLANE NODES
    for (int i = l; i < NODES; i += size) {
        const float3 v = AT(p, PLANE, base + i);
        PUT(held, NODES, i, v);
    }
    barrier(FENCE);
#else
#define HELD_PLANE PLANE
    __global float *held = p + base;
#endif

    for (int step = 0; step < STEPS; step++) {
        for (int y = 0; y < H; y++)
            for (int x = l; x < W; x += size) {
                const int i = y * W + x;
                const int left = x > 0 ? i - 1 : i, right = x < W - 1 ? i + 1 : i;
                const int above = y > 0 ? i - W : i, below = y < H - 1 ? i + W : i;
                const float3 now = AT(held, HELD_PLANE, i);
                const float3 across = AT(held, HELD_PLANE, right) - AT(held, HELD_PLANE, left);
                const float3 along = AT(held, HELD_PLANE, above) - AT(held, HELD_PLANE, below);
                const float3 next = next_place(now, AT(q, PLANE, base + i), across, along, start + step * STEP_TIME, flag);
                const float3 place = inverse[i] > 0 ? next : now;
                PUT(q, PLANE, base + i, place);
            }
        barrier(FENCE);
        for (int i = l; i < NODES; i += size) {
            const float3 last = AT(held, HELD_PLANE, i), next = AT(q, PLANE, base + i);
            PUT(held, HELD_PLANE, i, next);
            PUT(q, PLANE, base + i, last);
        }
        barrier(FENCE);

        for (int turn = 0; turn < RELAX; turn++) {
#define ACROSS(reach, phase, rest, stiff)                                   \
            for (int k = l; k < HALF_COLUMNS * H; k += size) {              \
                const int y = k / HALF_COLUMNS;                             \
                const int x = every_other(k - y * HALF_COLUMNS, reach, phase); \
                if (x + reach < W)                                          \
                    LINK(held, HELD_PLANE, 0, y * W + x, y * W + x + reach, rest, stiff) \
            }                                                               \
            barrier(FENCE);
#define DOWN(aside, reach, phase, rest, stiff)                              \
            for (int k = 0; k < HALF_ROWS; k++) {                           \
                const int y = every_other(k, reach, phase);                 \
                if (y + reach < H)                                          \
                    for (int x = l; x < W; x += size)                       \
                        if (x + aside >= 0 && x + aside < W)                \
                            LINK(held, HELD_PLANE, 0, y * W + x, (y + reach) * W + x + aside, rest, stiff) \
            }                                                               \
            barrier(FENCE);
            ALL_BATCHES
        }

        for (int i = l; i < NODES; i += size) {
            const float3 now = AT(held, HELD_PLANE, i);
            const float3 out = outside(now, AT(q, PLANE, base + i));
            const float3 place = inverse[i] > 0 ? out : now;
            PUT(held, HELD_PLANE, i, place);
        }
        barrier(FENCE);
    }

#if FUSED_LOCAL
    for (int i = l; i < NODES; i += size) {
        const float3 v = AT(held, NODES, i);
        PUT(p, PLANE, base + i, v);
    }
#endif
}

// Where node (x, y) goes by the mean of what its twelve links want, weighted by their stiffness, a little more of it.
// Rows as in `moved_on`.
float3 relaxed(__global const float *p, int plane, int pitch, int last, int i, int x, int y, __global const float *inverse)
{
    const int n = y * W + x;
    const float3 now = AT(p, plane, i);
    const float mine = inverse[n];
    float3 sum = 0;
    float weight = 0;
    // What is loaded for a neighbour that is not there, from the next row or the next cloth, has no weight.
#define WANT(dx, dy, rest, stiff)                                                    \
    {                                                                                \
        const int there = (x + dx >= 0) & (x + dx < W) & (y + dy >= 0) & (y + dy < H); \
        const float k = there ? stiff : 0.0f;                                        \
        const float3 d = AT(p, plane, clamp(i + (dy) * pitch + dx, 0, last)) - now;  \
        const float its = inverse[clamp(n + (dy) * W + dx, 0, NODES - 1)];           \
        sum += pull(d, mine + its, rest, k);                                         \
        weight += k;                                                                 \
    }
    WANT(-1, 0, SPACING, STRUCTURAL) WANT(1, 0, SPACING, STRUCTURAL)
    WANT(0, -1, SPACING, STRUCTURAL) WANT(0, 1, SPACING, STRUCTURAL)
    WANT(-1, -1, DIAGONAL, SHEAR) WANT(1, -1, DIAGONAL, SHEAR)
    WANT(-1, 1, DIAGONAL, SHEAR) WANT(1, 1, DIAGONAL, SHEAR)
    WANT(-2, 0, 2 * SPACING, BENDING) WANT(2, 0, 2 * SPACING, BENDING)
    WANT(0, -2, 2 * SPACING, BENDING) WANT(0, 2, 2 * SPACING, BENDING)
    return now + sum * (OVER * mine / fmax(weight, 1e-6f));
}

// Jacobi's way: every node from the places before; nothing is written twice.
__kernel void cloth_gather(__global const float *p, __global float *to, __global const float *inverse)
{
    const int x = get_global_id(0), row = get_global_id(1);
    if (x >= W || row >= H * FLAGS)
        return;
    const int flag = row / H, i = row * W + x;
    const float3 place = relaxed(p, PLANE, W, PLANE - 1, i, x, row - flag * H, inverse);
    PUT(to, PLANE, i, place);
}

// The same three of a band of rows, those of all cloths, from `first` on; its row 0 is the cloths' row `top`. A row is all
// x, all y, all z. What lies around a band are the neighbours' rows; see `bands`.
#define ROW (FLAGS * W)
#define OF_BAND                                                                      \
    const int column = get_global_id(0), flag = column / W, x = column - flag * W;   \
    const int row = first + get_global_id(1), y = top + row, i = row * 3 * ROW + column;

__kernel void cloth_move_band(__global const float *p, __global float *q, int first, int top,
                              __global const float *inverse, float time)
{
    OF_BAND
    const float3 place = moved_on(p, q, ROW, 3 * ROW, INT_MAX, i, x, y, inverse, time, flag);
    PUT(q, ROW, i, place);
}

__kernel void cloth_gather_band(__global const float *p, __global float *to, int first, int top,
                                __global const float *inverse)
{
    OF_BAND
    const float3 place = relaxed(p, ROW, 3 * ROW, INT_MAX, i, x, y, inverse);
    PUT(to, ROW, i, place);
}

__kernel void cloth_collide_band(__global const float *q, __global float *p, int first, int top,
                                 __global const float *inverse)
{
    OF_BAND
    const float3 now = AT(p, ROW, i);
    const float3 out = outside(now, AT(q, ROW, i));
    const float3 place = inverse[y * W + x] > 0 ? out : now;
    PUT(p, ROW, i, place);
}

#if ADD_FLOAT
void add(volatile __global int *sum, float v)
{
    int seen = *sum, old;
    do {
        old = seen;
        seen = atomic_cmpxchg(sum, old, as_int(as_float(old) + v));
    } while (seen != old);
}
#define SUM_OF(v) as_float(v)
#else
// In units of 2^-26: whole numbers have the same sum in every order.
void add(volatile __global int *sum, float v)
{
    atomic_add(sum, convert_int_rte(clamp(v, -2.0f, 2.0f) * 67108864.0f));
}
#define SUM_OF(v) ((v) * (1.0f / 67108864.0f))
#endif

void add3(volatile __global int *sums, int i, float3 v)
{
    add(sums + i, v.x);
    add(sums + PLANE + i, v.y);
    add(sums + 2 * PLANE + i, v.z);
}

// One batch of all links, in no order: what they want is added up by atomics, and applied by the next kernel. A work-item
// has the links that begin at node a, from firsts[a] on. It adds up itself what they want of that node, so that six links
// need seven additions of three numbers, not twelve; and threads share lines only where the parts that they have meet.
__kernel void cloth_scatter(__global const float *p, __global const float *inverse, __global const uint *firsts,
                            __global const uint *ends, __global const float *rests, __global const float *stiffs,
                            volatile __global int *sums)
{
    const int a = get_global_id(0), base = get_global_id(1) * NODES;
    if (a >= NODES)
        return;
    const float3 here = AT(p, PLANE, base + a);
    const uint end = firsts[a + 1];
    float3 sum = 0;
    for (uint k = firsts[a]; k < end; k++) {
        const int b = ends[LINKS + k];
        const float3 by = pull(AT(p, PLANE, base + b) - here, inverse[a] + inverse[b], rests[k], stiffs[k]);
        sum += by;
        add3(sums, base + b, -by);
    }
    add3(sums, base + a, sum);
}

__kernel void cloth_apply(__global float *p, __global const float *inverse, __global const float *weights,
                          __global int *sums)
{
    const int x = get_global_id(0), row = get_global_id(1);
    if (x >= W || row >= H * FLAGS)
        return;
    const int n = (row % H) * W + x, i = row * W + x;
    const float part = OVER * inverse[n] / fmax(weights[n], 1e-6f);
    p[i] += SUM_OF(sums[i]) * part;
    p[PLANE + i] += SUM_OF(sums[PLANE + i]) * part;
    p[2 * PLANE + i] += SUM_OF(sums[2 * PLANE + i]) * part;
    sums[i] = sums[PLANE + i] = sums[2 * PLANE + i] = 0;
}
