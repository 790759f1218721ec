//! The collectives of a warp.
//!
//! In: an operation of the `.sync` family and the threads that take part. Out: results in their registers. Threads
//! are found by lane; a lane that is absent takes no part.

use super::atomic;
use super::op::{AtomicOp, Shuffle, Vote, WarpOp};
use super::thread::{Common, Context, Thread};

/// The result of `shfl` from a lane that takes no part. PTX leaves it open; a strange value reveals code that relies on
/// it.
const ABSENT: u64 = 0xDEAD_BEEF;

/// Performs an operation for the threads of the lanes in a mask. `threads` are those of the warp, by lane.
pub(super) fn perform(op: &WarpOp, cx: &Context<'_>, common: &Common, threads: &mut [Thread], members: u32) {
    let lanes: Vec<usize> = (0..threads.len()).filter(|lane| members >> lane & 1 == 1).collect();
    match op {
        WarpOp::Sync => {}
        WarpOp::Shuffle { how, dst, valid, a, b, c } => {
            // All lanes are read before one is written: a lane's result may overwrite the value that another lane takes
            // from it.
            let values: Vec<u64> = threads.iter().map(|thread| thread.read(cx, common, *a)).collect();
            for &lane in &lanes {
                let (b, c) = (threads[lane].read(cx, common, *b), threads[lane].read(cx, common, *c));
                let (source, inside) = source_lane(*how, lane as i64, b, c);
                let value = match usize::try_from(source) {
                    Ok(source) if lanes.binary_search(&source).is_ok() => values[source],
                    _ => ABSENT,
                };
                threads[lane].write(*dst, value);
                if let Some(valid) = valid {
                    threads[lane].write(*valid, u64::from(inside));
                }
            }
        }
        WarpOp::Vote { how, dst, a } => {
            let ballot = lanes
                .iter()
                .filter(|lane| threads[**lane].test(cx, common, *a))
                .fold(0_u32, |ballot, lane| ballot | 1 << lane);
            let result = match how {
                Vote::All => u64::from(ballot == members),
                Vote::Any => u64::from(ballot != 0),
                Vote::Uniform => u64::from(ballot == 0 || ballot == members),
                Vote::Ballot => u64::from(ballot),
            };
            for &lane in &lanes {
                threads[lane].write(*dst, result);
            }
        }
        WarpOp::MatchAny { dst, a, ty } => {
            let values: Vec<u64> = threads.iter().map(|thread| ty.extend(thread.read(cx, common, *a))).collect();
            for &lane in &lanes {
                let same = lanes.iter().filter(|other| values[**other] == values[lane]);
                let result = same.fold(0_u64, |mask, other| mask | 1 << other);
                threads[lane].write(*dst, result);
            }
        }
        WarpOp::MatchAll { dst, same, a, ty } => {
            let values: Vec<u64> = lanes.iter().map(|lane| ty.extend(threads[*lane].read(cx, common, *a))).collect();
            let all = values.windows(2).all(|pair| pair[0] == pair[1]);
            for &lane in &lanes {
                threads[lane].write(*dst, if all { u64::from(members) } else { 0 });
                if let Some(same) = same {
                    threads[lane].write(*same, u64::from(all));
                }
            }
        }
        WarpOp::Reduce { op, ty, dst, a } => {
            let values = lanes.iter().map(|lane| threads[*lane].read(cx, common, *a));
            let result = values.reduce(|x, y| combine(*op, *ty, x, y)).unwrap_or(0);
            for &lane in &lanes {
                threads[lane].write(*dst, result);
            }
        }
        WarpOp::Elect { dst, chosen } => {
            let leader = lanes.first().copied().unwrap_or(0);
            for &lane in &lanes {
                threads[lane].write(*dst, leader as u64);
                if let Some(chosen) = chosen {
                    threads[lane].write(*chosen, u64::from(lane == leader));
                }
            }
        }
    }
}

fn combine(op: AtomicOp, ty: super::op::Type, x: u64, y: u64) -> u64 {
    atomic::apply(op, ty, x, y, 0)
}

/// The lane from which `shfl` takes a value, and whether it lies in the segment; else it is the own lane.
fn source_lane(how: Shuffle, lane: i64, b: u64, c: u64) -> (i64, bool) {
    // The lower bits of `c` bound the lane, the bits from 8 on say which bits of a lane number select its segment.
    let (b, clamp, segment) = ((b & 31) as i64, (c & 31) as i64, (c >> 8 & 31) as i64);
    let most = lane & segment | clamp & !segment;
    let least = lane & segment;
    let (source, inside) = match how {
        Shuffle::Up => (lane - b, lane - b >= most),
        Shuffle::Down => (lane + b, lane + b <= most),
        Shuffle::Butterfly => (lane ^ b, lane ^ b <= most),
        Shuffle::Index => {
            let source = least | b & !segment;
            (source, source <= most)
        }
    };
    if inside { (source, true) } else { (lane, false) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_of_shuffles() {
        for (how, lane, b, c, expected) in [
            (Shuffle::Up, 5, 1, 0, (4, true)),
            (Shuffle::Up, 0, 1, 0, (0, false)),
            (Shuffle::Down, 30, 1, 31, (31, true)),
            (Shuffle::Down, 31, 1, 31, (31, false)),
            (Shuffle::Butterfly, 5, 3, 31, (6, true)),
            (Shuffle::Index, 5, 9, 31, (9, true)),
            (Shuffle::Index, 5, 33, 31, (1, true)),
            // Segments of eight lanes: the mask is 24, and `up` clamps at 0.
            (Shuffle::Up, 8, 1, 0x1800, (8, false)),
            (Shuffle::Up, 9, 1, 0x1800, (8, true)),
            (Shuffle::Down, 15, 1, 0x1807, (15, false)),
            (Shuffle::Index, 13, 2, 0x1807, (10, true)),
            (Shuffle::Butterfly, 13, 8, 0x1807, (5, true)),
        ] {
            assert_eq!(source_lane(how, lane, b, c), expected, "{how:?} lane {lane} b {b} c {c:#x}");
        }
    }
}
