kernel void k(global float4 *a, local int *l) {
    vec4 v = (float4)(0);
    a[0] = vec4(1, 2, 3, 4);
    global int *p = nullptr;
    barrier(CLK_LOCAL_MEM);
    barrier(clk_local_mem_fence);
    a[1] = M_pi;
    a[2] = Sin(3.0f);
    a[3] = Get_Global_Id(0);
    Float4 w;
    FLOAT x;
    IF (l) return;
    Return;
}
