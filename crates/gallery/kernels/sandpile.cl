// The Abelian sandpile (Bak, Tang, Wiesenfeld 1987; Dhar 1990): a cell with four grains or more gives each neighbour a
// quarter of what it has. Grains that leave the board are lost.

unsigned grains_at(__global unsigned *in, int x, int y)
{
    return x < 0 || y < 0 || x >= WIDTH || y >= HEIGHT ? 0 : in[y * WIDTH + x];
}

unsigned next_of(__global unsigned *in, int x, int y)
{
    return grains_at(in, x, y) % 4 + grains_at(in, x - 1, y) / 4 + grains_at(in, x + 1, y) / 4
        + grains_at(in, x, y - 1) / 4 + grains_at(in, x, y + 1) / 4;
}

// All cells at once, from one board to the other. Every cell has four reads of its own to make and one write: no
// work-item waits for another.
__kernel void sandpile_ocl(__global unsigned *in, __global unsigned *out)
{
    const int x = get_global_id(0), y = get_global_id(1);

    if (x < WIDTH && y < HEIGHT)
        out[y * WIDTH + x] = next_of(in, x, y);
}

// The same, with tiles that sleep, see tiles.cl: `out` of one holds the board of two steps ago, which shows it as it is.
__kernel void sandpile_ocl_lazy(__global unsigned *in, __global unsigned *out, __global unsigned *before,
                                __global unsigned *now, __global unsigned *after)
{
    const int x = get_global_id(0), y = get_global_id(1);

    clear_flag(after);
    if (!is_awake(before) || x >= WIDTH || y >= HEIGHT)
        return;
    const unsigned next = next_of(in, x, y);
    out[y * WIDTH + x] = next;
    report(now, next != in[y * WIDTH + x]);
}

// In place: each cell topples as soon as a work-item sees that it can. Others only add to a cell, and only its own
// work-item takes from it: what was read is there. The order is anybody's, the stable board is not (Dhar).
__kernel void sandpile_ocl_async(volatile __global unsigned *board)
{
    const int x = get_global_id(0), y = get_global_id(1);

    if (x >= WIDTH || y >= HEIGHT)
        return;

    volatile __global unsigned *cell = board + y * WIDTH + x;
    // cloom: allow race-global,race-groups a number that is too old topples fewer grains, and the rest in the next step
    const unsigned share = *cell / 4;
    if (share > 0) {
        atomic_sub(cell, share * 4);
        if (x > 0)
            atomic_add(cell - 1, share);
        if (x + 1 < WIDTH)
            atomic_add(cell + 1, share);
        if (y > 0)
            atomic_add(cell - WIDTH, share);
        if (y + 1 < HEIGHT)
            atomic_add(cell + WIDTH, share);
    }
}

// Whether a cell can topple: every work-item that knows of one writes the same.
__kernel void sandpile_unstable(__global unsigned *board, __global unsigned *unstable)
{
    const int x = get_global_id(0), y = get_global_id(1);

    if (x < WIDTH && y < HEIGHT && board[y * WIDTH + x] >= 4)
        *unstable = 1;
}

// Rows of a band, one a row of the range, from `first` on; the neighbours' rows lie around it, and rows without grains
// around the board. See `bands`.
__kernel void sandpile_band(__global const unsigned *in, __global unsigned *out, int first, int top)
{
    const int x = get_global_id(0), i = (first + get_global_id(1)) * WIDTH + x;

    out[i] = in[i] % 4 + (x > 0 ? in[i - 1] / 4 : 0) + (x < WIDTH - 1 ? in[i + 1] / 4 : 0) + in[i - WIDTH] / 4
        + in[i + WIDTH] / 4;
}
