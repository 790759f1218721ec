// Conway's Game of Life: a cell lives on with two or three living neighbours and is born with three. The board is a
// torus (-DTORUS=1) or has dead cells around it. Each group reports in `changed` whether a cell of its tile changed, see
// tiles.cl.

unsigned cell(__global unsigned *in, int x, int y)
{
#if TORUS
    x = (x + WIDTH) % WIDTH;
    y = (y + HEIGHT) % HEIGHT;
#else
    if (x < 0 || y < 0 || x >= WIDTH || y >= HEIGHT)
        return 0;
#endif
    return in[y * WIDTH + x];
}

unsigned next_cell(unsigned now, unsigned neighbours)
{
    return neighbours == 3 || (now && neighbours == 2);
}

unsigned next_at(__global unsigned *in, int x, int y, unsigned now)
{
    unsigned n = 0;
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++)
            n += cell(in, x + dx, y + dy);
    return next_cell(now, n - now);
}

__kernel void life_ocl(__global unsigned *in, __global unsigned *out, __global unsigned *before,
                       __global unsigned *changed, __global unsigned *after)
{
    const int x = get_global_id(0), y = get_global_id(1);

    clear_flag(after);
    if (x < WIDTH && y < HEIGHT) {
        const unsigned now = in[y * WIDTH + x];
        const unsigned next = next_at(in, x, y, now);
        out[y * WIDTH + x] = next;
        report(changed, next != now);
    }
}

// The tile and the cells around it are brought to local memory first.
__kernel void life_ocl_local(__global unsigned *in, __global unsigned *out, __global unsigned *before,
                             __global unsigned *changed, __global unsigned *after)
{
    __local unsigned tile[TILE_H + 2][TILE_W + 2];
    const int x = get_global_id(0), y = get_global_id(1);
    const int lx = get_local_id(0), ly = get_local_id(1);
    const int left = x - lx - 1, top = y - ly - 1;

    clear_flag(after);
    for (int i = ly * TILE_W + lx; i < (TILE_H + 2) * (TILE_W + 2); i += TILE_W * TILE_H) {
        const int tx = i % (TILE_W + 2), ty = i / (TILE_W + 2);
        // A last, partial tile needs one column and one row beyond the board; cells beyond that are never used.
        if (left + tx <= WIDTH && top + ty <= HEIGHT)
            tile[ty][tx] = cell(in, left + tx, top + ty);
    }
    barrier(CLK_LOCAL_MEM_FENCE);

    if (x < WIDTH && y < HEIGHT) {
        unsigned n = 0;
        for (int dy = 0; dy <= 2; dy++)
            for (int dx = 0; dx <= 2; dx++)
                n += tile[ly + dy][lx + dx];
        const unsigned now = tile[ly + 1][lx + 1];
        const unsigned next = next_cell(now, n - now);
        out[y * WIDTH + x] = next;
        report(changed, next != now);
    }
}

// A tile with nothing changed in it and in the tiles around it stays as it is, and the board of two steps ago, which
// `out` still holds, shows it already.
__kernel void life_ocl_lazy(__global unsigned *in, __global unsigned *out, __global unsigned *before,
                            __global unsigned *changed, __global unsigned *after)
{
    const int x = get_global_id(0), y = get_global_id(1);

    clear_flag(after);
    if (is_awake_around(before) && x < WIDTH && y < HEIGHT) {
        const unsigned now = in[y * WIDTH + x];
        const unsigned next = next_at(in, x, y, now);
        out[y * WIDTH + x] = next;
        report(changed, next != now);
    }
}

// Sixteen cells of a row a work-item, a byte each. Rows have PITCH cells, a multiple of sixteen; those from WIDTH on
// stay dead.
__kernel void life_ocl_wide(__global uchar *in, __global uchar *out, __global unsigned *before,
                            __global unsigned *changed, __global unsigned *after)
{
    const int x = get_global_id(0) * 16, y = get_global_id(1);

    clear_flag(after);
    if (x < WIDTH && y < HEIGHT) {
        const uchar16 lane = (uchar16)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
        const uchar last = min(15, WIDTH - 1 - x);
        uchar16 n = 0, now = 0;
        for (int dy = -1; dy <= 1; dy++) {
#if TORUS
            const int row = (y + dy + HEIGHT) % HEIGHT * PITCH;
            const uchar before_first = in[row + (x + WIDTH - 1) % WIDTH];
            const uchar after_last = in[row + (x + last + 1) % WIDTH];
#else
            if (y + dy < 0 || y + dy >= HEIGHT)
                continue;
            const int row = (y + dy) * PITCH;
            const uchar before_first = x > 0 ? in[row + x - 1] : 0;
            const uchar after_last = x + last + 1 < WIDTH ? in[row + x + last + 1] : 0;
#endif
            const uchar16 c = vload16(0, in + row + x);
            const uchar16 left = (uchar16)(before_first, c.s0123, c.s456789ab, c.scd, c.se);
            const uchar16 right = (uchar16)(c.s1, c.s23, c.s456789ab, c.scdef, 0);
            n += c + left + select(right, (uchar16)after_last, lane == last);
            now = dy == 0 ? c : now;
        }
        // With itself, a cell that lives on counts three or four.
        const uchar16 alive = n == (uchar)3 || (n == (uchar)4 && now != (uchar)0) ? (uchar16)1 : (uchar16)0;
        const uchar16 next = lane <= last ? alive : (uchar16)0;
        vstore16(next, 0, out + y * PITCH + x);
        report(changed, any(next != now));
    }
}

// How many tiles changed, by one group.
__kernel void life_count(__global unsigned *changed, unsigned n, __global unsigned *count, __local unsigned *part)
{
    const int l = get_local_id(0), size = get_local_size(0);
    unsigned sum = 0;

    for (unsigned i = l; i < n; i += size)
        sum += changed[i];
    part[l] = sum;
    for (int m = size; m > 1; m = (m + 1) / 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        const int half_m = (m + 1) / 2;
        if (l < m - half_m)
            part[l] += part[l + half_m];
    }
    if (l == 0)
        *count = part[0];
}

// Rows of a band, one a row of the range, from `first` on; the neighbours' rows lie around it. See `bands`.
__kernel void life_band(__global const unsigned *in, __global unsigned *out, int first, int top)
{
    const int x = get_global_id(0), y = first + get_global_id(1);
#if TORUS
    const int left = x > 0 ? x - 1 : WIDTH - 1, right = x < WIDTH - 1 ? x + 1 : 0;
#else
    const int left = max(x - 1, 0), right = min(x + 1, WIDTH - 1);
#endif
    unsigned n = 0;
    for (int dy = -1; dy <= 1; dy++) {
        __global const unsigned *row = in + (y + dy) * WIDTH;
#if TORUS
        n += row[left] + row[x] + row[right];
#else
        n += (x > 0 ? row[left] : 0) + row[x] + (x < WIDTH - 1 ? row[right] : 0);
#endif
    }
    const unsigned now = in[y * WIDTH + x];
    out[y * WIDTH + x] = next_cell(now, n - now);
}
