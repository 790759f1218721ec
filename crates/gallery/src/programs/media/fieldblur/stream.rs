//! The picture in tiles with a halo of the largest radius, streamed through the device: while it blurs a tile, the next
//! one is generated and uploaded, and the one before is downloaded and written to a file. Memory is bounded: two tiles
//! are on their way at any time, however large the picture is.
//!
//! A tile's pixels depend on their places in the picture and on the pixels around them alone; the sums of rows are
//! whole numbers. So tiles fit together without a seam: the result is that of the untiled picture bit for bit.

use super::check::{Samples, Tile, places};
use super::{Kernels, Setup};
use crate::args;
use crate::cl::queue::{Done, Queue, Transfer};
use crate::cl::{Buffer, Session, round_up};
use crate::error::Result;
use crate::params::Params;
use crate::picture::{Picture, rgb};
use std::collections::VecDeque;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use super::lens;
use super::ppm::Ppm;

/// Tiles on their way.
const SLOTS: usize = 2;
/// The longer side of the picture of the outcome.
const OVERVIEW: usize = 1024;

/// What the host's time and the device's went into.
#[derive(Clone, Copy, Default)]
pub struct Spent {
    pub generating: Duration,
    pub waiting: Duration,
    pub writing: Duration,
    pub transfers: Duration,
}

/// What a pass over the picture leaves.
pub struct Pass {
    pub samples: Vec<Samples>,
    pub overview: Overview,
    pub spent: Spent,
}

/// The memory of a tile on its way.
struct Slot {
    pixels: Buffer<u32>,
    places: Buffer<u32>,
    packed: Buffer<u32>,
    picked: Buffer<f32>,
}

/// A tile on its way; the transfers own the host's memory.
struct Flight {
    tile: Tile,
    places: Vec<u32>,
    upload: Transfer<u32>,
    upload_places: Transfer<u32>,
    packed: Transfer<u32>,
    picked: Transfer<f32>,
}

/// What streaming needs on the device, for any number of passes.
pub struct Stream<'s> {
    setup: &'s Setup,
    kernels: &'s Kernels,
    group: [usize; 2],
    up: Queue<'s>,
    run: Queue<'s>,
    down: Queue<'s>,
    slots: Vec<Slot>,
    linear: Buffer<u32>,
    sums: Buffer<u32>,
    result: Buffer<f32>,
    file: Option<PathBuf>,
}

impl<'s> Stream<'s> {
    pub fn new(session: &'s Session, setup: &'s Setup, kernels: &'s Kernels, params: &Params) -> Result<Stream<'s>> {
        let (w, h) = (setup.side.min(setup.w), setup.side.min(setup.h));
        let most = places(setup, setup.tile(0)).len();
        let (pw, ph) = (w + 2 * setup.lens.halo(), h + 2 * setup.lens.halo());
        let slot = |_| {
            Ok(Slot {
                pixels: session.zeroed(pw * ph)?,
                places: session.zeroed(most)?,
                packed: session.zeroed(w * h)?,
                picked: session.zeroed(4 * most)?,
            })
        };
        let (tw, th) = params.tile_or(64, 4)?;
        Ok(Stream {
            setup,
            kernels,
            group: [tw, th],
            up: session.queue()?,
            run: session.queue()?,
            down: session.queue()?,
            slots: (0..SLOTS).map(slot).collect::<Result<_>>()?,
            linear: session.upload(&lens::linear())?,
            sums: session.zeroed(4 * (pw + 1) * ph)?,
            result: session.zeroed(4 * w * h)?,
            file: params.text("write").map(PathBuf::from),
        })
    }

    /// Blurs the whole picture once.
    pub fn pass(&self, params: &Params) -> Result<Pass> {
        let setup = self.setup;
        let mut file = self.file.as_ref().map(|path| Ppm::create(path, setup.w)).transpose()?;
        let mut overview = Overview::new(setup.w, setup.h);
        let mut spent = Spent::default();
        let mut samples = Vec::new();
        let mut flights: VecDeque<Flight> = VecDeque::new();
        let (mut spare_pixels, mut spare_packed) = (Vec::new(), Vec::new());
        let tiles = setup.tiles();
        // SLOTS turns more than tiles: in the last ones, tiles only leave.
        for i in 0..tiles + SLOTS {
            // The oldest tile leaves its slot; the device has one more to work on meanwhile.
            if i >= SLOTS
                && let Some(flight) = flights.pop_front()
            {
                let start = Instant::now();
                let tile = flight.tile;
                for done in [flight.upload.done(), flight.packed.done()] {
                    done.wait()?;
                    let (from, to) = done.span()?;
                    spent.transfers += to.saturating_sub(from);
                }
                spare_pixels = flight.upload.wait()?;
                flight.upload_places.wait()?;
                let (packed, got) = (flight.packed.wait()?, flight.picked.wait()?);
                spent.waiting += start.elapsed();
                let start = Instant::now();
                if let Some(file) = &mut file {
                    file.tile(tile.x, tile.y, tile.w, &packed)?;
                    // Tiles come row by row: the last one of a row completes the rows of the file down to its lower
                    // edge.
                    if tile.x + tile.w == setup.w {
                        file.finished(tile.y + tile.h)?;
                    }
                }
                overview.add(tile, &packed);
                spent.writing += start.elapsed();
                // Of a tile only the samples are kept: memory must not grow with the picture.
                let bytes = flight.places.iter().map(|&p| packed[p as usize]).collect();
                samples.push(Samples { tile, places: flight.places, got, packed: Some(bytes) });
                spare_packed = packed;
                params.observer.frame(|| Ok(overview.picture()))?;
                params.observer.progress(i + 1 - SLOTS, tiles)?;
            }
            if i < tiles {
                let start = Instant::now();
                let tile = setup.tile(i);
                let pixels = self.pixels(tile, std::mem::take(&mut spare_pixels));
                spent.generating += start.elapsed();
                flights.push_back(self.start(
                    tile,
                    &self.slots[i % SLOTS],
                    pixels,
                    std::mem::take(&mut spare_packed),
                )?);
            }
        }
        Ok(Pass { samples, overview, spent })
    }

    /// Whether a kernel wrote behind the end of a buffer.
    pub fn check_guards(&self, session: &Session) -> Result<()> {
        session.read(&self.sums)?;
        session.read(&self.result)?;
        for slot in &self.slots {
            session.read(&slot.packed)?;
            session.read(&slot.picked)?;
        }
        Ok(())
    }

    /// A tile's pixels and those around it.
    fn pixels(&self, tile: Tile, mut pixels: Vec<u32>) -> Vec<u32> {
        let halo = self.setup.lens.halo();
        let (width, height) = (tile.w + 2 * halo, tile.h + 2 * halo);
        pixels.resize(width * height, 0);
        self.setup.source.fill((tile.x as i64 - halo as i64, tile.y as i64 - halo as i64), width, &mut pixels);
        pixels
    }

    /// Enqueues all that happens to a tile. The slot's former tile is done.
    fn start(&self, tile: Tile, slot: &Slot, pixels: Vec<u32>, mut packed: Vec<u32>) -> Result<Flight> {
        let places = places(self.setup, tile);
        let (count, halo) = (tile.w * tile.h, self.setup.lens.halo());
        let (pw, ph) = (tile.w + 2 * halo, tile.h + 2 * halo);
        packed.resize(count, 0);
        // A queue for each direction and one for kernels: the transfers of one tile overlap with the kernels of the
        // other.
        let upload = self.up.write(&slot.pixels, 0, pixels, &[])?;
        let upload_places = self.up.write(&slot.places, 0, places.clone(), &[])?;
        self.up.flush()?;

        let k = self.kernels;
        let line = |n: usize| [n];
        let args = args![&slot.pixels, &self.linear, &self.sums, pw as i32, ph as i32];
        self.run.launch(&k.prefix, args, [&[], &line(ph), &[]], &[upload.done()])?;
        let args = args![&self.sums, &self.result, tile.w as i32, tile.h as i32, tile.x as i32, tile.y as i32];
        let global = [round_up(tile.w, self.group[0]), round_up(tile.h, self.group[1])];
        self.run.launch(&k.rows, args, [&[], &global, &self.group], &[])?;
        let args = args![&self.result, &slot.packed, count as i32];
        self.run.launch(&k.pack, args, [&[], &line(count), &[]], &[])?;
        let args = args![&self.result, &slot.places, &slot.picked, places.len() as i32];
        let picked: Done = self.run.launch(&k.pick, args, [&[], &line(places.len()), &[]], &[upload_places.done()])?;
        self.run.flush()?;

        // The run's queue keeps the order: what was packed before is done, too.
        let packed = self.down.read(&slot.packed, 0, packed, &[&picked])?;
        let picked = self.down.read(&slot.picked, 0, vec![0.0; 4 * places.len()], &[&picked])?;
        self.down.flush()?;
        Ok(Flight { tile, places, upload, upload_places, packed, picked })
    }
}

/// The picture scaled down by a whole number while it streams by.
pub struct Overview {
    step: usize,
    width: usize,
    height: usize,
    linear: Vec<u32>,
    /// Sums of linear light, and how many pixels.
    sums: Vec<[u32; 4]>,
}

impl Overview {
    fn new(w: usize, h: usize) -> Overview {
        let step = w.max(h).div_ceil(OVERVIEW);
        let (width, height) = (w.div_ceil(step), h.div_ceil(step));
        Overview { step, width, height, linear: lens::linear(), sums: vec![[0; 4]; width * height] }
    }

    fn add(&mut self, tile: Tile, pixels: &[u32]) {
        for (y, row) in (tile.y..).zip(pixels.chunks(tile.w)) {
            let sums = &mut self.sums[y / self.step * self.width..][..self.width];
            for (x, pixel) in (tile.x..).zip(row) {
                let [r, g, b, _] = pixel.to_le_bytes().map(|v| self.linear[usize::from(v)]);
                // At most 64 by 64 pixels of 2^14.
                for (sum, v) in sums[x / self.step].iter_mut().zip([r, g, b, 1]) {
                    *sum += v;
                }
            }
        }
    }

    pub fn picture(&self) -> Picture {
        Picture::from_fn(self.width, self.height, |x, y| {
            let [r, g, b, n] = self.sums[y * self.width + x];
            let of = |sum: u32| {
                let mean = f64::from(sum) / (f64::from(n.max(1)) * f64::from(lens::WHITE));
                lens::encoded(mean).round() as u8
            };
            rgb(of(r), of(g), of(b))
        })
    }
}
