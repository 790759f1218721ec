// check: --arg out=16 --arg records=16:tag=1,value=index --global 16 --local 8
// The helper gets a plain pointer to int, and cannot know that it points into a packed structure.
struct __attribute__((packed)) record {
    uchar tag;
    int value;
};
int twice(global const int *p) {
    return *p + *p; //~ misaligned
}
kernel void doubled(global int *out, global const struct record *records) {
    size_t i = get_global_id(0);
    out[i] = twice(&records[i].value);
}
