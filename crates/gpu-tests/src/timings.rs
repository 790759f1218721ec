//! What it costs: launches, transfers, loading.

use crate::checks::Tell;
use crate::kernels::artifact;
use crate::report::Report;
use crate::run::{Run, Silent};
use cloom_hal::{Device, HalError, NdRange};
use cloom_hal_cuda::{CudaDevice, DirectoryCache, devices};
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

/// All measurements.
pub fn all(report: &mut Report, device: &CudaDevice) {
    report.check("launches", || {
        let kernel = device.load(artifact("empty"), None)?;
        let run = || Run::new(&*kernel, NdRange::linear(32, 32)).queue(1);
        run().launch(device)?;
        let blocking = median(2000, || run().launch(device))?;
        let callback = median(1000, || {
            let (send, receive) = channel();
            if let Some(pending) = run().submit(device)? {
                pending.on_end(Box::new(Tell(0, send)));
            }
            receive.recv().map_or(Ok(()), |(_, result, _)| result)
        })?;
        let queued = queued(device, || run().submit(device))?;
        row("empty kernel, blocking", format!("{blocking:.2?}"));
        row("empty kernel, callback", format!("{callback:.2?}"));
        row("empty kernel, 1000 queued, each", format!("{queued:.2?}"));
        let print = device.load(artifact("print"), None)?;
        let prints = || Run::new(&*print, NdRange::linear(1, 1)).queue(1).launch(device);
        row("kernel that prints one line, blocking", format!("{:.2?}", median(200, prints)?));
        Ok(String::new())
    });
    report.check("memory", || {
        for size in [4 << 10, 16 << 20] {
            let time = median(100, || device.allocate(size).map(drop))?;
            row(&format!("allocate and free {}", amount(size as usize)), format!("{time:.2?}"));
        }
        let memory = device.allocate(256 << 20)?;
        let fill = median(20, || memory.fill(0, 256 << 20, &[1, 2, 3, 4]))?;
        row("fill 256 MiB, pattern of 4", rate(256 << 20, fill));
        let fill = median(20, || memory.fill(0, 256 << 20, &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]))?;
        row("fill 256 MiB, pattern of 16", rate(256 << 20, fill));
        let other = device.allocate(256 << 20)?;
        row("copy 256 MiB on the device", rate(256 << 20, median(20, || other.copy_from(0, &*memory, 0, 256 << 20))?));
        Ok(String::new())
    });
    report.check("transfers", || {
        for size in [4usize, 4 << 10, 64 << 10, 1 << 20, 2 << 20, 4 << 20, 16 << 20, 64 << 20, 256 << 20] {
            let memory = device.allocate(size as u64)?;
            let (mut plain, mut pinned) = (vec![1u8; size], device.host_block(size)?);
            let rounds = if size > 1 << 20 { 9 } else { 200 };
            let times = [
                median(rounds, || memory.write(0, &plain))?,
                median(rounds, || memory.read(0, &mut plain))?,
                median(rounds, || memory.write(0, pinned.bytes()))?,
                median(rounds, || memory.read(0, pinned.bytes_mut()))?,
            ];
            let [up, down, pinned_up, pinned_down] = times.map(|time| rate(size, time));
            row(&format!("{:>7} pageable up", amount(size)), up);
            row(&format!("{:>7} pageable down", amount(size)), down);
            row(&format!("{:>7} pinned up", amount(size)), pinned_up);
            row(&format!("{:>7} pinned down", amount(size)), pinned_down);
        }
        Ok(String::new())
    });
    report.check("loading the module of this program", || {
        let load = |device: &CudaDevice| device.load(artifact("saxpy"), None).map(drop);
        row("by the driver, no cache of ours", format!("{:.2?}", median(5, || load(device))?));
        let folder = tempfile::tempdir()?;
        let cache = Arc::new(DirectoryCache::new(folder.path(), DirectoryCache::BOUND));
        let found = devices(Some(cache));
        let cached = found.devices.first().ok_or("no device")?;
        let begin = Instant::now();
        load(cached)?;
        row("into the cache", format!("{:.2?}", begin.elapsed()));
        row("from the cache", format!("{:.2?}", median(20, || load(cached))?));
        Ok(String::new())
    });
}

fn row(name: &str, value: String) {
    println!("      {name:<42} {value:>24}");
}

fn amount(bytes: usize) -> String {
    match bytes {
        0..1024 => format!("{bytes} B"),
        1024..1_048_576 => format!("{} KiB", bytes >> 10),
        _ => format!("{} MiB", bytes >> 20),
    }
}

fn rate(bytes: usize, time: Duration) -> String {
    format!("{time:.1?} {:8.2} GB/s", bytes as f64 / time.as_secs_f64() / 1e9)
}

fn median(rounds: usize, mut run: impl FnMut() -> Result<(), HalError>) -> Result<Duration, HalError> {
    let mut times = Vec::new();
    for _ in 0..rounds {
        let begin = Instant::now();
        run()?;
        times.push(begin.elapsed());
    }
    times.sort();
    Ok(times[rounds / 2])
}

/// Submits many, then waits.
fn queued(
    device: &CudaDevice,
    submit: impl Fn() -> Result<Option<Box<dyn cloom_hal::Pending>>, HalError>,
) -> Result<Duration, HalError> {
    let _ = device;
    const COUNT: u32 = 1000;
    let begin = Instant::now();
    let mut pending = Vec::new();
    for _ in 0..COUNT {
        pending.extend(submit()?);
    }
    // All launches come from one queue, so that the end of the last one is the end of all.
    if let Some(last) = pending.pop() {
        last.wait(&Silent)?;
    }
    let time = begin.elapsed() / COUNT;
    pending.into_iter().try_for_each(|pending| pending.wait(&Silent))?;
    Ok(time)
}
