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

/// Fills tiles of `tw` by `th` elements, fewer at the right and lower edges, each by `tile(x, y, rows)` with the
/// position of its first element; threads take tiles as they get free.
pub fn tiles<T: Send>(
    data: &mut [T],
    width: usize,
    (tw, th): (usize, usize),
    threads: usize,
    tile: impl Fn(usize, usize, &mut [&mut [T]]) + Sync,
) {
    // A band of tiles is cut up when the last tile of the one before is taken: no list of all tiles is ever made.
    let bands = data.chunks_mut(width.max(1) * th.max(1)).enumerate();
    let left = std::sync::Mutex::new((bands, Vec::new().into_iter().enumerate(), 0));
    let next = || {
        let mut left = left.lock().ok()?;
        loop {
            if let Some((i, rows)) = left.1.next() {
                return Some((i * tw, left.2 * th, rows));
            }
            let (number, band) = left.0.next()?;
            let mut cut: Vec<Vec<&mut [T]>> = (0..width.div_ceil(tw)).map(|_| Vec::with_capacity(th)).collect();
            for row in band.chunks_mut(width.max(1)) {
                for (part, tile) in row.chunks_mut(tw).zip(&mut cut) {
                    tile.push(part);
                }
            }
            left.1 = cut.into_iter().enumerate();
            left.2 = number;
        }
    };
    let work = || {
        while let Some((x, y, mut rows)) = next() {
            tile(x, y, &mut rows);
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads.max(1) {
            scope.spawn(work);
        }
        work();
    });
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_element_belongs_to_one_tile_and_knows_its_place() {
        for (w, h, tile) in [(1, 1, (1, 1)), (13, 5, (4, 2)), (7, 9, (7, 3)), (5, 5, (8, 8))] {
            let mut data = vec![0; w * h];
            super::tiles(&mut data, w, tile, 3, |x, y, rows| {
                for (j, row) in rows.iter_mut().enumerate() {
                    for (i, v) in row.iter_mut().enumerate() {
                        *v += (y + j) * w + x + i + 1;
                    }
                }
            });
            assert!(data.iter().enumerate().all(|(i, &v)| v == i + 1), "{w}x{h} in tiles of {tile:?}");
        }
    }
}
