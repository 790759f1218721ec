// The table behind the longest common subsequence, or the edit distance (-DEDIT=1), of strands a (m symbols) and b (n
// symbols): H[i][j] is the value for the first i and the first j symbols. It needs its neighbours above, left and
// diagonally.
//
// Nobody keeps a table of 10^10 cells: the kernels keep every STEP-th row in `rows` (n + 1 cells each, row i at i /
// STEP), from which the host computes what it needs to walk back and find the subsequence itself.

#if EDIT
#define BORDER(i) (i)
#define CELL(diagonal, up, left, same) min(min(up, left) + 1, (diagonal) + ((same) ? 0 : 1))
#else
#define BORDER(i) 0
#define CELL(diagonal, up, left, same) max(max(up, left), (diagonal) + ((same) ? 1 : 0))
#endif

// One launch for each anti-diagonal i + j = d; a work-item computes a cell, the first one that of row `first`. The
// diagonals are indexed by i.
__kernel void lcs_diagonal(__global const uchar *a, __global const uchar *b, int n, int d, int first, int cells,
                           __global const int *two, __global const int *one, __global int *now, __global int *rows)
{
    const int k = get_global_id(0);
    if (k >= cells)
        return;

    const int i = first + k;
    const int j = d - i;
    int value;
    if (i == 0)
        value = BORDER(j);
    else if (j == 0)
        value = BORDER(i);
    else
        value = CELL(two[i - 1], one[i - 1], one[i], a[i - 1] == b[j - 1]);
    now[i] = value;
    if (i % STEP == 0)
        rows[i / STEP * (n + 1) + j] = value;
}

// The same, skewed and padded so that eight cells at a time are computed with no branch: b is reversed, both strands
// are padded with symbols that occur nowhere, and cells left of the table hold the values that make its first column
// come out right. What is computed to the right of the table is never used. `rows` has `pitch` cells a row, of which
// those from `origin` on are the table's.
__kernel void lcs_skewed(__global const uchar *a, __global const uchar *reversed, int m, int n, int d, __global const int *two,
                         __global const int *one, __global int *now, __global int *rows, int pitch, int origin)
{
    const int i = get_global_id(0) * 8;
    // Symbols i - 1 of a and j - 1 = d - i - 1 of b; the padding of both starts them one later and m + 8 later.
    const uchar8 x = vload8(0, a + i);
    const uchar8 y = vload8(0, reversed + n - d + i + m + 8);
    const int8 diagonal = vload8(0, two + i);
    const int8 up = vload8(0, one + i);
    const int8 left = vload8(0, one + i + 1);
    const int8 same = convert_int8(x == y);
#if EDIT
    int8 value = min(min(up, left) + 1, diagonal + select((int8)(1), (int8)(0), same));
#else
    int8 value = max(max(up, left), diagonal + select((int8)(0), (int8)(1), same));
#endif
    value.s0 = i == 0 ? BORDER(max(d, 0)) : value.s0;
    vstore8(value, 0, now + i + 1);
    // STEP is a multiple of eight.
    if (i % STEP == 0)
        rows[i / STEP * pitch + origin + d - i] = value.s0;
}

// A tile of STEP by STEP cells a work-item, the `count` tiles of one wavefront in a launch, from tile row `first` on;
// no barrier. A tile takes the row above from `rows` and leaves its last row there; `columns` holds the column to its
// left and then its last one.
__kernel void lcs_tiles(__global const uchar *a, __global const uchar *b, int m, int n, int wave, int first, int count,
                        __global int *columns, __global int *rows)
{
    const int k = get_global_id(0);
    if (k >= count)
        return;

    const int ti = first + k;
    const int tj = wave - ti;
    int row[STEP + 1];
    const int top = ti * STEP, left = tj * STEP;
    const int height = min(STEP, m - top), width = min(STEP, n - left);
    __global const int *above = rows + ti * (n + 1) + left;

    for (int j = 0; j <= width; j++)
        row[j] = above[j];
    for (int i = 0; i < height; i++) {
        const uchar symbol = a[top + i];
        int diagonal = row[0];
        row[0] = columns[top + i];
        for (int j = 1; j <= width; j++) {
            const int up = row[j];
            row[j] = CELL(diagonal, up, row[j - 1], symbol == b[left + j - 1]);
            diagonal = up;
        }
        columns[top + i] = row[width];
    }
    __global int *below = rows + (ti + 1) * (n + 1) + left;
    // The first cell of the row belongs to the tile on the left, but for the border.
    for (int j = tj > 0; j <= width; j++)
        below[j] = row[j];
}

// A tile of STEP by STEP cells a group, a row of it a work-item, which is one column behind the work-item above: what
// that one computed a step ago is up, and what was up a step ago is diagonal. Leaves what lcs_tiles leaves.
__kernel void lcs_wavefront(__global const uchar *a, __global const uchar *b, int m, int n, int wave, int first, int count,
                            __global int *columns, __global int *rows)
{
    __local int line[2][STEP + 1];
    const int i = get_local_id(0);
    const int ti = first + (int)get_group_id(0);
    const int tj = wave - ti;
    const int top = ti * STEP, left = tj * STEP;
    const int height = min(STEP, m - top), width = min(STEP, n - left);
    __global const int *above = rows + ti * (n + 1) + left;
    __global int *below = rows + (ti + 1) * (n + 1) + left;
    const uchar symbol = i < height ? a[top + i] : 0;
    int value = i < height ? columns[top + i] : 0;
    int diagonal = i == 0 || i >= height ? above[0] : columns[top + i - 1];

    // The first cell of the row belongs to the tile on the left, but for the border.
    if (i == height - 1 && tj == 0)
        below[0] = value;
    // All have read `columns` before any work-item writes it at the end: the barriers of the loop order local memory only.
    barrier(CLK_GLOBAL_MEM_FENCE);
    for (int d = 0; d < width + height - 1; d++) {
        const int j = d - i;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (i < height && j >= 0 && j < width) {
            const int up = i == 0 ? above[j + 1] : line[(d + 1) & 1][i];
            value = CELL(diagonal, up, value, symbol == b[left + j]);
            line[d & 1][i + 1] = value;
            diagonal = up;
            if (i == height - 1)
                below[j + 1] = value;
        }
    }
    if (i < height)
        columns[top + i] = value;
}
