// check: --arg from=16777000 --arg to=16777216 --arg step=1 --arg out=4 --global 4 --local 2 --time-limit 1
// Up to 2 to the power of 24 each step still changes the float.
kernel void integrate(float from, float to, float step, global float *out)
{
    float sum = 0.0f;
    for (float x = from; x < to; x += step)
        sum += step / x;
    out[get_global_id(0)] = sum;
}
