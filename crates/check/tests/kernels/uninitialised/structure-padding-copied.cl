// check: --arg out=16 --arg in=16:index --global 16 --local 8
// The bytes between the tag and the number have no value; they are copied with the whole structure.
struct record {
    uchar tag;
    int number;
};
kernel void records(global struct record *out, global const int *in) {
    size_t i = get_global_id(0);
    struct record r;
    r.tag = i & 7;
    r.number = in[i];
    struct record copy = r;
    out[i] = copy;
}
