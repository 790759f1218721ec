// Morphing one picture into another without a hint from a user. WIDTH and HEIGHT are the pictures' sides; RUNS is how
// many runs a row keeps; SKIP is what leaving out a run costs, in half pixels; RADIUS is that of the filter along y.

__kernel void morph_grey(__global const uchar4 *picture, __global int *grey)
{
    const int x = get_global_id(0), y = get_global_id(1);
    if (x >= WIDTH || y >= HEIGHT)
        return;
    const uchar4 p = picture[y * WIDTH + x];
    grey[y * WIDTH + x] = (p.x * 77 + p.y * 150 + p.z * 29) >> 8;
}

// A binomial filter, 1 4 6 4 1, along x. The sum is not divided: nothing is lost before the pass along y.
__kernel void morph_blur_x(__global const int *in, __global int *out)
{
    const int x = get_global_id(0), y = get_global_id(1);
    if (x >= WIDTH || y >= HEIGHT)
        return;
    __global const int *row = in + y * WIDTH;
    const int a = row[clamp(x - 2, 0, WIDTH - 1)], b = row[clamp(x - 1, 0, WIDTH - 1)], c = row[x];
    const int d = row[clamp(x + 1, 0, WIDTH - 1)], e = row[clamp(x + 2, 0, WIDTH - 1)];
    out[y * WIDTH + x] = a + e + 4 * (b + d) + 6 * c;
}

__kernel void morph_blur_y(__global const int *in, __global int *out)
{
    const int x = get_global_id(0), y = get_global_id(1);
    if (x >= WIDTH || y >= HEIGHT)
        return;
    int sum = 6 * in[y * WIDTH + x];
    sum += in[clamp(y - 2, 0, HEIGHT - 1) * WIDTH + x] + in[clamp(y + 2, 0, HEIGHT - 1) * WIDTH + x];
    sum += 4 * (in[clamp(y - 1, 0, HEIGHT - 1) * WIDTH + x] + in[clamp(y + 1, 0, HEIGHT - 1) * WIDTH + x]);
    out[y * WIDTH + x] = (sum + 128) >> 8;
}

// Black, 1, where Sobel's gradient exceeds the threshold.
__kernel void morph_edges(__global const int *in, __global uchar *edges, int threshold)
{
    const int x = get_global_id(0), y = get_global_id(1);
    if (x >= WIDTH || y >= HEIGHT)
        return;
    const int l = clamp(x - 1, 0, WIDTH - 1), r = clamp(x + 1, 0, WIDTH - 1);
    __global const int *up = in + clamp(y - 1, 0, HEIGHT - 1) * WIDTH;
    __global const int *mid = in + y * WIDTH;
    __global const int *down = in + clamp(y + 1, 0, HEIGHT - 1) * WIDTH;
    const int gx = up[r] - up[l] + 2 * (mid[r] - mid[l]) + down[r] - down[l];
    const int gy = down[l] - up[l] + 2 * (down[x] - up[x]) + down[r] - up[r];
    edges[y * WIDTH + x] = abs(gx) + abs(gy) > (uint)threshold ? 1 : 0;
}

// The runs of black pixels of a row, by a work-item. Run k of all rows lies side by side: work-items that run in step
// then store side by side. Runs beyond the RUNS-th are left out.
__kernel void morph_runs(__global const uchar *edges, __global int *starts, __global int *lengths, __global int *count)
{
    const int y = get_global_id(0);
    if (y >= HEIGHT)
        return;
    int n = 0, length = 0;
    for (int x = 0; x < WIDTH; x++) {
        if (edges[y * WIDTH + x]) {
            length++;
        } else {
            if (length > 0 && n < RUNS) {
                starts[n * HEIGHT + y] = x - length;
                lengths[n * HEIGHT + y] = length;
                n++;
            }
            length = 0;
        }
    }
    if (length > 0 && n < RUNS) {
        starts[n * HEIGHT + y] = WIDTH - length;
        lengths[n * HEIGHT + y] = length;
        n++;
    }
    count[y] = n;
}

// Twice the centre of a run, which is a whole number.
int centre(__global const int *starts, __global const int *lengths, int k, int y)
{
    return 2 * starts[k * HEIGHT + y] + lengths[k * HEIGHT + y] - 1;
}

// What it costs to take two runs for the same contour, in half pixels.
int difference(int centre_a, int length_a, int centre_b, int length_b)
{
    return abs(centre_a - centre_b) + 2 * abs(length_a - length_b);
}

#define MATCH 0
#define SKIP_A 1
#define SKIP_B 2

// The cheaper of the three ways into a cell of the table; a match wins a tie, then leaving out a run of A.
int cheapest(int match, int skip_a, int skip_b, uchar *way)
{
    int best = match;
    *way = MATCH;
    if (skip_a < best) {
        best = skip_a;
        *way = SKIP_A;
    }
    if (skip_b < best) {
        best = skip_b;
        *way = SKIP_B;
    }
    return best;
}

#define MATCH_ARGS __global const int *starts_a, __global const int *lengths_a, __global const int *count_a, \
                   __global const int *starts_b, __global const int *lengths_b, __global const int *count_b, \
                   __global int *line, __global uchar *ways, __global int *pairs, __global int *matched, \
                   __global int *cost

// A work-item aligns the runs of a row of both pictures, as in edit distance, with one line of the table at a time. What
// belongs to different rows lies side by side.
__kernel void morph_match_rows(MATCH_ARGS)
{
    const int y = get_global_id(0);
    if (y >= HEIGHT)
        return;
    const int na = count_a[y], nb = count_b[y];
    for (int j = 0; j <= nb; j++)
        line[j * HEIGHT + y] = j * SKIP;
    for (int i = 1; i <= na; i++) {
        const int ca = centre(starts_a, lengths_a, i - 1, y), la = lengths_a[(i - 1) * HEIGHT + y];
        int diagonal = line[y], left = i * SKIP;
        line[y] = left;
        for (int j = 1; j <= nb; j++) {
            const int cb = centre(starts_b, lengths_b, j - 1, y), lb = lengths_b[(j - 1) * HEIGHT + y];
            const int up = line[j * HEIGHT + y];
            uchar way;
            left = cheapest(diagonal + difference(ca, la, cb, lb), up + SKIP, left + SKIP, &way);
            ways[(i * (RUNS + 1) + j) * HEIGHT + y] = way;
            line[j * HEIGHT + y] = left;
            diagonal = up;
        }
    }
    cost[y] = line[nb * HEIGHT + y];

    // Back from the last cell; the pairs come out in reverse.
    int i = na, j = nb, n = 0;
    while (i > 0 && j > 0) {
        const uchar way = ways[(i * (RUNS + 1) + j) * HEIGHT + y];
        if (way == MATCH) {
            pairs[(y * RUNS + n) * 2] = centre(starts_a, lengths_a, i - 1, y);
            pairs[(y * RUNS + n) * 2 + 1] = centre(starts_b, lengths_b, j - 1, y);
            n++;
        }
        i -= way != SKIP_B;
        j -= way != SKIP_A;
    }
    matched[y] = n;
}

// A group aligns a row: the cells of an anti-diagonal do not depend on each other. Three diagonals are kept, in local
// memory; cell (i, j) of one lies at i.
__kernel void morph_match_wavefront(MATCH_ARGS)
{
    __local int diagonals[3][RUNS + 1];
    __local int ca[RUNS], la[RUNS], cb[RUNS], lb[RUNS];
    const int y = get_group_id(0), l = get_local_id(0), size = get_local_size(0);
    const int na = count_a[y], nb = count_b[y];
    __global uchar *table = ways + (size_t)y * (RUNS + 1) * (RUNS + 1);

    for (int k = l; k < na; k += size) {
        ca[k] = centre(starts_a, lengths_a, k, y);
        la[k] = lengths_a[k * HEIGHT + y];
    }
    for (int k = l; k < nb; k += size) {
        cb[k] = centre(starts_b, lengths_b, k, y);
        lb[k] = lengths_b[k * HEIGHT + y];
    }
    for (int d = 0; d <= na + nb; d++) {
        __local int *now = diagonals[d % 3], *last = diagonals[(d + 2) % 3], *before = diagonals[(d + 1) % 3];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int i = max(0, d - nb) + l; i <= min(na, d); i += size) {
            const int j = d - i;
            int best = d * SKIP;
            if (i > 0 && j > 0) {
                uchar way;
                const int match = before[i - 1] + difference(ca[i - 1], la[i - 1], cb[j - 1], lb[j - 1]);
                best = cheapest(match, last[i - 1] + SKIP, last[i] + SKIP, &way);
                table[i * (RUNS + 1) + j] = way;
            }
            now[i] = best;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    if (l == 0) {
        cost[y] = diagonals[(na + nb) % 3][na];
        int i = na, j = nb, n = 0;
        while (i > 0 && j > 0) {
            const uchar way = table[i * (RUNS + 1) + j];
            if (way == MATCH) {
                pairs[(y * RUNS + n) * 2] = ca[i - 1];
                pairs[(y * RUNS + n) * 2 + 1] = cb[j - 1];
                n++;
            }
            i -= way != SKIP_B;
            j -= way != SKIP_A;
        }
        matched[y] = n;
    }
}

// Half the way from A to B at each pixel of the middle frame: piecewise linear between the matched runs of the row, zero
// just outside the picture. Positions are in quarters of a pixel, which are whole numbers. The row is the same for
// neighbours, so that the loop over its pairs does not diverge.
__kernel void morph_displace(__global const int *pairs, __global const int *matched, __global float *out)
{
    const int x = get_global_id(0), y = get_global_id(1);
    if (x >= WIDTH || y >= HEIGHT)
        return;
    int left = -4, right = 4 * WIDTH, move_left = 0, move_right = 0;
    for (int k = matched[y] - 1; k >= 0; k--) {
        const int a = pairs[(y * RUNS + k) * 2], b = pairs[(y * RUNS + k) * 2 + 1];
        const int at = a + b, move = b - a;
        const bool passed = at <= 4 * x, next = at > 4 * x && at < right;
        left = passed ? at : left;
        move_left = passed ? move : move_left;
        right = next ? at : right;
        move_right = next ? move : move_right;
    }
    const float part = (float)(4 * x - left) / (float)(right - left);
    out[y * WIDTH + x] = 0.25f * ((float)move_left + (float)(move_right - move_left) * part);
}

// Rows are matched independently; a filter along y keeps the picture from tearing where one of them errs.
__kernel void morph_smooth(__global const float *in, __global const float *weights, __global float *out)
{
    const int x = get_global_id(0), y = get_global_id(1);
    if (x >= WIDTH || y >= HEIGHT)
        return;
    float sum = 0.0f;
    for (int k = -RADIUS; k <= RADIUS; k++)
        sum += weights[k + RADIUS] * in[clamp(y + k, 0, HEIGHT - 1) * WIDTH + x];
    out[y * WIDTH + x] = sum;
}

// Which half way belongs to pixel x of the frame at time t. A point at m of the middle frame has come to
// m + (2t - 1) * half(m); a few steps of a fixed-point iteration find m, as the map does not fold.
float half_way(__global const float *row, int x, float t)
{
    const float side = 2.0f * t - 1.0f;
    float m = x, move = row[x];
    for (int step = 0; step < 3; step++) {
        m = clamp((float)x - side * move, 0.0f, (float)(WIDTH - 1));
        const int i = (int)m;
        const float first = row[i], second = row[min(i + 1, WIDTH - 1)];
        move = first + (second - first) * (m - (float)i);
    }
    return move;
}

float4 between(__global const uchar4 *row, float x)
{
    const float at = clamp(x, 0.0f, (float)(WIDTH - 1));
    const int i = (int)at;
    const float4 first = convert_float4(row[i]), second = convert_float4(row[min(i + 1, WIDTH - 1)]);
    return first + (second - first) * (at - (float)i);
}

// Both pictures, each moved its part of the way, and dissolved.
__kernel void morph_frame(__global const uchar4 *a, __global const uchar4 *b, __global const float *half_move, float t,
                          __global uchar4 *out)
{
    const int x = get_global_id(0), y = get_global_id(1);
    if (x >= WIDTH || y >= HEIGHT)
        return;
    const float move = half_way(half_move + y * WIDTH, x, t);
    const float4 from_a = between(a + y * WIDTH, (float)x - 2.0f * t * move);
    const float4 from_b = between(b + y * WIDTH, (float)x + 2.0f * (1.0f - t) * move);
    out[y * WIDTH + x] = convert_uchar4_sat(from_a * (1.0f - t) + from_b * t + 0.5f);
}

#ifdef IMAGES
// The same with the pictures as images, between whose pixels a sampler interpolates.
__constant sampler_t linear = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_LINEAR;

__kernel void morph_frame_image(__read_only image2d_t a, __read_only image2d_t b, __global const float *half_move,
                                float t, __global uchar4 *out)
{
    const int x = get_global_id(0), y = get_global_id(1);
    if (x >= WIDTH || y >= HEIGHT)
        return;
    const float move = half_way(half_move + y * WIDTH, x, t);
    const float4 from_a = read_imagef(a, linear, (float2)((float)x - 2.0f * t * move + 0.5f, (float)y + 0.5f));
    const float4 from_b = read_imagef(b, linear, (float2)((float)x + 2.0f * (1.0f - t) * move + 0.5f, (float)y + 0.5f));
    out[y * WIDTH + x] = convert_uchar4_sat(255.0f * (from_a * (1.0f - t) + from_b * t) + 0.5f);
}
#endif
