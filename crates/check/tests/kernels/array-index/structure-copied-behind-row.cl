// check: --arg out=16 --global 16 --local 4
// The copy of a whole structure goes into the row of the next work-item.
typedef struct {
    int key;
    float values[7];
} record;

kernel void keys(global int *out) {
    local record rows[4][2];
    int l = get_local_id(0);
    record own = {l, {0}};
    rows[l][0] = own;
    rows[l][1] = own;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l == 0)
        rows[l][2] = own; //~ array-index
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = rows[l][1].key;
}
