// check: --arg out=16 --arg in=128:index --global 16 --local 4
// A pointer to bytes runs over both arrays of the record: the bytes of an object may be read in one go.
struct record {
    int key[4];
    int value[4];
};
kernel void hashes(global uint *out, global const int *in) {
    int i = get_global_id(0);
    struct record r;
    for (int k = 0; k < 4; k++) {
        r.key[k] = in[8 * i + k];
        r.value[k] = in[8 * i + 4 + k];
    }
    const uchar *bytes = (const uchar *)&r;
    uint hash = 2166136261u;
    for (uint k = 0; k < sizeof(r); k++)
        hash = (hash ^ bytes[k]) * 16777619u;
    out[i] = hash;
}
