// check: --arg in=8:index --global 8 --local 8
// A table of program scope in constant memory, overwritten through a pointer to global memory.
constant int table[8] = {1, 2, 4, 8, 16, 32, 64, 128};
kernel void refresh(global const int *in) {
    global int *entries = (global int *)(uintptr_t)table;
    size_t i = get_global_id(0);
    entries[i] = in[i]; //~ write-to-constant
}
