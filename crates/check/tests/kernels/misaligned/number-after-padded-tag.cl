// check: --arg out=16 --arg bytes=128:index --global 16 --local 8
// Records of a tag, three unused bytes and a number: all numbers are at multiples of four.
kernel void numbers(global int *out, global const uchar *bytes) {
    size_t i = get_global_id(0);
    global const uchar *record = bytes + 8 * i;
    out[i] = *(global const int *)(record + 4) + record[0];
}
