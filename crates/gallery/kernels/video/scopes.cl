// The measuring instruments of an editor, from the finished picture: how often each value occurs (histogram), which
// lumas occur in which columns (waveform), and which colours (vectorscope). All counts are of integers, so that the
// order of counting does not matter.

#define LEVELS 256
// Columns of the waveform, at most, and a side of the vectorscope.
#define SIDE 128

int video_luma(uchar4 p)
{
    return (54 * p.x + 183 * p.y + 19 * p.z + 128) >> 8;
}

__kernel void video_scopes_clear(__global uint *histogram, __global uint *colours)
{
    const int i = get_global_id(0);
    if (i < 3 * LEVELS)
        histogram[i] = 0;
    if (i < SIDE * SIDE)
        colours[i] = 0;
}

// A group counts a strip of columns, which is a column of the waveform and nobody else's. Its histogram is first
// counted in local memory.
__kernel void video_scopes_count(__global const uchar4 *restrict picture, __global uint *restrict waveform,
                                 __global uint *restrict histogram, __global uint *restrict colours, int w, int h,
                                 int strips)
{
    __local uint count[4 * LEVELS];
    const int id = get_local_id(0), items = get_local_size(0), strip = get_group_id(0);
    const int left = strip * w / strips, right = (strip + 1) * w / strips;

    for (int i = id; i < 4 * LEVELS; i += items)
        count[i] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);

    for (int y = id; y < h; y += items)
        for (int x = left; x < right; x++) {
            const uchar4 p = picture[y * w + x];
            const int cb = clamp(128 + ((128 * p.z - 29 * p.x - 99 * p.y + 128) >> 8), 0, 255);
            const int cr = clamp(128 + ((128 * p.x - 116 * p.y - 12 * p.z + 128) >> 8), 0, 255);
            atomic_inc(&count[p.x]);
            atomic_inc(&count[LEVELS + p.y]);
            atomic_inc(&count[2 * LEVELS + p.z]);
            atomic_inc(&count[3 * LEVELS + video_luma(p)]);
            atomic_inc(&colours[(cr >> 1) * SIDE + (cb >> 1)]);
        }
    barrier(CLK_LOCAL_MEM_FENCE);

    for (int i = id; i < LEVELS; i += items)
        waveform[i * strips + strip] = count[3 * LEVELS + i];
    for (int i = id; i < 3 * LEVELS; i += items)
        if (count[i])
            atomic_add(&histogram[i], count[i]);
}

// The same without atomics, in three steps. First, for all pixels at once: luma, and the place in the vectorscope.
__kernel void video_scopes_codes(__global const uchar4 *restrict picture, __global uint *restrict codes, int w, int h)
{
    const int x = get_global_id(0), y = get_global_id(1);
    if (x >= w || y >= h)
        return;

    const uchar4 p = picture[y * w + x];
    const int cb = min(128 + ((128 * p.z - 29 * p.x - 99 * p.y + 128) >> 8), 255);
    const int cr = min(128 + ((128 * p.x - 116 * p.y - 12 * p.z + 128) >> 8), 255);
    codes[y * w + x] = video_luma(p) << 16 | (cr >> 1) * SIDE + (cb >> 1);
}

// Then they are counted: a group is one work-item, which counts its strips, GROUP_STRIPS at most, in counters of its
// own: in local memory histogram and a column of the waveform for each strip, the vectorscope in `own`. A processor's
// core takes a few cycles a pixel so; a device of thousands of work-items would be left idle.
#define GROUP_STRIPS 8
#define OWN (3 * LEVELS + SIDE * SIDE)

__attribute__((reqd_work_group_size(1, 1, 1)))
__kernel void video_scopes_own(__global const uchar4 *restrict picture, __global const uint *restrict codes,
                               __global uint *restrict waveform, __global uint *restrict own, int w, int h, int strips)
{
    __local uint count[(3 + GROUP_STRIPS) * LEVELS];
    const int group = get_group_id(0), groups = get_num_groups(0);
    const int first = group * strips / groups, n = (group + 1) * strips / groups - first;
    __local uint *luma = count + 3 * LEVELS;
    __global uint *colours = own + group * OWN + 3 * LEVELS;
    int left[GROUP_STRIPS + 1];

    for (int i = 0; i < (3 + GROUP_STRIPS) * LEVELS; i++)
        count[i] = 0;
    for (int i = 0; i < SIDE * SIDE; i++)
        colours[i] = 0;
    for (int i = 0; i <= n; i++)
        left[i] = (first + i) * w / strips;
    for (int y = 0; y < h; y++)
        for (int i = 0; i < n; i++)
            for (int x = left[i]; x < left[i + 1]; x++) {
                const uchar4 p = picture[y * w + x];
                const uint code = codes[y * w + x];
                count[p.x]++;
                count[LEVELS + p.y]++;
                count[2 * LEVELS + p.z]++;
                luma[i * LEVELS + (code >> 16)]++;
                colours[code & 0xffff]++;
            }
    for (int i = 0; i < 3 * LEVELS; i++)
        own[group * OWN + i] = count[i];
    for (int level = 0; level < LEVELS; level++)
        for (int i = 0; i < n; i++)
            waveform[level * strips + first + i] = luma[i * LEVELS + level];
}

// Last, the sums of what the groups counted.
__kernel void video_scopes_sum(__global const uint *restrict own, __global uint *restrict histogram,
                               __global uint *restrict colours, int groups)
{
    const int i = get_global_id(0);
    if (i >= OWN)
        return;

    uint n = 0;
    for (int group = 0; group < groups; group++)
        n += own[group * OWN + i];
    if (i < 3 * LEVELS)
        histogram[i] = n;
    else
        colours[i - 3 * LEVELS] = n;
}

// From a count to a brightness, with `usual` in the middle: nothing is ever too bright.
uint video_shine(uint count, uint usual)
{
    return (uint)((ulong)count * 255 / ((ulong)count + usual + 1));
}

// Draws the three on the lower part of the picture: a work-item a pixel of the panel, which is darkened first. Each
// scope has a box of bw x bh pixels, with `gap` pixels around it.
__kernel void video_scopes_draw(__global uchar4 *restrict picture, __global const uint *restrict waveform,
                                __global const uint *restrict histogram, __global const uint *restrict colours, int w,
                                int h, int strips, int bw, int bh, int gap)
{
    const int px = get_global_id(0), py = get_global_id(1);
    const int panel_w = 3 * bw + 4 * gap, panel_h = bh + 2 * gap;
    if (px >= panel_w || py >= panel_h)
        return;

    const uint total = (uint)w * (uint)h;
    const int at = (h - panel_h + py) * w + (w - panel_w) / 2 + px;
    const int box = (px - gap) / (bw + gap), x = (px - gap) % (bw + gap), y = py - gap;
    int4 shown = (int4)(12, 14, 18, 0);

    if (px >= gap && x < bw && y >= 0 && y < bh && box < 3) {
        // The levels of this row: a bin at least, more where the box has fewer rows than there are bins.
        const int upper = bh - 1 - y;
        shown = (int4)(4, 5, 7, 0);
        if (box == 0) {
            const int l0 = upper * LEVELS / bh, l1 = max((upper + 1) * LEVELS / bh, l0 + 1);
            const int s0 = x * strips / bw, s1 = max((x + 1) * strips / bw, s0 + 1);
            uint n = 0;
            for (int l = l0; l < l1; l++)
                for (int s = s0; s < s1; s++)
                    n += waveform[l * strips + s];
            if (y > 0 && y * 4 / bh != (y - 1) * 4 / bh)
                shown = (int4)(48, 44, 24, 0);
            const int v = video_shine(n, total / strips / 40);
            shown += (int4)(v * 5 / 8, v, v * 3 / 4, 0);
        } else if (box == 1) {
            const int l0 = x * LEVELS / bw, l1 = max((x + 1) * LEVELS / bw, l0 + 1);
            if (x > 0 && x * 4 / bw != (x - 1) * 4 / bw)
                shown = (int4)(40, 40, 44, 0);
            uint r = 0, g = 0, b = 0;
            for (int l = l0; l < l1; l++) {
                r += histogram[l];
                g += histogram[LEVELS + l];
                b += histogram[2 * LEVELS + l];
            }
            const uint usual = total / LEVELS * (l1 - l0);
            const int level = upper * 255 / bh;
            if (level < (int)video_shine(r, usual))
                shown += (int4)(150, 35, 30, 0);
            if (level < (int)video_shine(g, usual))
                shown += (int4)(30, 130, 45, 0);
            if (level < (int)video_shine(b, usual))
                shown += (int4)(35, 60, 170, 0);
        } else {
            // A square in the middle of the box.
            const int sx = x - (bw - bh) / 2;
            const int b0 = sx * SIDE / bh, b1 = max((sx + 1) * SIDE / bh, b0 + 1);
            const int r0 = upper * SIDE / bh, r1 = max((upper + 1) * SIDE / bh, r0 + 1);
            const bool inside = sx >= 0 && sx < bh;
            uint n = 0;
            for (int r = r0; inside && r < r1; r++)
                for (int b = b0; b < b1; b++)
                    n += colours[r * SIDE + b];
            // The axes, and a circle where colours are as strong as those of a test card.
            const int dx = 2 * sx + 1 - bh, dy = 2 * y + 1 - bh;
            const long away = ((long)dx * dx + (long)dy * dy) * 10000 / ((long)bh * bh);
            if (inside && (sx == bh / 2 || y == bh / 2 || (away >= 5600 && away < 5900)))
                shown = (int4)(48, 44, 24, 0);
            const int v = video_shine(n, total / (SIDE * SIDE) / 2);
            const int cb = 2 * b0 - 128, cr = 2 * r0 - 128;
            const int4 hue = (int4)(170 + 3 * cr / 2, 170 - cb / 5 - cr / 2, 170 + 15 * cb / 8, 0);
            shown += clamp(hue, 60, 255) * v / 255;
        }
    }
    const uchar4 old = picture[at];
    shown += (int4)(old.x, old.y, old.z, 0) * 3 / 16;
    picture[at] = (uchar4)(min(shown.x, 255), min(shown.y, 255), min(shown.z, 255), 255);
}
