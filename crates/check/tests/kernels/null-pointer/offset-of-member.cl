// check: --arg out=16 --arg entries=16:key=index,value=index --global 16 --local 8
// A member's address in a structure at null is its offset; nothing is read there.
struct entry {
    int key;
    float weight[3];
    int value;
};
#define OFFSET(type, member) ((size_t)(uintptr_t)&((global const type *)0)->member)
kernel void values(global int *out, global const struct entry *entries) {
    size_t i = get_global_id(0);
    global const uchar *bytes = (global const uchar *)&entries[i];
    out[i] = *(global const int *)(bytes + OFFSET(struct entry, value));
}
