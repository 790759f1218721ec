// check: --arg out=32 --arg rings=32:head=0,slots=index --global 32 --local 16
// The head is at slot 0, and the slot before it is the last one: -1 & 7 is 7.
struct ring {
    int head;
    int slots[8];
};
kernel void newest(global int *out, global const struct ring *rings) {
    size_t i = get_global_id(0);
    int head = rings[i].head;
    out[i] = rings[i].slots[(head - 1) & 7];
}
