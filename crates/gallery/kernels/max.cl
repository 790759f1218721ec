// Connected parts of a picture, found by the largest number: each pixel that is not background (0) starts with a number
// of its own, and takes the largest one of its four neighbours until nothing changes any more. `changed` has a word for
// each sweep between two looks of the host; work-items that change something all write the same.

unsigned label_at(__global unsigned *in, int x, int y)
{
    return x < 0 || y < 0 || x >= WIDTH || y >= HEIGHT ? 0 : in[y * WIDTH + x];
}

unsigned largest_around(__global unsigned *in, int x, int y, unsigned own)
{
    const unsigned beside = max(label_at(in, x - 1, y), label_at(in, x + 1, y));
    const unsigned above_below = max(label_at(in, x, y - 1), label_at(in, x, y + 1));
    return own == 0 ? 0 : max(own, max(beside, above_below));
}

// All pixels at once, from one board to the other: a number moves on by a pixel a sweep.
__kernel void max_ocl(__global unsigned *in, __global unsigned *out, __global unsigned *changed, unsigned sweep)
{
    const int x = get_global_id(0), y = get_global_id(1);

    if (x >= WIDTH || y >= HEIGHT)
        return;
    const unsigned own = in[y * WIDTH + x];
    const unsigned next = largest_around(in, x, y, own);
    out[y * WIDTH + x] = next;
    if (next != own)
        changed[sweep] = 1;
}

// The same, with tiles that sleep, see tiles.cl: `out` of one holds what was there two sweeps ago, which is the same.
__kernel void max_ocl_lazy(__global unsigned *in, __global unsigned *out, __global unsigned *changed, unsigned sweep,
                           __global unsigned *before, __global unsigned *now, __global unsigned *after)
{
    const int x = get_global_id(0), y = get_global_id(1);

    clear_flag(after);
    if (!is_awake(before) || x >= WIDTH || y >= HEIGHT)
        return;
    const unsigned own = in[y * WIDTH + x];
    const unsigned next = largest_around(in, x, y, own);
    out[y * WIDTH + x] = next;
    report(now, next != own);
    if (next != own)
        changed[sweep] = 1;
}

// The largest number runs along a line of `n` pixels, there and back again. Whether it changed any.
unsigned sweep_line(__global unsigned *line, int n, int step)
{
    unsigned run = 0, any = 0;

    for (int i = 0; i < n; i++) {
        const unsigned own = line[i * step];
        run = own == 0 ? 0 : max(own, run);
        if (run != own)
            line[i * step] = run;
        any |= run ^ own;
    }
    run = 0;
    for (int i = n - 1; i >= 0; i--) {
        const unsigned own = line[i * step];
        run = own == 0 ? 0 : max(own, run);
        if (run != own)
            line[i * step] = run;
        any |= run ^ own;
    }
    return any;
}

// Down each column and up again, in rows of PITCH numbers: a number moves on to the end of a straight line at once. Columns side by side are those
// of work-items side by side.
__kernel void max_columns(__global unsigned *labels, __global unsigned *changed, unsigned sweep)
{
    const int x = get_global_id(0);

    if (x < WIDTH && sweep_line(labels + x, HEIGHT, PITCH))
        changed[sweep] = 1;
}

// The same along rows.
__kernel void max_rows(__global unsigned *labels, __global unsigned *changed, unsigned sweep)
{
    const int y = get_global_id(0);

    if (y < HEIGHT && sweep_line(labels + y * PITCH, WIDTH, 1))
        changed[sweep] = 1;
}
