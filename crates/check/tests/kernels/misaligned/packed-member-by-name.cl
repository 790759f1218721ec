// check: --arg out=16 --arg records=16:tag=1,value=index --global 16 --local 8
// A member of a packed structure is read as such: the compiler knows its alignment.
struct __attribute__((packed)) record {
    uchar tag;
    int value;
};
kernel void doubled(global int *out, global const struct record *records) {
    size_t i = get_global_id(0);
    out[i] = records[i].value + records[i].tag;
}
