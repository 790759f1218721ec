// check: --arg text=64:index --arg wanted=5 --arg found=1 --global 16 --local 16
// A volatile flag ends the search early: volatile orders nothing.
kernel void search(global const uchar *text, uchar wanted, global int *found)
{
    local volatile int hit;
    uint l = get_local_id(0);
    if (l == 0)
        hit = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = l; i < 64; i += 16) {
        if (hit) //~ race-local
            break;
        if (text[i] == wanted)
            hit = 1; //~ race-local
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l == 0)
        found[0] = hit;
}
