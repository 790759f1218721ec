//! The cost model: how many lanes a vector has, and in which order the vectors of a group run.
//!
//! In come the analysed continuations of a kernel; out comes a [`Width`]. The candidates are 1 lane (scalar code) and
//! the powers of two up to [`MAX_LANES`]. Vetoes ([`veto`]) rule some out; among the rest the cost function
//! ([`WidthQuery::cost`]) decides, over the machine's model:
//!
//! ```text
//! candidates 1, 2, 4 … 64 ─▶ strongest veto ─▶ least cost, then fewest lanes ─▶ limits ─▶ width
//! ```
//!
//! | module | contains |
//! |---|---|
//! | [`query`] | figures of a kernel on a machine; the cost function |
//! | [`veto`] | what keeps vectors narrow |
//! | [`reason`] | why vectors have their width, as data |
//! | [`scattered`], [`short_vectors`], [`code_size`] | the properties that vetoes ask for |

use crate::analysis::input::VectorInput;
use crate::options::Vectors;

pub mod code_size;
pub mod query;
pub mod reason;
pub mod scattered;
pub mod short_vectors;
#[cfg(test)]
mod tests;
pub mod veto;

use query::WidthQuery;
use reason::WidthReason;
use scattered::{backtracks, changes_scattered};
use veto::{LIMITS, VETOES};

/// The chosen width: the shape and order of vectors.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Width {
    /// Lanes of a vector; 1 for scalar code.
    pub lanes: u16,
    /// The dimensions of the code in the order of the loops over a group's vectors, the innermost first.
    pub order: [usize; 3],
    /// The least number of work-items of a row that vectors are worth their while for.
    pub min_row: u16,
    /// Whether scalar code is made of the functions as they were before they were brought into canonical form.
    pub is_plain: bool,
    /// The estimated time per work-item ([`WidthQuery::cost`]), unless the width was requested.
    pub cost: Option<u32>,
    /// The cheapest other width, vetoes aside, with its cost.
    pub alternative: Option<(u16, u32)>,
    /// Why so many lanes.
    pub reason: WidthReason,
}

impl Width {
    /// Vectors along dimension 0, row after row, of a requested number of lanes.
    pub fn new(lanes: u16) -> Width {
        let reason = WidthReason::Requested;
        let (cost, alternative) = (None, None);
        Width { lanes, order: [0, 1, 2], min_row: lanes / 8 + 1, is_plain: false, cost, alternative, reason }
    }
}

/// The most lanes: a mask has 64 bits. Rows of 64 work-items fill any vector.
pub const MAX_LANES: u32 = 64;

/// The guessed length of the rows of groups, for kernels that query ids in more than one dimension: tiles are mostly
/// 16 wide.
pub const GUESSED_TILE: u32 = 16;

/// So many work-items update scattered memory faster one after another than in the lanes of a vector.
const FEW_BY_LANE: u16 = 4;

/// The numbers of lanes to choose from, up to `most`.
fn candidates(most: u32) -> impl Iterator<Item = u32> {
    (0..=MAX_LANES.ilog2()).map(|n| 1 << n).filter(move |&lanes| lanes <= most)
}

/// The cheapest candidate of up to `most` lanes; of several, the narrowest, whose code is shortest.
fn cheapest(query: &WidthQuery<'_>, most: u32) -> u32 {
    candidates(most).min_by_key(|&lanes| query.cost(lanes)).unwrap_or(1)
}

/// Chooses the width for the continuations of a kernel, whose groups have rows of `row` work-items.
///
/// If lanes access memory at a distance while work-items adjacent in dimension 1 have unit stride (a matrix read by
/// rows and written by columns), the vectors of a group run down dimension 1 first: the next vector then uses the
/// rest of the cache lines before others, which often map to the same cache sets, evict them.
pub fn choose(items: &[&VectorInput], vectors: Vectors<'_>, row: u32) -> Width {
    if let Some(lanes) = vectors.options.lanes {
        return Width::new(lanes.clamp(1, 64));
    }
    let query = WidthQuery::new(items, &vectors, row);
    let (mut lanes, mut reason) = match VETOES.iter().find_map(|veto| veto(&query)) {
        Some(bound) => (cheapest(&query, bound.lanes), bound.reason),
        None => (cheapest(&query, MAX_LANES), query.reason()),
    };
    // After vetoes and cost: they look at the width that would be chosen.
    for limit in LIMITS {
        if let Some(bound) = limit(&query, lanes) {
            (lanes, reason) = (cheapest(&query, bound.lanes), bound.reason);
        }
    }
    // Loops in canonical form, with one exit and one way back, would test in each iteration how to go on. (A search
    // that backtracks, on AVX-512: 0.62 ms so, 0.46 with its loops as they were.)
    let is_plain = lanes == 1 && (reason == WidthReason::LargeCode || query.any(backtracks));
    let order = if query.column().is_some() && lanes > 1 { [1, 0, 2] } else { [0, 1, 2] };
    let cost = Some(query.cost(lanes));
    let others = candidates(MAX_LANES).filter(|&other| other != lanes);
    let alternative = others.map(|other| (other as u16, query.cost(other))).min_by_key(|&(_, cost)| cost);
    let width = Width { order, is_plain, cost, alternative, reason, ..Width::new(lanes as u16) };
    // In loops that update scattered memory, an inactive lane takes as long as an active one, unless there is much to
    // compute. (Two work-items that count bytes, on AVX-512: 3.3 ms with 8 lanes, 0.15 without.)
    let few = if query.any(changes_scattered) { (width.lanes / 2).min(FEW_BY_LANE) } else { 0 };
    Width { min_row: width.min_row.max(few + 1), ..width }
}
