// Water in a basin of WIDTH x HEIGHT cells under rain, over nine running films. RAIN is how many drops a step may have;
// KEEP: how much of its motion a cell keeps in a step; ABSORB: the edges swallow waves; DRIVE: the left edge makes them.

#define WALL 1
#define SPONGE 16

uint hash(uint v)
{
    v = (v ^ (v >> 16)) * 0x7feb352du;
    v = (v ^ (v >> 15)) * 0x846ca68bu;
    return v ^ (v >> 16);
}

// How far from the edges that swallow waves.
int from_edge(int x, int y)
{
    const int up_down = min(y, HEIGHT - 1 - y), right = WIDTH - 1 - x;
#if DRIVE
    return min(up_down, right);
#else
    return min(up_down, min(x, right));
#endif
}

// Height above which a wave breaks: less where the water is shallow and waves are slow.
float breaks_at(float speed)
{
    return 0.35f + 2.0f * speed;
}

// What a cell does after its neighbours: absorption, rain, breaking. One branch for each event.
float next_height(int x, int y, float now, float old, float around, float speed, uint step, float drive,
                  __global float *foam)
{
    float motion = (now - old) * KEEP;
#if ABSORB
    const int edge = from_edge(x, y);
    if (edge < SPONGE)
        motion *= 1.0f - 0.02f * (float)(SPONGE - edge);
#endif
    float next = now + motion + speed * (around - 4.0f * now);
    for (uint k = 0; k < RAIN; k++) {
        const uint h = hash(step * RAIN + k);
        if (h & 15)
            continue;
        const int dx = x - (int)(hash(h) % WIDTH), dy = y - (int)(hash(h + 1) % HEIGHT);
        const int radius = 3 + (h >> 8 & 3);
        const int distance = dx * dx + dy * dy;
        if (distance < radius * radius) {
            const float in = 1.0f - (float)distance / (float)(radius * radius);
            next -= 0.9f * in * in;
        }
    }
    float white = *foam * 0.97f;
    const float limit = breaks_at(speed);
    if (fabs(next) > limit) {
        const float spray = 0.5f * (fabs(next) - limit);
        white = fmin(white + 2.0f * spray, 4.0f);
        if (next > 0.0f)
            next = limit + spray;
        else
            next = -limit - spray;
    }
    *foam = white;
#if DRIVE
    if (x == 0)
        next = drive;
#endif
    return next;
}

#define STEP_ARGS __global const float *now, __global float *old, __global float *foam, __global const uchar *kind, \
                  __global const float *speed, uint step, float drive

// `old` becomes the next height: only its own cell reads it. Walls and edges reflect: what is not water is as high as the
// cell itself.
__kernel void wave_step_ocl(STEP_ARGS)
{
    const int x = get_global_id(0), y = get_global_id(1);
    if (x >= WIDTH || y >= HEIGHT)
        return;
    const int i = y * WIDTH + x;
    if (kind[i] == WALL)
        return;
    const float here = now[i];
    float around = 0.0f;
    if (x > 0 && kind[i - 1] != WALL)
        around += now[i - 1];
    else
        around += here;
    if (x < WIDTH - 1 && kind[i + 1] != WALL)
        around += now[i + 1];
    else
        around += here;
    if (y > 0 && kind[i - WIDTH] != WALL)
        around += now[i - WIDTH];
    else
        around += here;
    if (y < HEIGHT - 1 && kind[i + WIDTH] != WALL)
        around += now[i + WIDTH];
    else
        around += here;
    old[i] = next_height(x, y, here, old[i], around, speed[i], step, drive, foam + i);
}

// The tile and its border in local memory, where a wall is a height that no water has.
#define NO_WATER 1e30f

__kernel void wave_step_local(STEP_ARGS)
{
    __local float tile[TILE_H + 2][TILE_W + 2];
    const int x = get_global_id(0), y = get_global_id(1);
    const int lx = get_local_id(0), ly = get_local_id(1);
    for (int k = ly * TILE_W + lx; k < (TILE_H + 2) * (TILE_W + 2); k += TILE_W * TILE_H) {
        const int tx = x - lx - 1 + k % (TILE_W + 2), ty = y - ly - 1 + k / (TILE_W + 2);
        const bool inside = tx >= 0 && ty >= 0 && tx < WIDTH && ty < HEIGHT;
        const int i = inside ? ty * WIDTH + tx : 0;
        tile[k / (TILE_W + 2)][k % (TILE_W + 2)] = inside && kind[i] != WALL ? now[i] : NO_WATER;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    const float here = tile[ly + 1][lx + 1];
    if (x >= WIDTH || y >= HEIGHT || here == NO_WATER)
        return;
    const float left = tile[ly + 1][lx], right = tile[ly + 1][lx + 2];
    const float up = tile[ly][lx + 1], down = tile[ly + 2][lx + 1];
    float around = left == NO_WATER ? here : left;
    around += right == NO_WATER ? here : right;
    around += up == NO_WATER ? here : up;
    around += down == NO_WATER ? here : down;
    const int i = y * WIDTH + x;
    old[i] = next_height(x, y, here, old[i], around, speed[i], step, drive, foam + i);
}

// The same arithmetic with selections in place of branches; a wall stays at zero.
__kernel void wave_step_branchless(STEP_ARGS)
{
    const int x = get_global_id(0), y = get_global_id(1);
    if (x >= WIDTH || y >= HEIGHT)
        return;
    const int row = y * WIDTH, i = row + x;
    const int left = row + max(x - 1, 0), right = row + min(x + 1, WIDTH - 1);
    const int up = max(y - 1, 0) * WIDTH + x, down = min(y + 1, HEIGHT - 1) * WIDTH + x;
    const float here = now[i];
    const float l = now[left], r = now[right], u = now[up], d = now[down];
    float around = kind[left] == WALL ? here : l;
    around += kind[right] == WALL ? here : r;
    around += kind[up] == WALL ? here : u;
    around += kind[down] == WALL ? here : d;

    float motion = (here - old[i]) * KEEP;
#if ABSORB
    motion *= 1.0f - 0.02f * (float)max(SPONGE - from_edge(x, y), 0);
#endif
    float next = here + motion + speed[i] * (around - 4.0f * here);
    for (uint k = 0; k < RAIN; k++) {
        const uint h = hash(step * RAIN + k);
        const int dx = x - (int)(hash(h) % WIDTH), dy = y - (int)(hash(h + 1) % HEIGHT);
        const int radius = 3 + (h >> 8 & 3);
        const float in = fmax(1.0f - (float)(dx * dx + dy * dy) / (float)(radius * radius), 0.0f);
        next -= (h & 15 ? 0.0f : 0.9f) * in * in;
    }
    const float limit = breaks_at(speed[i]);
    const float spray = 0.5f * fmax(fabs(next) - limit, 0.0f);
    next = copysign(fmin(fabs(next), limit) + spray, next);
#if DRIVE
    next = x == 0 ? drive : next;
#endif
    const bool wall = kind[i] == WALL;
    foam[i] = wall ? 0.0f : fmin(foam[i] * 0.97f + 2.0f * spray, 4.0f);
    old[i] = wall ? 0.0f : next;
}

// Which of the nine films covers a pixel, and where it begins and ends.
int film_at(int x, int y, int4 *area)
{
    const int column = x * 3 / WIDTH, row = y * 3 / HEIGHT;
    *area = (int4)((column * WIDTH + 2) / 3, (row * HEIGHT + 2) / 3, ((column + 1) * WIDTH + 2) / 3 - 1,
                   ((row + 1) * HEIGHT + 2) / 3 - 1);
    return row * 3 + column;
}

// A disc with a soft edge.
float disc(float2 p, float radius)
{
    return 1.0f - smoothstep(radius - 0.02f, radius + 0.02f, length(p));
}

float wave01(float v)
{
    return 0.5f + 0.5f * sin(v);
}

// The films, at `p` from -1 to 1 and time `t`.
float3 film(int number, float2 p, float t)
{
    switch (number) {
    case 0: { // a ball over a floor
        const float2 at = (float2)(0.6f * sin(0.9f * t), 0.55f - 0.95f * fabs(sin(1.7f * t)));
        const float floor_line = smoothstep(0.68f, 0.72f, p.y);
        const float3 sky = mix((float3)(0.25f, 0.45f, 0.75f), (float3)(0.85f, 0.9f, 0.95f), 0.5f + 0.5f * p.y);
        const float3 scene = mix(sky, (float3)(0.35f, 0.55f, 0.3f), floor_line);
        const float glow = 0.55f + 0.45f * disc(p - at + (float2)(0.06f, 0.06f), 0.1f);
        return mix(scene, (float3)(0.9f, 0.35f, 0.2f) * glow, disc(p - at, 0.2f));
    }
    case 1: // rings that run outwards
        return mix((float3)(0.1f, 0.3f, 0.45f), (float3)(0.95f, 0.85f, 0.6f), wave01(22.0f * length(p) - 5.0f * t));
    case 2: { // plasma
        const float v = sin(4.0f * p.x + t) + sin(3.0f * p.y - 1.3f * t) + sin(3.0f * (p.x + p.y) + 0.7f * t);
        return (float3)(wave01(v), wave01(v + 2.1f), wave01(v + 4.2f));
    }
    case 3: { // a board that scrolls
        const float v = sin(9.0f * p.x + 2.0f * t) * sin(9.0f * p.y + t);
        return mix((float3)(0.15f, 0.2f, 0.35f), (float3)(0.95f, 0.75f, 0.35f), smoothstep(-0.15f, 0.15f, v));
    }
    case 4: { // a square that turns
        const float c = cos(t), s = sin(t);
        const float2 q = (float2)(c * p.x + s * p.y, c * p.y - s * p.x);
        const float inside = 1.0f - smoothstep(0.47f, 0.53f, fmax(fabs(q.x), fabs(q.y)));
        const float3 face = (float3)(0.3f + 0.6f * wave01(3.0f * q.x), 0.55f, 0.35f + 0.5f * wave01(3.0f * q.y));
        return mix((float3)(0.2f, 0.22f, 0.28f), face, inside);
    }
    case 5: { // hills before a sun
        float3 c = mix((float3)(0.95f, 0.55f, 0.35f), (float3)(0.35f, 0.4f, 0.7f), 0.5f - 0.5f * p.y);
        c = mix(c, (float3)(1.0f, 0.95f, 0.7f), disc(p - (float2)(0.7f * sin(0.4f * t), -0.25f), 0.22f));
        const float far = 0.1f + 0.16f * sin(3.0f * p.x + 0.5f * t), near = 0.45f + 0.14f * sin(4.0f * p.x + 1.3f * t);
        c = mix(c, (float3)(0.3f, 0.35f, 0.5f), smoothstep(far - 0.02f, far + 0.02f, p.y));
        return mix(c, (float3)(0.15f, 0.3f, 0.2f), smoothstep(near - 0.02f, near + 0.02f, p.y));
    }
    case 6: { // drops that flow into each other
        const float2 a = p - (float2)(0.5f * sin(t), 0.4f * cos(1.3f * t));
        const float2 b = p - (float2)(0.5f * cos(0.8f * t), 0.5f * sin(1.1f * t)), c = p - (float2)(0.3f * sin(2.0f * t), 0.0f);
        const float v = 0.06f / (0.02f + dot(a, a)) + 0.05f / (0.02f + dot(b, b)) + 0.04f / (0.02f + dot(c, c));
        return mix((float3)(0.1f, 0.12f, 0.25f), (float3)(0.45f, 0.85f, 0.75f), smoothstep(0.2f, 1.6f, v));
    }
    case 7: { // clouds, as on a negative
        const float v = sin(3.0f * p.x + t + sin(4.0f * p.y)) + 0.5f * sin(7.0f * p.y - 0.6f * t + 2.0f * sin(3.0f * p.x + t));
        return mix((float3)(0.85f, 0.40f, 0.12f), (float3)(0.15f, 0.12f, 0.05f), smoothstep(-0.8f, 1.2f, v));
    }
    default: { // a clock
        const float2 hand = (float2)(sin(1.2f * t), -cos(1.2f * t));
        const float along = clamp(dot(p, hand), 0.0f, 0.62f);
        const float from = length(p - along * hand);
        float3 c = mix((float3)(0.55f, 0.25f, 0.3f), (float3)(0.95f, 0.93f, 0.85f), disc(p, 0.8f));
        c = mix(c, (float3)(0.2f, 0.2f, 0.25f), disc(p, 0.8f) - disc(p, 0.74f));
        return mix(c, (float3)(0.1f, 0.15f, 0.35f), 1.0f - smoothstep(0.03f, 0.07f, from));
    }
    }
}

__kernel void wave_films(__global float4 *films, float t)
{
    const int x = get_global_id(0), y = get_global_id(1);
    if (x >= WIDTH || y >= HEIGHT)
        return;
    int4 area;
    const int number = film_at(x, y, &area);
    const float2 size = (float2)(area.z - area.x + 1, area.w - area.y + 1);
    const float2 p = (2.0f * (float2)(x - area.x, y - area.y) + 1.0f) / size - 1.0f;
    films[y * WIDTH + x] = (float4)(film(number, p, t), 1.0f);
}

float luma(float4 c)
{
    return 0.299f * c.x + 0.587f * c.y + 0.114f * c.z;
}

float4 pixel(__global const float4 *films, int4 area, int x, int y)
{
    return films[clamp(y, area.y, area.w) * WIDTH + clamp(x, area.x, area.z)];
}

float steps(float v)
{
    const float scaled = 4.0f * v, whole = floor(scaled);
    return (whole + smoothstep(0.35f, 0.65f, scaled - whole)) * 0.25f;
}

// A filter for each film, chosen by its number: neighbours take the same branch except at the seams.
__kernel void wave_filter(__global const float4 *films, __global float4 *out, float angle)
{
    const int x = get_global_id(0), y = get_global_id(1);
    if (x >= WIDTH || y >= HEIGHT)
        return;
    int4 area;
    const int number = film_at(x, y, &area);
    const float4 c = films[y * WIDTH + x];
    float4 v = c;
    switch (number) {
    case 0: // grey
        v = (float4)luma(c);
        break;
    case 1: // sepia
        v = (float4)(0.393f * c.x + 0.769f * c.y + 0.189f * c.z, 0.349f * c.x + 0.686f * c.y + 0.168f * c.z,
                     0.272f * c.x + 0.534f * c.y + 0.131f * c.z, 1.0f);
        break;
    case 2: { // blur
        v = (float4)0.0f;
        for (int dy = -2; dy <= 2; dy++)
            for (int dx = -2; dx <= 2; dx++)
                v += (float)((3 - abs(dx)) * (3 - abs(dy))) * pixel(films, area, x + dx, y + dy);
        v *= 1.0f / 81.0f;
        break;
    }
    case 3: // sharpen
        v = 5.0f * c - (pixel(films, area, x - 1, y) + pixel(films, area, x + 1, y) + pixel(films, area, x, y - 1)
                        + pixel(films, area, x, y + 1));
        break;
    case 4: // emboss
        v = (float4)(0.5f + 2.0f * (luma(pixel(films, area, x + 1, y + 1)) - luma(pixel(films, area, x - 1, y - 1))));
        break;
    case 5: { // edges
        float gx = 0.0f, gy = 0.0f;
        for (int d = -1; d <= 1; d++) {
            const float weight = d == 0 ? 2.0f : 1.0f;
            gx += weight * (luma(pixel(films, area, x + 1, y + d)) - luma(pixel(films, area, x - 1, y + d)));
            gy += weight * (luma(pixel(films, area, x + d, y + 1)) - luma(pixel(films, area, x + d, y - 1)));
        }
        v = (float4)fmin(2.0f * sqrt(gx * gx + gy * gy + 1e-4f), 1.0f);
        break;
    }
    case 6: // few shades
        v = (float4)(steps(c.x), steps(c.y), steps(c.z), 1.0f);
        break;
    case 7: // negative
        v = 1.0f - c;
        break;
    default: { // other hues: a turn about the grey axis
        const float s = sin(angle), k = cos(angle), third = (1.0f - k) / 3.0f, side = 0.57735027f * s;
        v = (float4)((k + third) * c.x + (third - side) * c.y + (third + side) * c.z,
                     (third + side) * c.x + (k + third) * c.y + (third - side) * c.z,
                     (third - side) * c.x + (third + side) * c.y + (k + third) * c.z, 1.0f);
    }
    }
    out[y * WIDTH + x] = clamp(v, 0.0f, 1.0f);
}

float water_or(__global const float *height, __global const uchar *kind, int x, int y, float here)
{
    const int i = clamp(y, 0, HEIGHT - 1) * WIDTH + clamp(x, 0, WIDTH - 1);
    return kind[i] == WALL ? here : height[i];
}

// The films through the surface: bent by its slope, tinted by depth, lit, with foam.
__kernel void wave_render(__global const float *height, __global const float *foam, __global const uchar *kind,
                          __global const float *speed, __global const float4 *mosaic, __global uchar4 *out)
{
    const int x = get_global_id(0), y = get_global_id(1);
    if (x >= WIDTH || y >= HEIGHT)
        return;
    const int i = y * WIDTH + x;
    float4 c;
    if (kind[i] == WALL) {
        // Stone, lighter where water is to the upper left.
        float shade = 0.50f + 0.04f * (float)((x / 6 + y / 4) % 2);
        if (x > 0 && y > 0 && kind[i - WIDTH - 1] != WALL)
            shade += 0.25f;
        if (x < WIDTH - 1 && y < HEIGHT - 1 && kind[i + WIDTH + 1] != WALL)
            shade -= 0.25f;
        c = shade * (float4)(1.0f, 0.94f, 0.84f, 1.0f);
    } else {
        const float here = height[i];
        const float gx = water_or(height, kind, x + 1, y, here) - water_or(height, kind, x - 1, y, here);
        const float gy = water_or(height, kind, x, y + 1, here) - water_or(height, kind, x, y - 1, here);
        const float px = clamp((float)x + 24.0f * gx, 0.0f, (float)(WIDTH - 1));
        const float py = clamp((float)y + 24.0f * gy, 0.0f, (float)(HEIGHT - 1));
        const int x0 = (int)px, y0 = (int)py, x1 = min(x0 + 1, WIDTH - 1), y1 = min(y0 + 1, HEIGHT - 1);
        const float fx = px - (float)x0, fy = py - (float)y0;
        const float4 upper = mix(mosaic[y0 * WIDTH + x0], mosaic[y0 * WIDTH + x1], fx);
        const float4 lower = mix(mosaic[y1 * WIDTH + x0], mosaic[y1 * WIDTH + x1], fx);
        c = mix(upper, lower, fy);
        // Deep water is bluer.
        c = mix(c, (float4)(0.08f, 0.30f, 0.42f, 1.0f), 0.08f + 0.6f * speed[i]);
        const float3 normal = normalize((float3)(-3.0f * gx, -3.0f * gy, 1.0f));
        const float light = dot(normal, (float3)(-0.40f, -0.45f, 0.80f));
        c *= 0.62f + 0.48f * fmax(light, 0.0f);
        const float away = 1.0f - normal.z;
        c = mix(c, (float4)(0.75f, 0.86f, 0.95f, 1.0f), 0.03f + 0.5f * away * away);
        const float shine = fmax(dot(normal, (float3)(-0.2108f, -0.2372f, 0.9483f)), 0.0f);
        c += 0.55f * pow(shine, 60.0f) * fmin(20.0f * away, 1.0f);
        c = mix(c, (float4)(0.97f, 0.98f, 1.0f, 1.0f), fmin(foam[i], 0.85f));
    }
    c.w = 1.0f;
    out[i] = convert_uchar4_sat(255.0f * c + 0.5f);
}
