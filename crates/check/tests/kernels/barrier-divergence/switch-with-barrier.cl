// check: --arg ops=16:index --arg out=16 --global 16 --local 16
// One case of the switch has a barrier; the other work-items wait at the barrier after the switch.
kernel void run(global const uint *ops, global uint *out)
{
    local uint slots[16];
    size_t l = get_local_id(0);
    slots[l] = ops[l];
    switch (ops[l] & 3) {
    case 0:
        slots[l] += 10;
        barrier(CLK_LOCAL_MEM_FENCE); //~ barrier-divergence
        break;
    case 1:
        slots[l] *= 2;
        break;
    default:
        slots[l] = 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE); //~ barrier-divergence
    out[l] = slots[l];
}
