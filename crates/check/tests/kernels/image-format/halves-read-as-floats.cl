// check: --arg out=32:r,float --arg in=32:rgba,half_float:random --global 32 --local 16
// Halves are converted to float by read_imagef.
kernel void lengths(write_only image1d_t out, read_only image1d_t in) {
    int x = get_global_id(0);
    float4 v = read_imagef(in, x);
    write_imagef(out, x, (float4)(length(v.xyz), 0.0f, 0.0f, 1.0f));
}
