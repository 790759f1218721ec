//! Sub-groups: which work-items form one, and their collective operations.
//!
//! In come the work-items of a group that wait at collective operations; out go those that may run again. A sub-group
//! is a run of consecutive work-items in a row of the group, as are the vectors of `spmd`. If its work-items wait at
//! different positions, those at the earliest one execute first, as they may reach the others' position. Masked vector
//! code has the same order.

use crate::code::{Code, Collective, Program, Reg};
use crate::exec::{Item, Subgroup};
use crate::shadow::Undefined;
use cloom_ir::{Scalar, subgroup};
use std::collections::BTreeMap;

/// The sub-group ids of a work-item, in a group of this size, where `size` is the size of a whole sub-group.
pub fn of(local_id: [u64; 3], size: [u64; 3], enqueued: [u64; 3], lanes: u16) -> Subgroup {
    let width = u64::from(lanes.clamp(1, 64));
    let row = |size: [u64; 3]| size[0].div_ceil(width);
    let count = |size: [u64; 3]| row(size) * size[1] * size[2];
    let first = local_id[0] / width * width;
    Subgroup {
        local_id: local_id[0] - first,
        size: width.min(size[0] - first),
        max_size: width.min(enqueued[0]),
        id: (local_id[2] * size[1] + local_id[1]) * row(size) + local_id[0] / width,
        count: count(size),
        enqueued_count: count(enqueued),
        lanes: width as u16,
    }
}

/// In each sub-group, executes the operation of the work-items that wait at the earliest position. Returns these
/// work-items, which are ready again.
pub fn act(waiting: &mut Vec<usize>, items: &mut [Option<Item>], program: &Program) -> Vec<usize> {
    // In the order of sub-groups, so that a run is repeatable.
    let mut groups: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
    for &i in waiting.iter() {
        if let Some(ids) = items[i].as_ref().and_then(|item| item.ids.as_ref()) {
            groups.entry(ids.subgroup.id).or_default().push(i);
        }
    }
    let mut ready = Vec::new();
    for list in groups.into_values() {
        let mut earliest: Option<(Vec<usize>, Vec<usize>)> = None;
        for i in list {
            let Some(position) = items[i].as_ref().map(Item::position) else { continue };
            match &mut earliest {
                Some((first, here)) if *first == position => here.push(i),
                // Positions are lists, the outermost call first, and are compared element by element.
                Some((first, _)) if *first < position => {}
                _ => earliest = Some((position, vec![i])),
            }
        }
        let here = earliest.map_or(Vec::new(), |e| e.1);
        let mut members: Vec<Item> = here.iter().filter_map(|&i| items[i].take()).collect();
        run_collective(&mut members, program);
        for (&i, member) in here.iter().zip(members) {
            items[i] = Some(member);
        }
        ready.extend(here);
    }
    ready.sort_unstable();
    waiting.retain(|i| ready.binary_search(i).is_err());
    ready
}

/// Executes the operation that these work-items of one sub-group wait at.
fn run_collective(members: &mut [Item], program: &Program) {
    // All members wait at one position, and so all at a back edge or none. `|` has no short circuit: each member must
    // be released.
    if members.iter_mut().fold(false, |any, m| m.next_iteration() | any) {
        return;
    }
    let waiting = members.first().and_then(|m| Some((m.waits_at(program)?, m.ids.as_ref()?.subgroup.lanes)));
    let Some((&Code::Subgroup { what, ty, d, a, b }, lanes)) = waiting else { return };
    let number = |m: &Item| m.ids.as_ref().map_or(0, |p| p.subgroup.local_id as usize);
    let spread = |empty: u64| {
        let mut values = vec![empty; usize::from(lanes)];
        members.iter().for_each(|m| values[number(m)] = m.register(a));
        values
    };
    let results: Vec<u64> = match what {
        Collective::Fence => Vec::new(),
        Collective::Ballot => {
            let bits = spread(0).iter().rev().fold(0, |bits, &yes| bits << 1 | yes);
            vec![bits; usize::from(lanes)]
        }
        Collective::Shuffle => {
            let values = spread(0);
            let mut results = values.clone();
            for m in members.iter() {
                results[number(m)] = values[m.register(b) as usize % values.len()];
            }
            results
        }
        Collective::Reduce { op, cluster } => {
            let mut values = spread(subgroup::identity(op, ty).unwrap_or(0));
            subgroup::reduce(op, ty, &mut values, cluster);
            values
        }
        Collective::Scan { op, exclusive } => {
            let mut values = spread(subgroup::identity(op, ty).unwrap_or(0));
            subgroup::scan(op, ty, &mut values, exclusive);
            values
        }
    };
    // Nearly always all is defined.
    let mut undefined = vec![Undefined::NONE; members.len()];
    if members.iter().any(|m| m.undefined(a).bits | m.undefined(b).bits != 0) {
        undefined = members.iter().map(|m| undefined_of(members, m, what, ty, (a, b))).collect();
    }
    for (m, undefined) in members.iter_mut().zip(undefined) {
        let result = (what != Collective::Fence).then(|| (d, results[number(m)], undefined));
        m.go_on(result);
    }
}

/// The undefined bits of a work-item's result: what is undefined in the operands that the result depends on.
fn undefined_of(members: &[Item], of: &Item, what: Collective, ty: Scalar, (a, b): (Reg, Reg)) -> Undefined {
    let number = |m: &Item| m.ids.as_ref().map_or(0, |p| p.subgroup.local_id);
    let all_of = |depends: &dyn Fn(u64) -> bool| {
        let operands = members.iter().filter(|m| depends(number(m))).map(|m| m.undefined(a));
        match operands.collect::<Vec<_>>()[..] {
            // The value of one work-item alone is not changed.
            [one] => Undefined { base: 0, ..one },
            ref several => Undefined::all(ty, several),
        }
    };
    let own = number(of);
    match what {
        Collective::Fence => Undefined::NONE,
        Collective::Ballot => members.iter().fold(Undefined::NONE, |mut sum, m| {
            let one = m.undefined(a);
            if one.bits != 0 {
                (sum.bits, sum.origin) = (sum.bits | 1 << number(m), one.origin);
            }
            sum
        }),
        Collective::Shuffle if of.undefined(b).bits != 0 => Undefined::all(ty, &[of.undefined(b)]),
        Collective::Shuffle => {
            let lanes = of.ids.as_ref().map_or(1, |p| u64::from(p.subgroup.lanes));
            let from = of.register(b) % lanes;
            all_of(&|n| n == from)
        }
        Collective::Reduce { cluster, .. } => {
            let cluster = u64::from(cluster);
            all_of(&|n| n / cluster == own / cluster)
        }
        Collective::Scan { exclusive, .. } => all_of(&|n| n < own || n == own && !exclusive),
    }
}
