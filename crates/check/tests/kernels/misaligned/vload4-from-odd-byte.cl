// check: --arg out=8 --arg bytes=132:index --global 8 --local 8
// vload4 may read ints from any multiple of four; behind a header of three bytes there is none.
#define HEADER 3
kernel void sums(global int *out, global const uchar *bytes) {
    size_t i = get_global_id(0);
    int4 v = vload4(i, (global const int *)(bytes + HEADER)); //~ misaligned
    out[i] = v.x ^ v.y ^ v.z ^ v.w;
}
