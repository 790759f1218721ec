// Draws the cloths: a cell of the picture each, CELLS in a row. Corners come in sixteenths of a sample (or eighths), so
// that which samples a triangle covers is a matter of integers; four samples a pixel. What is nearest is found by
// atomic_min of depth and triangle in one number. Sky, ground, sphere and pole are where a pixel's ray meets them.

#define SAMPLES_X (2 * CELL_W)
#define SAMPLES_Y (2 * CELL_H)
#define FARTHEST ((float)((1 << (32 - ID_BITS)) - 2))

// eye, right, up, forward: three numbers each.
#define CAMERA(k) ((float3)(camera[3 * (k)], camera[3 * (k) + 1], camera[3 * (k) + 2]))
#define PLANE_DRAWN (FLAGS * NODES)

float dot_of(float3 a, float3 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

float3 unit(float3 v)
{
    return v * (1.0f / fmax(sqrt(dot_of(v, v)), 1e-12f));
}

// Places to corners on the screen: x and y, the depth, the normal.
__kernel void cloth_project(__global const float *p, __global int *corners, __global float *normals,
                            __global const float *camera)
{
    const int x = get_global_id(0), row = get_global_id(1);
    if (x >= W || row >= H * FLAGS)
        return;
    const int y = row % H, i = row * W + x;
    const int left = x > 0 ? i - 1 : i, right = x < W - 1 ? i + 1 : i;
    const int above = y > 0 ? i - W : i, below = y < H - 1 ? i + W : i;
    const float3 across = AT(p, PLANE_DRAWN, right) - AT(p, PLANE_DRAWN, left);
    const float3 along = AT(p, PLANE_DRAWN, above) - AT(p, PLANE_DRAWN, below);
    const float3 normal = unit((float3)(across.y * along.z - across.z * along.y, across.z * along.x - across.x * along.z,
                                        across.x * along.y - across.y * along.x));
    const float3 d = AT(p, PLANE_DRAWN, i) - CAMERA(0);
    const float far = fmax(dot_of(d, CAMERA(3)), NEAR);
    const float scale = 2.0f * SUB * FOCAL / far;
    const float sx = dot_of(d, CAMERA(1)) * scale + CELL_W * SUB, sy = CELL_H * SUB - dot_of(d, CAMERA(2)) * scale;
    // What is far outside is held where products of differences still fit.
    corners[i] = convert_int_rte(clamp(sx, -4096.0f, 24575.0f));
    corners[PLANE_DRAWN + i] = convert_int_rte(clamp(sy, -4096.0f, 24575.0f));
    corners[2 * PLANE_DRAWN + i] = convert_int_rte(clamp((far - NEAR) * (1.0f / (FAR - NEAR)), 0.0f, 1.0f) * FARTHEST);
    normals[i] = normal.x;
    normals[PLANE_DRAWN + i] = normal.y;
    normals[2 * PLANE_DRAWN + i] = normal.z;
}

__kernel void cloth_clear(__global uint *nearest, uint count)
{
    const uint i = get_global_id(0);
    if (i < count)
        nearest[i] = 0xffffffffu;
}

int side(int2 a, int2 b, int2 c)
{
    return (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
}

// The three corners of a triangle: the upper left half of a square of the grid, or the lower right one.
int3 corners_of(uint id, int flag)
{
    const int square = id >> 1, y = square / max(W - 1, 1), x = square - y * max(W - 1, 1);
    const int n = flag * NODES + y * W + x;
    return id & 1 ? (int3)(n + W + 1, n + W, n + 1) : (int3)(n, n + 1, n + W);
}

// A work-item a triangle: goes over the samples of its bounding box.
__kernel void cloth_raster(__global const int *corners, volatile __global uint *nearest)
{
    const uint id = get_global_id(0);
    const int flag = get_global_id(1);
    if (id >= TRIANGLES)
        return;
    const int3 n = corners_of(id, flag);
    const int2 a = (int2)(corners[n.x], corners[PLANE_DRAWN + n.x]);
    const int2 b = (int2)(corners[n.y], corners[PLANE_DRAWN + n.y]);
    const int2 c = (int2)(corners[n.z], corners[PLANE_DRAWN + n.z]);
    const float za = corners[2 * PLANE_DRAWN + n.x], zb = corners[2 * PLANE_DRAWN + n.y];
    const float zc = corners[2 * PLANE_DRAWN + n.z];
    const int whole = side(a, b, c), turn = whole < 0 ? -1 : 1;
    const int left = max(min(a.x, min(b.x, c.x)) / SUB - 1, 0), right = min(max(a.x, max(b.x, c.x)) / SUB + 1, SAMPLES_X - 1);
    const int top = max(min(a.y, min(b.y, c.y)) / SUB - 1, 0), bottom = min(max(a.y, max(b.y, c.y)) / SUB + 1, SAMPLES_Y - 1);
    const float part = whole ? 1.0f / (float)(whole * turn) : 0;
    const int first = (flag / CELLS * SAMPLES_Y) * 2 * PICTURE_W + flag % CELLS * SAMPLES_X;

    for (int y = top; y <= bottom; y++)
        for (int x = left; x <= right; x++) {
            const int2 at = (int2)(x * SUB + SUB / 2, y * SUB + SUB / 2);
            const int u = side(b, c, at) * turn, v = side(c, a, at) * turn, w = side(a, b, at) * turn;
            if (whole && u >= 0 && v >= 0 && w >= 0) {
                const uint depth = (uint)((u * za + v * zb + w * zc) * part);
                atomic_min(nearest + first + y * 2 * PICTURE_W + x, depth << ID_BITS | id);
            }
        }
}

float step_at(float v, float edge, float soft)
{
    return clamp((v - edge) / soft + 0.5f, 0.0f, 1.0f);
}

// The pattern: a golden sun with a ring over waves, or a check for a table.
float3 pattern(float u, float v, int flag)
{
    const float3 cream = (float3)(0.86f, 0.78f, 0.62f), gold = (float3)(0.90f, 0.52f, 0.03f);
#if CHECKED
    const float a = clamp(sin(u * 50.2655f) * 5.0f, -1.0f, 1.0f), b = clamp(sin(v * 37.6991f) * 5.0f, -1.0f, 1.0f);
    const float3 red = (float3)(0.58f, 0.07f, 0.03f);
    return mix(cream, red, 0.5f + 0.25f * (a + b));
#else
    const float3 fields[6] = {(float3)(0.010f, 0.10f, 0.34f), (float3)(0.46f, 0.09f, 0.010f), (float3)(0.004f, 0.24f, 0.17f),
                              (float3)(0.36f, 0.10f, 0.22f), (float3)(0.05f, 0.20f, 0.44f), (float3)(0.09f, 0.09f, 0.12f)};
    const float3 field = fields[flag % 6];
    float3 colour = field;
    const float x = (u - 0.42f) * 1.3333f, y = v - 0.38f, r = sqrt(x * x + y * y);
    colour = mix(gold, colour, step_at(r, 0.165f, 0.012f));
    colour = mix(colour, gold, step_at(r, 0.205f, 0.012f) * (1 - step_at(r, 0.232f, 0.012f)));
    const float wave = 0.022f * sin(u * 18.85f);
    const float3 pale = mix(field, cream, 0.35f);
    colour = mix(colour, cream, step_at(v + wave, 0.70f, 0.012f));
    colour = mix(colour, pale, step_at(v - wave, 0.80f, 0.012f));
    return mix(colour, field, step_at(v + wave, 0.90f, 0.012f));
#endif
}

float3 lit(float3 colour, float3 normal, float3 to_eye, float shine)
{
    const float3 sun = (float3)(SUN_X, SUN_Y, SUN_Z);
    const float3 half_way = unit(sun + to_eye);
    const float front = dot_of(normal, sun), gloss = fmax(dot_of(normal, half_way), 0.0f);
    // A thin cloth also lets through what falls on its back.
    const float light = 0.85f * fmax(front, 0.0f) + shine * 0.30f * fmax(-front, 0.0f) + 0.30f + 0.12f * normal.y;
    const float g2 = gloss * gloss, g4 = g2 * g2, g16 = g4 * g4 * g4 * g4;
    return colour * light + 0.10f * g16;
}

// Sky, ground with shadow and, where `things` are shown, pole and sphere along a ray of length 1, and how far away along
// the view it is.
float4 backdrop(float3 eye, float3 ray, float3 forward, int things)
{
    const float3 sun = (float3)(SUN_X, SUN_Y, SUN_Z);
    const float cosine = dot_of(ray, forward);
    float3 colour = mix((float3)(0.62f, 0.75f, 0.86f), (float3)(0.13f, 0.33f, 0.62f), clamp(ray.y * 2.2f, 0.0f, 1.0f));
    float far = FAR;
    if (ray.y < -1e-4f) {
        const float t = (GROUND - eye.y) / ray.y, gx = eye.x + t * ray.x, gz = eye.z + t * ray.z;
        const float tone = 0.5f + 0.25f * (sin(gx * 3.1f + 1.3f * sin(gz * 1.7f)) + sin(gz * 2.7f + 1.1f * sin(gx * 2.3f)));
        float3 ground = mix((float3)(0.23f, 0.27f, 0.10f), (float3)(0.30f, 0.34f, 0.13f), tone);
#if HAS_SPHERE
        const float3 up = (float3)(gx - SPHERE_X, GROUND - SPHERE_Y, gz - SPHERE_Z);
        const float s = dot_of(up, sun);
        const float miss = sqrt(fmax(dot_of(up, up) - s * s, 0.0f));
        ground *= things ? 0.45f + 0.55f * step_at(miss, SPHERE_R, 0.12f) : 1.0f;
#endif
        colour = mix(colour, ground, fmin(1.0f, 9.0f / t));
        far = fmin(FAR, t * cosine);
    }
#if HAS_POLE
    // A cylinder of radius 0.018 whose axis is x = -0.018, z = 0.
    const float ox = eye.x + 0.018f, oz = eye.z, flat_part = ray.x * ray.x + ray.z * ray.z;
    const float miss = (ox * ray.z - oz * ray.x) / sqrt(flat_part);
    const float t = -(ox * ray.x + oz * ray.z) / flat_part, pixel = t / FOCAL;
    if (things && t > 0 && eye.y + t * ray.y < POLE_TOP) {
        const float cover = clamp((0.018f - fabs(miss)) / pixel + 0.5f, 0.0f, 1.0f);
        const float off = clamp(miss * (1.0f / 0.018f), -1.0f, 1.0f);
        const float3 normal = (float3)(-off, 0, sqrt(1 - off * off));
        colour = mix(colour, lit((float3)(0.42f, 0.40f, 0.38f), normal, ray * -1.0f, 0), cover);
        far = cover > 0.5f ? fmin(far, t * cosine) : far;
    }
#endif
#if HAS_SPHERE || HAS_POLE
    const float3 centre = (float3)(BALL_X, BALL_Y, BALL_Z) - eye;
    const float nearest_t = dot_of(centre, ray), away2 = dot_of(centre, centre) - nearest_t * nearest_t;
    const float away = sqrt(fmax(away2, 0.0f));
    const float cover_ball = clamp((BALL_R - away) * FOCAL / nearest_t + 0.5f, 0.0f, 1.0f);
    if (things && cover_ball > 0) {
        const float hit = nearest_t - sqrt(fmax(BALL_R * BALL_R - away2, 0.0f));
        const float3 normal = unit(ray * hit - centre);
        colour = mix(colour, lit((float3)(BALL_RED, BALL_GREEN, BALL_BLUE), normal, ray * -1.0f, 0), cover_ball);
        far = cover_ball > 0.5f ? fmin(far, hit * cosine) : far;
    }
#endif
    return (float4)(colour, far);
}

// A work-item a pixel: the mean of its four samples.
__kernel void cloth_shade(__global const uint *nearest, __global const int *corners, __global const float *normals,
                          __global const float *camera, __global uint *picture)
{
    const int px = get_global_id(0), py = get_global_id(1);
    if (px >= PICTURE_W || py >= PICTURE_H)
        return;
    const int cell_x = px / CELL_W, cell_y = py / CELL_H, flag = cell_y * CELLS + cell_x;
    const int x = px - cell_x * CELL_W, y = py - cell_y * CELL_H;
    const int shown = cell_x < CELLS && flag < FLAGS;
    const float3 ray = unit(CAMERA(3) * FOCAL + CAMERA(1) * (x + 0.5f - 0.5f * CELL_W)
                            + CAMERA(2) * (0.5f * CELL_H - y - 0.5f));
    const float4 behind = backdrop(CAMERA(0), ray, CAMERA(3), shown);
    const float limit = clamp((behind.w - NEAR) * (1.0f / (FAR - NEAR)), 0.0f, 1.0f) * FARTHEST;
    float3 sum = 0;

    for (int k = 0; k < 4; k++) {
        const int sx = 2 * x + (k & 1), sy = 2 * y + (k >> 1);
        const uint key = shown ? nearest[(cell_y * SAMPLES_Y + sy) * 2 * PICTURE_W + cell_x * SAMPLES_X + sx] : 0xffffffffu;
        float3 colour = behind.xyz;
        if (key != 0xffffffffu && (float)(key >> ID_BITS) <= limit) {
            const uint id = key & ((1u << ID_BITS) - 1);
            const int3 n = corners_of(id, flag);
            const int2 a = (int2)(corners[n.x], corners[PLANE_DRAWN + n.x]);
            const int2 b = (int2)(corners[n.y], corners[PLANE_DRAWN + n.y]);
            const int2 c = (int2)(corners[n.z], corners[PLANE_DRAWN + n.z]);
            const int2 at = (int2)(sx * SUB + SUB / 2, sy * SUB + SUB / 2);
            const float whole = side(a, b, c);
            const float fa = side(b, c, at) / whole, fb = side(c, a, at) / whole, fc = 1 - fa - fb;
            float3 normal = unit(AT(normals, PLANE_DRAWN, n.x) * fa + AT(normals, PLANE_DRAWN, n.y) * fb
                                 + AT(normals, PLANE_DRAWN, n.z) * fc);
            const float facing = dot_of(normal, ray);
            normal = facing > 0 ? normal * -1.0f : normal;
            // The corner at the right angle, and how far from it along both sides.
            const int odd = id & 1, corner = n.x - flag * NODES, row = corner / W;
            const float du = fb, dv = fc;
            const float u = (corner - row * W + (odd ? -du : du)) / (float)max(W - 1, 1);
            const float v = (row + (odd ? -dv : dv)) / (float)max(H - 1, 1);
            colour = lit(pattern(u, v, flag), normal, ray * -1.0f, 1);
        }
        sum += colour;
    }
    const float3 shown_as = sqrt(clamp(sum * 0.25f, 0.0f, 1.0f)) * 255.0f + 0.5f;
    picture[py * PICTURE_W + px] = (uint)shown_as.x | (uint)shown_as.y << 8 | (uint)shown_as.z << 16 | 0xff000000u;
}
