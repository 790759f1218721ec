// check: --arg out=32 --arg table=32:index --global 32 --local 8
// The pointer is null only until the loop finds the key, and each key is in the table.
kernel void look_up(global int *out, global const int *table) {
    int key = 31 - (int)get_global_id(0);
    global const int *hit = NULL;
    for (int k = 0; hit == NULL; k++)
        if (table[k] == key)
            hit = table + k;
    out[get_global_id(0)] = *hit;
}
