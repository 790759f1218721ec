// check: --arg out=16 --arg bytes=80:index --global 16 --local 8
// Records of a tag and a number take five bytes each: most numbers are at odd addresses.
kernel void numbers(global int *out, global const uchar *bytes) {
    size_t i = get_global_id(0);
    global const uchar *record = bytes + 5 * i;
    out[i] = *(global const int *)(record + 1); //~ misaligned
}
