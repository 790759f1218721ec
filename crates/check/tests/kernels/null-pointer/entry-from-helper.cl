// check: --arg out=16 --arg entries=16:key=index,value=7 --global 16 --local 16
// The helper returns null for keys it does not find; the kernel reads the value without a test.
struct entry {
    int key;
    int value;
};
global const struct entry *find(global const struct entry *entries, int key) {
    for (int k = 0; k < 16; k++)
        if (entries[k].key == key)
            return &entries[k];
    return 0;
}
kernel void values(global int *out, global const struct entry *entries) {
    int i = get_global_id(0);
    out[i] = find(entries, 3 * i)->value; //~ null-pointer
}
