//! Asynchronous copies and their waits: the group makes them together, so that all its work-items must call them, with
//! the same arguments.
//!
//! Kept is what each work-item of the group has called since the last barrier; at a barrier, and at the end of the
//! group, the lists of two work-items are compared.

use super::Checker;
use super::wording::{self, event};
use crate::finding::{AccessKind, Finding};
use crate::kind::Kind;
use cloom_interp::Point;
use std::collections::BTreeMap;

/// A call of a work-item, with its arguments.
struct Call {
    at: Point,
    args: Vec<u64>,
}

/// The calls of each work-item of the group since the last barrier.
#[derive(Default)]
pub(super) struct Calls {
    /// Copies; the event is the first argument.
    copies: BTreeMap<[u64; 3], Vec<Call>>,
    /// Waits, with their events.
    waits: BTreeMap<[u64; 3], Vec<Call>>,
}

impl Calls {
    /// A work-item begins a copy, with this event.
    pub fn copy(&mut self, event: u64, at: &Point) {
        self.copies.entry(at.item).or_default().push(Call { at: *at, args: vec![event] });
    }

    /// Another argument of the copy that it has begun last.
    pub fn argument(&mut self, value: u64, at: &Point) {
        if let Some(copy) = self.copies.get_mut(&at.item).and_then(|list| list.last_mut()) {
            copy.args.push(value);
        }
    }

    /// A work-item waits for copies.
    pub fn wait(&mut self, events: &[u64], at: &Point) {
        self.waits.entry(at.item).or_default().push(Call { at: *at, args: events.to_vec() });
    }
}

/// Two calls of the same place in the lists of two work-items whose arguments differ, and the first of these.
fn difference(calls: &BTreeMap<[u64; 3], Vec<Call>>) -> Option<(Point, Point, usize)> {
    let (_, first) = calls.first_key_value()?;
    let pairs = calls.values().skip(1).flat_map(|list| first.iter().zip(list));
    // Calls at different places are a divergence, which is told already.
    let (a, b) = pairs.filter(|(a, b)| a.at.span == b.at.span).find(|(a, b)| a.args != b.args)?;
    let differs = a.args.iter().zip(&b.args).position(|(x, y)| x != y);
    Some((a.at, b.at, differs.unwrap_or(a.args.len().min(b.args.len()))))
}

impl Checker<'_> {
    /// Compares the calls of the group's work-items, and forgets them.
    pub(super) fn compare_calls(&mut self) {
        let calls = std::mem::take(&mut self.calls);
        if self.is_tainted {
            return;
        }
        if let Some(at) = self.diverging_copy(&calls) {
            self.found(Kind::BarrierDivergence, [self.points.user(&at).span; 2], |s| wording::copy_diverges(s, &at));
            self.is_tainted = true;
        } else if let Some((at, other, argument)) = difference(&calls.copies) {
            let places = [self.points.user(&at).span; 2];
            self.found(Kind::BarrierDivergence, places, |s| copy_differs(s, &at, &other, argument));
            self.is_tainted = true;
        }
        if let Some((at, other, _)) = difference(&calls.waits) {
            let places = [self.points.user(&at).span; 2];
            self.found(Kind::BarrierDivergence, places, |s| wait_differs(s, &at, &other));
            self.is_tainted = true;
        }
    }

    /// The first copy that not all work-items of the group have begun since the last barrier.
    fn diverging_copy(&self, calls: &Calls) -> Option<Point> {
        let copies = &calls.copies;
        let range = &self.subject.range;
        let size = |d: usize| range.local[d].min(range.global[d] - self.group[d] * range.local[d]);
        let (items, most) = (size(0) * size(1) * size(2), copies.values().max_by_key(|list| list.len())?);
        let least = copies.values().map(Vec::len).min().filter(|_| copies.len() as u64 == items).unwrap_or(0);
        most.get(least).map(|call| call.at)
    }
}

/// A copy with an argument that is not the same in all work-items.
fn copy_differs(s: &Checker<'_>, at: &Point, other: &Point, argument: usize) -> Finding {
    let is_line = s.points.name(at).contains("D2D") || s.points.name(at).contains("D3D");
    let what = match argument {
        0 => "event".to_owned(),
        1 => "destination".to_owned(),
        // Copies of lines have offsets in between.
        n if is_line => format!("argument {n}"),
        2 => "source".to_owned(),
        3 => "number of elements".to_owned(),
        _ => "stride".to_owned(),
    };
    let begins = event(s, AccessKind::Point, 0, at, "begins the copy");
    let differs = event(s, AccessKind::Point, 0, other, &format!("begins it with another {what}"));
    let mut finding = s.finding(Kind::BarrierDivergence, vec![begins, differs], None);
    finding.message = format!("the {what} of an asynchronous copy differs between work-items of a group");
    finding.why = Some("the group makes a copy together: all its work-items must give the same arguments".into());
    finding.fix = Some("compute the arguments from the group's id and from what is the same in the whole group".into());
    finding
}

/// A wait for events that are not the same in all work-items.
fn wait_differs(s: &Checker<'_>, at: &Point, other: &Point) -> Finding {
    let waits = event(s, AccessKind::Point, 0, at, "waits for its events");
    let differs = event(s, AccessKind::Point, 0, other, "waits for others");
    let mut finding = s.finding(Kind::BarrierDivergence, vec![waits, differs], None);
    finding.message = "work-items of one group wait for different asynchronous copies".into();
    finding.why = Some("the group waits together: all its work-items must give the same events".into());
    finding.fix = Some("give the same list of events in the whole group".into());
    finding
}
