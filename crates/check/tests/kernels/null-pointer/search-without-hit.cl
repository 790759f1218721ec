// check: --arg out=32 --arg table=32:index --global 32 --local 8
// Keys from 32 on are not in the table, and the pointer stays null.
kernel void look_up(global int *out, global const int *table) {
    int key = 2 * (int)get_global_id(0);
    global const int *hit = NULL;
    for (int k = 0; k < 32; k++)
        if (table[k] == key)
            hit = table + k;
    out[get_global_id(0)] = *hit; //~ null-pointer
}
