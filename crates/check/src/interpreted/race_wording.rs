//! The sentences of findings about data races.

use super::wording::{bytes, element, event};
use super::{Checker, access_kind};
use crate::finding::{AccessKind, Event, Finding};
use crate::kind::Kind;
use crate::races::{Party, Race, WeakBarrier};
use cloom_interp::Point;
use cloom_ir::{BarrierMemory, Order, Scope};

/// A data race.
pub fn race(s: &Checker<'_>, kind: Kind, race: &Race) -> Finding {
    let size = race.first.size.min(race.second.size);
    let found = s.objects.find(race.address).or_else(|| s.objects.find_ended(race.address));
    let is_async = |p: &Party| p.is_copy;
    let side = |p: &Party, other: &Party| {
        let verb = match (p.atomic, p.writes) {
            (Some(_), _) => "accesses atomically",
            (None, true) => "writes",
            (None, false) => "reads",
        };
        let group = match race.between_groups {
            true => format!(" in group {}", ids(s, p.at.item)),
            false => String::new(),
        };
        let label = match (is_async(p), is_async(other)) {
            (true, _) => format!("copies it, at any time before the wait{group}"),
            _ => format!("{verb} {}{group}", bytes(p.size)),
        };
        let kind = match p.writes {
            true => access_kind(cloom_interp::AccessKind::Store),
            false => access_kind(cloom_interp::AccessKind::Load),
        };
        // A copy is one access of the group, in no loop of the kernel.
        let at = if p.is_copy { Point { iteration: None, ..p.at } } else { p.at };
        let mut event = event(s, kind, p.size, &at, &label);
        event.atomic = p.atomic.map(|(order, scope)| format!("{}, {}", order.name(), scope.name()));
        event
    };
    let events = vec![side(&race.first, &race.second), side(&race.second, &race.first)];
    let object = found.map(|(region, offset)| s.object(region, offset, size));
    let mut finding = s.finding(kind, events, object);
    let what = finding.object.as_ref().map_or_else(|| "the same memory".to_owned(), element);
    let both = race.first.writes && race.second.writes;
    let writes = if both { "both write" } else { "one writes" };
    let atomics = [race.first.atomic, race.second.atomic];
    let (message, why, fix) = match kind {
        Kind::AsyncCopy => (
            format!("{what} is used while an asynchronous copy may still run"),
            "a copy runs from its call until wait_group_events returns for its event; a barrier does not end it".into(),
            Some("call wait_group_events with the event of the copy before the memory is used".into()),
        ),
        Kind::RaceGroups => (
            format!("work-items of different groups use {what} without an order, and {writes}"),
            why_groups(atomics).into(),
            Some(
                if both {
                    "use an atomic operation, or give each group an element of its own"
                } else {
                    "release and acquire with memory_scope_device, or divide the work into two kernels"
                }
                .into(),
            ),
        ),
        _ => {
            let memory = if race.is_local { "CLK_LOCAL_MEM_FENCE" } else { "CLK_GLOBAL_MEM_FENCE" };
            (
                format!("two work-items of one group use {what} without a barrier between them, and {writes}"),
                why_group(race, memory),
                Some(match (atomics, both) {
                    // The accesses of two iterations have code between them that may have a barrier already.
                    ([None, None], _) if race.first.at.iteration != race.second.at.iteration => {
                        format!(
                            "barrier({memory}) also at the end of each iteration, or between the loop and the other access"
                        )
                    }
                    ([None, None], false) => format!("barrier({memory}) between the two accesses"),
                    ([None, None], true) => {
                        format!("let one work-item write it, use an atomic operation, or barrier({memory}) between")
                    }
                    _ => format!("make both accesses atomic, or barrier({memory}) between them"),
                }),
            )
        }
    };
    (finding.message, finding.why, finding.fix) = (message, Some(why), fix);
    if let Some(barrier) = &race.barrier {
        lacks_fence(s, &mut finding, race, barrier);
    }
    if race.same_value {
        finding.why =
            Some("both write the same value: a race by the specification, which no device is known to show".into());
    }
    finding
}

/// A race whose accesses have a barrier between them, which does not order their memory.
fn lacks_fence(s: &Checker<'_>, finding: &mut Finding, race: &Race, barrier: &WeakBarrier) {
    let what = finding.object.as_ref().map_or_else(|| "the same memory".to_owned(), element);
    let (space, missing) = match race.is_local {
        true => ("local", "CLK_LOCAL_MEM_FENCE"),
        false => ("global", "CLK_GLOBAL_MEM_FENCE"),
    };
    let (flags, orders) = match barrier.memory {
        BarrierMemory::Local => ("CLK_LOCAL_MEM_FENCE", "orders local memory only"),
        BarrierMemory::Global => ("CLK_GLOBAL_MEM_FENCE", "orders global memory only"),
        _ => ("0", "orders no memory"),
    };
    let writes = if race.first.writes && race.second.writes { "both write" } else { "one writes" };
    finding.message =
        format!("two work-items of one group use {what}, {writes}, and the barrier between them {orders}");
    let order = format!("barrier({flags}) {orders}, and {missing} is missing");
    finding.why = Some(match race.is_read_before_barrier() {
        true => format!("{order}; few devices let the write overtake the read, but nothing forbids it"),
        false => format!("{order}: the other work-item may not see what was written to {space} memory"),
    });
    finding.fix = Some(match barrier.memory {
        BarrierMemory::Nothing => format!("barrier({missing})"),
        _ => "barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)".to_owned(),
    });
    let at = Point { item: race.second.at.item, span: barrier.span, ..Point::default() };
    let event = event(s, AccessKind::Point, 0, &at, "");
    finding.events.push(Event { label: format!("{orders}: {missing} is missing"), ..event });
}

/// The id of the group of a work-item.
fn ids(s: &Checker<'_>, item: [u64; 3]) -> String {
    let range = &s.subject.range;
    let id = |d: usize| (item[d] - range.offset[d]) / range.local[d].max(1);
    let all: Vec<String> = (0..range.work_dim.clamp(1, 3) as usize).map(|d| id(d).to_string()).collect();
    if let [one] = all.as_slice() { one.clone() } else { format!("({})", all.join(", ")) }
}

fn why_groups(atomics: [Option<(Order, Scope)>; 2]) -> &'static str {
    match atomics {
        [Some((_, a)), Some((_, b))] if a.min(b) < Scope::Device => {
            "the scope of an atomic operation is smaller than the two groups: memory_scope_work_group orders one group only"
        }
        [None, None] => "no barrier orders work-items of different groups",
        _ => "an atomic and a plain access of the same memory are a race",
    }
}

fn why_group(race: &Race, memory: &str) -> String {
    match (race.first.atomic, race.second.atomic) {
        (Some(_), None) | (None, Some(_)) => "an atomic and a plain access of the same memory are a race".into(),
        _ => format!("only a barrier that both pass, with {memory}, or atomic operations order work-items of a group"),
    }
}
