// check: --arg out=16 --global 16 --local 4
// The address behind a row is computed, and the structure beside it is copied.
typedef struct {
    int key;
    float values[7];
} record;

kernel void keys(global int *out) {
    local record rows[4][2];
    int l = get_local_id(0);
    record own = {l, {0}};
    local record *end = &rows[l][2];
    rows[l][0] = own;
    rows[l][1] = rows[l][0];
    out[get_global_id(0)] = end[-1].key;
}
