// check: --arg out=32 --arg rings=32:head=0,slots=index --global 32 --local 16
// The newest value is in the slot before the head, but the head is at slot 0 and the index does not go round.
struct ring {
    int head;
    int slots[8];
};
kernel void newest(global int *out, global const struct ring *rings) {
    size_t i = get_global_id(0);
    int head = rings[i].head;
    out[i] = rings[i].slots[head - 1]; //~ array-index
}
