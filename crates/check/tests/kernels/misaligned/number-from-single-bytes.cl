// check: --arg out=16 --arg bytes=80:index --global 16 --local 8
// The number at an odd address is read as four bytes.
kernel void numbers(global int *out, global const uchar *bytes) {
    size_t i = get_global_id(0);
    uchar4 b = vload4(0, bytes + 5 * i + 1);
    out[i] = as_int(b);
}
