//! Contexts in turn, each with a queue, a buffer, an image, a program and a launch.

use super::measure::Held;
use super::{Progress, Size};
use crate::common::images::{BYTES, D2, Desc};
use crate::common::*;

fn one(i: u32) {
    let t = Session::new();
    let kernel = t.kernel("kernel void k(global uint *p, uint x) { p[get_global_id(0)] = x; }");
    let buffer = t.buffer(0, 256);
    let image = t.image(BYTES, &Desc::new(D2, [8, 8, 0]));
    t.write_image(&image, [0; 3], [8, 8, 1], [0; 2], &[7u8; 256]);
    t.arg_mem(&kernel, 0, &buffer);
    t.arg(&kernel, 1, i);
    let event = t.launch(&kernel, &[64], &[]);
    if i.is_multiple_of(2) {
        t.wait(&[&event]);
        assert_eq!(t.read::<u32>(&buffer, 64), [i; 64]);
    }
}

pub fn run(size: Size) -> String {
    let n = size.pick(150, 10_000);
    let warm = n / 10;
    (0..warm).for_each(one);
    let before = Held::now();
    let mut progress = Progress::new("contexts", n.into());
    for i in warm..n {
        one(i);
        progress.at(i.into());
    }
    let after = Held::now();
    // The list of handles that rest before they are used again is the only thing that may still grow.
    after.same(before, 6 << 20);
    let grown = after.memory.saturating_sub(before.memory) >> 10;
    format!("{n} contexts, memory +{grown} KiB, {} files, {} threads", after.files, after.threads)
}
