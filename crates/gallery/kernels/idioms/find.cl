// Where a pattern of bytes occurs in a text: each work-item compares at its own place, and stops at the first difference.

#ifndef INDEX
#define INDEX int
#define COUNT int
#endif

__kernel void find(__global const uchar *text, const COUNT n, __constant uchar *pattern, const COUNT length,
                   __global uchar *found)
{
    const INDEX i = get_global_id(0);

    if (i + length > n)
        return;

    INDEX k = 0;
    while (k < length && text[i + k] == pattern[k])
        k++;
    found[i] = k == length;
}
