//! Native threads for the references and for the hybrid variants.

/// How many threads the machine runs at once.
pub fn count() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

/// Fills rows of `width` elements, each by `row(y, row)`; threads take rows as they get free.
pub fn rows<T: Send>(data: &mut [T], width: usize, threads: usize, row: impl Fn(usize, &mut [T]) + Sync) {
    // A block of rows per turn, so that the lock's cost is negligible.
    let block = (data.len() / width.max(1) / (threads.max(1) * 16)).max(1);
    let chunks = std::sync::Mutex::new(data.chunks_mut(width * block).enumerate());
    let work = || {
        loop {
            let next = chunks.lock().map(|mut c| c.next());
            let Ok(Some((i, chunk))) = next else { return };
            for (j, r) in chunk.chunks_mut(width).enumerate() {
                row(i * block + j, r);
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads.max(1) {
            scope.spawn(work);
        }
        work();
    });
}
