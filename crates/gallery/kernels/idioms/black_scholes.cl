// Prices of European options after Black and Scholes.

#ifndef INDEX
#define INDEX int
#define COUNT int
#endif

float normal_distribution(float d)
{
    const float k = 1.0f / (1.0f + 0.2316419f * fabs(d));
    float tail = 1.781477937f + k * (-1.821255978f + k * 1.330274429f);
    tail = 0.319381530f + k * (-0.356563782f + k * tail);
    tail *= 0.3989422804f * exp(-0.5f * d * d) * k;
    return d > 0.0f ? 1.0f - tail : tail;
}

__kernel void black_scholes(__global const float *stock, __global const float *strike, __global const float *years,
                            __global float *call, __global float *put, const float rate, const float volatility,
                            const COUNT n)
{
    const INDEX i = get_global_id(0);

    if (i >= n)
        return;

    const float s = stock[i], x = strike[i], t = years[i];
    const float root = sqrt(t);
    const float d1 = (log(s / x) + (rate + 0.5f * volatility * volatility) * t) / (volatility * root);
    const float d2 = d1 - volatility * root;
    const float c1 = normal_distribution(d1), c2 = normal_distribution(d2);
    const float discounted = x * exp(-rate * t);
    call[i] = s * c1 - discounted * c2;
    put[i] = discounted * (1.0f - c2) - s * (1.0f - c1);
}
