// check: --arg from=16777216 --arg to=16777220 --arg step=1 --arg out=2 --global 2 --local 1 --time-limit 1
// Floats of this size are 2 apart: adding the step changes nothing.
kernel void integrate(float from, float to, float step, global float *out)
{
    float sum = 0.0f;
    for (float x = from; x < to; x += step) //~ endless
        sum += step / x;
    out[get_global_id(0)] = sum;
}
