//! What must be right: ids of every work-item, memory, local memory, prints, callbacks, the end after a fault.

use crate::boxes;
use crate::data::{contents, differs, noise};
use crate::kernels::{TEXT, artifact};
use crate::report::{Outcome, Report};
use crate::run::Run;
use cloom_artifact::KernelArtifact;
use cloom_hal::{Device, Finish, HalError, Kernel, NdRange, Pending, PrintSink};
use cloom_hal_cuda::CudaDevice;
use std::process::Command;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// All checks.
pub fn all(report: &mut Report, device: &CudaDevice) {
    report.check("memory: write, read, copy, fill", || memory(device));
    report.check("memory: boxes", || boxes::boxes(device));
    report.check("memory: shared with the host", || boxes::shared(device));
    for (name, range) in ranges() {
        report.check(&format!("ids: {name}"), || ids(device, range));
    }
    report.check("saxpy with an offset and a partial group", || saxpy(device));
    report.check("local memory: sums of groups", || reduce(device));
    report.check("local memory: the whole of it", || last_word(device));
    report.check("variables of a program", || variables(device));
    report.check("printf: records and texts", || prints(device));
    report.check("printf: more than fits", || too_many_prints(device));
    report.check("callbacks come, in order and at once", || callbacks(device));
    report.check("queues run side by side", || side_by_side(device));
    report.check("what cannot run is refused", || refusals(device));
    report.check("a fault is told and ends CUDA (in a child)", fault_in_child);
}

fn words(bytes: &[u8]) -> Vec<u32> {
    bytes.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect()
}

fn memory(device: &CudaDevice) -> Outcome {
    // Around 2 MiB the device changes from one copy by the driver to copies through pinned blocks, of which the largest
    // size needs several.
    for size in [0usize, 1, 5, 4096, (1 << 20) + 3, (2 << 20) + 1, (37 << 20) + 11] {
        let memory = device.allocate(size as u64)?;
        let data = noise(size);
        memory.write(0, &data)?;
        differs(&format!("read of {size}"), &contents(&*memory)?, &data)?;
        if size < 4096 {
            continue;
        }
        let mut block = device.host_block(size)?;
        memory.read(0, block.bytes_mut())?;
        differs("read into pinned memory", block.bytes(), &data)?;
        let (middle, mut part) = (size / 3, vec![0; size / 2]);
        memory.read(middle as u64, &mut part)?;
        differs("read of a part", &part, &data[middle..middle + size / 2])?;
        // Overlapping, both ways.
        for (to, from) in [(100usize, 7usize), (7, 100), (1000, 0), (50, 50)] {
            let (mut expected, n) = (data.clone(), size - 1000);
            expected.copy_within(from..from + n, to);
            memory.write(0, &data)?;
            memory.copy_from(to as u64, &*memory, from as u64, n as u64)?;
            differs("overlapping copy", &contents(&*memory)?, &expected)?;
        }
        let other = device.allocate(size as u64)?;
        other.copy_from(0, &*memory, 0, size as u64)?;
        differs("copy", &contents(&*other)?, &contents(&*memory)?)?;
        let mut expected = data.clone();
        memory.write(0, &data)?;
        for pattern in [1usize, 2, 3, 4, 8, 12, 16, 64, 128] {
            let bytes = noise(pattern);
            let (at, n) = (128, (size - 200) / pattern * pattern);
            expected[at..at + n].chunks_mut(pattern).for_each(|c| c.copy_from_slice(&bytes));
            memory.fill(at as u64, n as u64, &bytes)?;
            differs(&format!("pattern of {pattern}"), &contents(&*memory)?, &expected)?;
        }
        memory.fill(0, size as u64, &[0; 16][..if size % 16 == 0 { 16 } else { 1 }])?;
        differs("zeros", &contents(&*memory)?, &vec![0; size])?;
    }
    match device.allocate(1 << 50) {
        Err(HalError::OutOfMemory(size)) if size == 1 << 50 => Ok("and more memory than there is is refused".into()),
        Err(error) => Err(format!("an allocation too large: {error}").into()),
        Ok(_) => Err("an allocation of 1 PiB".into()),
    }
}

fn ranges() -> Vec<(&'static str, NdRange)> {
    let range = |work_dim, offset, global, local| NdRange { work_dim, offset, global, local };
    vec![
        ("1 dimension", NdRange::linear(1 << 16, 256)),
        ("partial group", NdRange::linear(1000, 256)),
        ("smaller than a group", NdRange::linear(100, 256)),
        ("offset", range(1, [12345, 0, 0], [70_001, 1, 1], [1024, 1, 1])),
        ("2 dimensions, partial, offset", range(2, [3, 5, 0], [1001, 77, 1], [32, 8, 1])),
        ("3 dimensions, 8 grids", range(3, [1, 2, 3], [37, 19, 11], [8, 4, 4])),
        ("more groups than a grid has in y", range(2, [0, 9, 0], [3, 150_000, 1], [2, 1, 1])),
        ("more groups than a grid has in z", range(3, [0, 0, 1], [2, 1, 70_001], [2, 1, 1])),
    ]
}

fn ids(device: &CudaDevice, range: NdRange) -> Outcome {
    let [x, y, z] = range.global;
    let items = x * y * z;
    let memory = device.allocate(items * 32)?;
    memory.fill(0, items * 32, &[0; 16])?;
    let kernel = device.load(artifact("ids"), None)?;
    Run::new(&*kernel, range).address(&*memory).launch(device)?;
    let bytes = contents(&*memory)?;
    for (i, item) in bytes.chunks_exact(32).enumerate() {
        let i = i as u64;
        let at = [i % x, i / x % y, i / x / y];
        let group: [u64; 3] = std::array::from_fn(|d| at[d] / range.local[d]);
        let size: [u64; 3] = std::array::from_fn(|d| range.local[d].min(range.global[d] - group[d] * range.local[d]));
        let packed = |of: [u64; 3], bits: u32| of[0] + (of[1] << bits) + (of[2] << (2 * bits));
        let local = std::array::from_fn(|d| at[d] % range.local[d]);
        // The words as the kernel packs them: 20 bits for each component of an id, 10 for a local id and for a size of
        // a group.
        let expected = [
            1,
            packed(std::array::from_fn(|d| at[d] + range.offset[d]), 20),
            packed(group, 20),
            packed(local, 10) | packed(size, 10) << 32,
        ];
        let found: Vec<u64> =
            item.chunks_exact(8).map(|b| b.iter().rev().fold(0, |word, &b| word << 8 | u64::from(b))).collect();
        differs(&format!("work-item {at:?}"), &found, &expected)?;
    }
    Ok(format!("{items} work-items"))
}

fn saxpy(device: &CudaDevice) -> Outcome {
    const N: usize = 100_003;
    let numbers = |f: fn(usize) -> f32| (0..N).flat_map(|i| f(i).to_le_bytes()).collect::<Vec<u8>>();
    let (x, y) = (device.allocate(4 * N as u64)?, device.allocate(4 * N as u64)?);
    x.write(0, &numbers(|i| i as f32))?;
    y.write(0, &numbers(|i| (i % 7) as f32))?;
    let kernel = device.load(artifact("saxpy"), None)?;
    let range = NdRange { offset: [3, 0, 0], ..NdRange::linear(N as u64 - 3, 192) };
    Run::new(&*kernel, range).bytes(&2.0f32.to_le_bytes()).address(&*x).address(&*y).launch(device)?;
    // All numbers are whole and far below 2^24, so a float holds each exactly, with one rounding or with two.
    let expected = numbers(|i| (i % 7) as f32 + if i < 3 { 0.0 } else { 2.0 * i as f32 });
    differs("y", &words(&contents(&*y)?), &words(&expected))?;
    Ok(String::new())
}

fn reduce(device: &CudaDevice) -> Outcome {
    const N: u64 = 1 << 20;
    let kernel = device.load(artifact("reduce"), None)?;
    let input = device.allocate(4 * N)?;
    let data = noise(4 * N as usize);
    input.write(0, &data)?;
    for group in [32u64, 256, 1024] {
        let output = device.allocate(4 * N / group)?;
        // Another block of local memory comes first, and the whole does not fit into what every group has.
        for before in [0u64, 128, 64 << 10] {
            let run = Run::new(&*kernel, NdRange::linear(N, group)).address(&*input).address(&*output);
            run.bytes(&before.to_le_bytes()).local(before + 4 * group).launch(device)?;
            let sums = words(&data);
            let sums = sums.chunks(group as usize).map(|c| c.iter().fold(0u32, |a, &b| a.wrapping_add(b)));
            differs("sum", &words(&contents(&*output)?), &sums.collect::<Vec<_>>())?;
        }
    }
    Ok(String::new())
}

fn last_word(device: &CudaDevice) -> Outcome {
    let kernel = device.load(artifact("last_word"), None)?;
    let output = device.allocate(4)?;
    let most = device.info().caps.limits.local_memory;
    // Up to 48 KiB are there for every kernel; for more, the device must ask the driver, up to the limit that it
    // reports.
    for size in [4, 48 << 10, (48 << 10) + 4, most] {
        output.fill(0, 4, &[0; 4])?;
        let run = Run::new(&*kernel, NdRange::linear(1, 1)).address(&*output);
        run.bytes(&(size - 4).to_le_bytes()).local(size).launch(device)?;
        differs("word", &words(&contents(&*output)?), &[4711])?;
    }
    let run = Run::new(&*kernel, NdRange::linear(1, 1)).address(&*output);
    match run.bytes(&most.to_le_bytes()).local(most + 4).launch(device) {
        Err(HalError::Device(_)) => Ok(format!("{most} bytes")),
        other => Err(format!("more than there is: {other:?}").into()),
    }
}

fn variables(device: &CudaDevice) -> Outcome {
    let memory = device.allocate(16)?;
    memory.fill(0, 16, &[0; 16])?;
    let kernel = device.load(artifact("count"), Some(memory.clone()))?;
    Run::new(&*kernel, NdRange::linear(1000, 64)).launch(device)?;
    differs("count", &words(&contents(&*memory)?), &[0, 1000, 0, 0])?;
    Ok(String::new())
}

/// Format, work-item, arguments and text of each print.
type Prints = Vec<(u32, u64, Vec<u8>, Option<Vec<u8>>)>;

/// Keeps what is printed.
#[derive(Default)]
pub struct PrintList(Mutex<Prints>);

impl PrintSink for PrintList {
    fn print(&self, format: u32, item: u64, args: &[u8], text: &dyn Fn(u64) -> Option<Vec<u8>>) {
        // The arguments of the kernel `print` are an id, and the address of a text.
        let address = args.get(8..16).and_then(|b| Some(u64::from_le_bytes(b.try_into().ok()?)));
        let entry = (format, item, args.to_vec(), address.and_then(text));
        if let Ok(mut prints) = self.0.lock() {
            prints.push(entry);
        }
    }
}

impl PrintList {
    fn taken(self) -> Prints {
        let mut prints = self.0.into_inner().unwrap_or_default();
        prints.sort();
        prints
    }
}

fn prints(device: &CudaDevice) -> Outcome {
    let kernel = device.load(artifact("print"), None)?;
    for items in [1u64, 1000, 3] {
        let sink = PrintList::default();
        Run::new(&*kernel, NdRange::linear(items, 64)).sink(&sink).launch(device)?;
        let prints = sink.taken();
        let found: Vec<_> =
            prints.iter().map(|(format, item, args, text)| (*format, *item, &args[..8], text)).collect();
        let ids: Vec<[u8; 8]> = (0..items).map(u64::to_le_bytes).collect();
        let text = Some(TEXT.as_bytes().to_vec());
        let expected: Vec<_> = (0..items).map(|i| (1u32, i, &ids[i as usize][..], &text)).collect();
        differs("print", &found, &expected)?;
    }
    Ok(String::new())
}

fn too_many_prints(device: &CudaDevice) -> Outcome {
    const ITEMS: u64 = 300_000;
    let kernel = device.load(artifact("print"), None)?;
    let sink = PrintList::default();
    Run::new(&*kernel, NdRange::linear(ITEMS, 64)).sink(&sink).launch(device)?;
    let prints = sink.taken();
    // The print buffer has 8 MiB, and a record here 16 bytes of head and 16 of arguments.
    let fit = (8 << 20) / 32;
    if prints.len() != fit || prints.iter().any(|(format, item, ..)| *format != 1 || *item >= ITEMS) {
        return Err(format!("{} prints, not {fit}", prints.len()).into());
    }
    // The next launch finds an empty buffer.
    let sink = PrintList::default();
    Run::new(&*kernel, NdRange::linear(2, 2)).sink(&sink).launch(device)?;
    match sink.taken().len() {
        2 => Ok(format!("{fit} of {ITEMS} fit")),
        n => Err(format!("{n} prints after that, not 2").into()),
    }
}

/// Sends a number when a launch has ended.
pub struct Tell(pub u64, pub Sender<(u64, Result<(), HalError>, Instant)>);

impl PrintSink for Tell {
    fn print(&self, _: u32, _: u64, _: &[u8], _: &dyn Fn(u64) -> Option<Vec<u8>>) {}
}

impl Finish for Tell {
    fn finish(self: Box<Self>, result: Result<Option<Duration>, HalError>) {
        let _ = self.1.send((self.0, result.map(drop), Instant::now()));
    }
}

fn callbacks(device: &CudaDevice) -> Outcome {
    let kernel = device.load(artifact("busy"), None)?;
    for cycles in [0u64, 200_000] {
        let (send, receive) = channel();
        let mut launches: Vec<(u64, Box<dyn Pending>)> = Vec::new();
        for i in 0..50 {
            let run = Run::new(&*kernel, NdRange::linear(1, 1)).bytes(&cycles.to_le_bytes()).queue(7);
            launches.push((i, run.submit(device)?.ok_or("it ended at once")?));
        }
        for (i, pending) in launches {
            pending.on_end(Box::new(Tell(i, send.clone())));
        }
        for i in 0..50 {
            let (number, result, _) = receive.recv_timeout(Duration::from_secs(20)).map_err(|_| "no callback")?;
            result?;
            // Short ones may have ended when the callback is left, on either thread.
            if cycles > 0 && number != i {
                return Err(format!("callback {number} came, not {i}").into());
            }
        }
    }
    Ok(String::new())
}

fn side_by_side(device: &CudaDevice) -> Outcome {
    let kernel = device.load(artifact("busy"), None)?;
    let cycles = (20_000_000u64).to_le_bytes();
    let run = |queue| Run::new(&*kernel, NdRange::linear(1, 1)).bytes(&cycles).queue(queue).submit(device);
    let sink = PrintList::default();
    let time = |queues: std::ops::Range<u64>| -> Result<Duration, Box<dyn std::error::Error>> {
        let begin = Instant::now();
        let pending = queues.map(run).collect::<Result<Vec<_>, _>>()?;
        pending.into_iter().flatten().try_for_each(|pending| pending.wait(&sink))?;
        Ok(begin.elapsed())
    };
    let (one, four) = (time(1..2)?, time(1..5)?);
    // One after the other, four would take four times as long as one; side by side they take little more than one.
    match four < one * 3 {
        true => Ok(format!("1 in {one:.1?}, 4 in {four:.1?}")),
        false => Err(format!("1 in {one:.1?}, 4 in {four:.1?}").into()),
    }
}

/// Damages an artifact.
type Change = fn(&mut KernelArtifact);

fn refusals(device: &CudaDevice) -> Outcome {
    let damaged = |change: Change| {
        let mut made = (*artifact("saxpy")).clone();
        change(&mut made);
        device.load(Arc::new(made), None).err()
    };
    let bad: [(&str, Change); 4] = [
        ("no PTX", |a| a.code = b"nonsense".to_vec()),
        ("an error in PTX", |a| a.code = ".version 7.8\n.target sm_70\n.visible .entry saxpy() { hello; }".into()),
        ("no such function", |a| a.entry = "other".into()),
        ("other parameters", |a| a.args.truncate(1)),
    ];
    for (what, change) in bad {
        match damaged(change) {
            Some(HalError::BadCode(why)) => println!("      {what}: {}", why.replace('\n', " ")),
            other => return Err(format!("{what}: {other:?}").into()),
        }
    }
    let kernel = device.load(artifact("empty"), None)?;
    let range = NdRange { work_dim: 3, offset: [0; 3], global: [1, 1, 128], local: [1, 1, 128] };
    for range in [range, NdRange::linear(4096, 4096)] {
        match Run::new(&*kernel, range).launch(device) {
            Err(HalError::Device(why)) => println!("      {why}"),
            other => return Err(format!("{range:?}: {other:?}").into()),
        }
    }
    Run::new(&*kernel, NdRange::linear(1, 1)).launch(device)?;
    Ok("and the device goes on".into())
}

/// Runs this program again: a fault ends CUDA for its process.
fn fault_in_child() -> Outcome {
    let output = Command::new(std::env::current_exe()?).arg("--fault").output()?;
    let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    match output.status.success() {
        true => Ok(text),
        false => Err(format!("{}: {text} {}", output.status, String::from_utf8_lossy(&output.stderr)).into()),
    }
}

/// What the child does.
pub fn fault(device: &CudaDevice) -> Outcome {
    let memory = device.allocate(1 << 20)?;
    let kernels = ["busy", "fault"].map(|name| device.load(artifact(name), None));
    let [busy, kernel] = kernels;
    let (busy, kernel): (Arc<dyn Kernel>, Arc<dyn Kernel>) = (busy?, kernel?);
    let (send, receive) = channel();
    let one = NdRange::linear(1, 1);
    let launch = |kernel: &dyn Kernel, word: u64, queue| {
        Run::new(kernel, one).bytes(&word.to_le_bytes()).queue(queue).submit(device)
    };
    let first = launch(&*kernel, 0x10, 1)?.ok_or("it ended at once")?;
    // Others are on their way.
    for queue in 1..4 {
        if let Ok(Some(pending)) = launch(&*busy, 1_000_000, queue) {
            pending.on_end(Box::new(Tell(queue, send.clone())));
        }
    }
    // `receive` ends when the last launch has told its end, as only these have a sender then.
    drop(send);
    let error = first.wait(&PrintList::default()).err().ok_or("no error")?;
    let told = receive.iter().filter(|(_, result, _)| result.is_err()).count();
    let begin = Instant::now();
    // After a fault the driver refuses every call of the process; the device must tell the same error each time, and at
    // once.
    let later = [
        device.allocate(16).err(),
        memory.fill(0, 16, &[0; 16]).err(),
        memory.read(0, &mut [0; 16]).err(),
        device.load(artifact("empty"), None).err(),
        launch(&*busy, 1, 1).err(),
    ];
    let took = begin.elapsed();
    if let Some(other) = later.iter().find(|e| e.as_ref() != Some(&error)) {
        return Err(format!("after `{error}`: {other:?}").into());
    }
    if !error.to_string().contains("lost") {
        return Err(format!("`{error}` does not say that the device is lost").into());
    }
    drop((memory, busy, kernel));
    Ok(format!("{error}; {told} others were told; five later calls took {took:.1?}"))
}
