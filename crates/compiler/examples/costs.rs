//! Prints what building a kernel and launching one cost, cold and warm.
//!
//! `cargo run --release -p cloom-compiler --example costs`

#![allow(clippy::print_stdout, reason = "it prints its measurements")]

use cloom_compiler::{Compiler, Config, Source, Variant};
use cloom_hal::{Device, Kernel, Launch, NdRange, PrintSink};
use cloom_hal_cpu::CpuDevice;
use std::time::Instant;

struct Silent;

impl PrintSink for Silent {
    fn print(&self, _: u32, _: u64, _: &[u8], _: &dyn Fn(u64) -> Option<Vec<u8>>) {}
}

const SOURCE: &str = r#"
typedef struct { float4 position; float4 velocity; } body;
float4 acceleration(float4 a, float4 b, float softening) {
    float4 d = b - a;
    d.w = 0.0f;
    float distance = sqrt(dot(d, d) + softening);
    return d * (b.w / (distance * distance * distance));
}
kernel void step(global const body *from, global body *to, local float4 *tile, int n, float dt, float softening) {
    int i = get_global_id(0);
    int l = get_local_id(0);
    int size = get_local_size(0);
    float4 me = from[min(i, n - 1)].position;
    float4 sum = (float4)(0.0f);
    for (int first = 0; first < n; first += size) {
        tile[l] = from[min(first + l, n - 1)].position;
        barrier(CLK_LOCAL_MEM_FENCE);
        int count = min(size, n - first);
        for (int k = 0; k < count; k++) {
            sum += acceleration(me, tile[k], softening);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (i < n) {
        float4 v = from[i].velocity + dt * sum;
        to[i].velocity = v;
        to[i].position = me + dt * v + (float4)(sin(v.x), exp(v.y), 0.0f, 0.0f) * 0.0f;
    }
}
kernel void empty(global int *p) { if (get_global_id(0) == 123456789) p[0] = 1; }
"#;

fn main() {
    let device = CpuDevice::new(0, None);
    let source = Source { name: "costs.cl", text: SOURCE.as_bytes() };
    println!("{}, {} threads, {}", device.info().name, device.info().compute_units, device.info().target);
    for round in ["cold", "warm"] {
        let begin = Instant::now();
        let compiler = Compiler::new(Config::default());
        let built = compiler.build(&source, "", &device.info().target);
        let Ok(program) = built.result else { panic!("{}", built.log) };
        let front = begin.elapsed();
        let executable = compiler.executable(&program, &device.info().target);
        let (compiled, load) = {
            let start = Instant::now();
            let artifact =
                executable.kernel("step", Variant::Vector).unwrap_or_else(|e| panic!("{e}")).artifact.clone();
            let compiled = start.elapsed();
            let start = Instant::now();
            device.load(artifact, None).unwrap_or_else(|e| panic!("{e}"));
            (compiled, start.elapsed())
        };
        println!("{round}: front end {front:?}, kernel {compiled:?}, load {load:?}, all {:?}", begin.elapsed());
        if round == "warm" {
            let kernel = executable.kernel("empty", Variant::Vector).unwrap_or_else(|e| panic!("{e}")).artifact.clone();
            launches(&device, &*device.load(kernel, None).unwrap_or_else(|e| panic!("{e}")));
            let step = executable.kernel("step", Variant::Vector).unwrap_or_else(|e| panic!("{e}"));
            let times: Vec<String> = step.times.iter().map(|t| format!("{} {:?}", t.stage, t.time)).collect();
            println!("stages of step: {}", times.join(", "));
        }
    }
}

fn launches(device: &CpuDevice, kernel: &dyn Kernel) {
    let memory = device.allocate(4096).unwrap_or_else(|e| panic!("{e}"));
    let args = memory.device_address().to_le_bytes();
    for (groups, local) in [(1u64, 1u64), (1, 64), (16, 64), (1024, 64), (65536, 64)] {
        let range = NdRange { work_dim: 1, offset: [0; 3], global: [groups * local, 1, 1], local: [local, 1, 1] };
        let launch = Launch::new(kernel, range, &args, &Silent);
        let mut times: Vec<f64> = (0..2000.min(4_000_000 / (groups * local)).max(5))
            .map(|_| {
                let start = Instant::now();
                device.launch(&launch).unwrap_or_else(|e| panic!("{e}"));
                start.elapsed().as_secs_f64() * 1e6
            })
            .collect();
        times.sort_by(f64::total_cmp);
        let (median, worst) = (times[times.len() / 2], times[times.len() * 99 / 100]);
        println!("empty kernel, {groups} groups of {local}: median {median:.2} us, 99th percentile {worst:.2} us");
    }
}
