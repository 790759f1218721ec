// How many lines and words a stretch of a text has, a stretch a work-item.

#ifndef INDEX
#define INDEX int
#define COUNT int
#endif

__kernel void lines(__global const uchar *text, const COUNT n, const COUNT stretch, __global uint2 *counts)
{
    const INDEX first = get_global_id(0) * stretch;

    if (first >= n)
        return;

    const INDEX end = first + stretch < n ? first + stretch : n;
    uint line_count = 0, word_count = 0;
    uchar before = first > 0 ? text[first - 1] : ' ';
    for (INDEX i = first; i < end; i++) {
        const uchar c = text[i];
        if (c == '\n')
            line_count++;
        if (c > ' ' && before <= ' ')
            word_count++;
        before = c;
    }
    counts[get_global_id(0)] = (uint2)(line_count, word_count);
}
