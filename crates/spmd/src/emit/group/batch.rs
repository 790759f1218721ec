//! Work-group batching: several groups in one call, by a loop over them around each continuation up to the first
//! barrier, and one around all that follows.
//!
//! In come the continuations and where they begin; out go both kinds of loops, with the loop nests of the continuations
//! in them. The groups have adjacent numbers, and each has local memory and a frame of its own. Up to the first barrier
//! all of them take the same path from synthetic barrier to synthetic barrier
//! ([`crate::split::continuations::ContinuationGraph::batched`]), so that the exit of the last one is that of all.

use super::{Emitter, Part, Targets};
use crate::error::Stop;
use crate::passes;
use crate::split::continuation_fn::{DONE, exit_number};
use crate::split::continuations::Exit;
use crate::transform::versioning::Versioned;
use cloom_ir::{BinOp, Block, Edge, Flags, IntCc, Term, Type, Value, abi};

/// A loop over groups. Its header has two parameters: the group's number, and a number that is carried, of an exit or
/// of a continuation.
struct GroupLoop {
    head: Block,
    /// Where a group's code begins.
    body: Block,
    /// Where it ends; its parameter is the number that is carried on.
    latch: Block,
    /// The block after the loop; its parameter is the number that was carried last.
    done: Block,
    /// The group's number, from 0.
    number: Value,
    /// The number that is carried.
    carried: Value,
}

impl Emitter<'_> {
    /// Writes all continuations. Gives the block that follows the prologue.
    pub fn batch(&mut self, parts: &[Versioned<Part>], targets: &Targets) -> Result<Block, Stop> {
        self.manager.count(passes::GROUP_BATCH);
        let graph = self.graph;
        let (local, scratch) = (self.local, self.scratch);
        let [count, local_stride, scratch_stride] =
            [abi::GROUP_COUNT, abi::GROUP_LOCAL_STRIDE, abi::GROUP_SCRATCH_STRIDE]
                .map(|at| self.load_at(self.group, at, Type::I64));
        let begin = |e: &mut Self, groups: &GroupLoop| {
            e.group_entry = groups.body;
            e.group_number = Some(groups.number);
            // Cached values belong to another block or to another group. They are computed again at the start of each
            // iteration.
            e.group_values.clear();
            let mut b = e.at(groups.body);
            let [l, s] = [(local, local_stride), (scratch, scratch_stride)].map(|(p, stride)| {
                let by = b.binary_flags(BinOp::Mul, groups.number, stride, Flags::NUW | Flags::NSW);
                b.ptr_add(p, by)
            });
            (e.local, e.scratch) = (l, s);
        };
        let (batched, separate): (Vec<usize>, Vec<usize>) = (0..parts.len()).partition(|&n| graph.batched[n]);
        // Created first, as the batched continuations jump to it.
        let rest = (!separate.is_empty()).then(|| self.group_loop(count));
        for &index in &batched {
            let groups = self.group_loop(count);
            // The number of the first group, and an exit number that is replaced in the first iteration.
            let none = self.at(targets.pre[index]).iconst(Type::I64, 0);
            let nowhere = self.at(targets.pre[index]).iconst(Type::I32, DONE);
            self.at(targets.pre[index]).jump(groups.head, &[none, nowhere]);
            begin(self, &groups);
            let (done, counted) = self.continuation(index, &parts[index], groups.body)?;
            let exits = &graph.continuations[index].exits;
            for done in done {
                let exit = match counted {
                    true => self.func.blocks[done].params[0],
                    false => self.at(done).iconst(Type::I32, exits.first().map_or(DONE, |&e| exit_number(e))),
                };
                self.at(done).jump(groups.latch, &[exit]);
            }
            // After the last group: to a synthetic barrier go all groups at a time; from a barrier on, they run one
            // after the other.
            let mut cases = Vec::new();
            for &e in exits {
                let Exit::Barrier(n) = e else { continue };
                // `carried` tells the loop over the rest which continuation each group begins with.
                let target = match &rest {
                    Some(rest) if !graph.batched[n] => {
                        let first_group = self.func.add_block();
                        let mut b = self.at(first_group);
                        let (first, start) = (b.iconst(Type::I64, 0), b.iconst(Type::I32, exit_number(e)));
                        b.jump(rest.head, &[first, start]);
                        first_group
                    }
                    _ => targets.pre[n],
                };
                cases.push((exit_number(e), Edge::new(target, [])));
            }
            let value = self.func.blocks[groups.done].params[0];
            self.at(groups.done).term(Term::Switch { value, cases, default: Edge::new(targets.end, []) });
        }
        let Some(rest) = rest else { return Ok(targets.pre[0]) };
        // From here on, values of the group are computed in the loop over the rest.
        begin(self, &rest);
        let end = self.func.add_block();
        let starts = separate.iter().map(|&n| (exit_number(Exit::Barrier(n)), Edge::new(targets.pre[n], []))).collect();
        self.at(rest.body).term(Term::Switch { value: rest.carried, cases: starts, default: Edge::new(end, []) });
        // Each group starts at the same continuation, so the number is carried on unchanged.
        self.at(end).jump(rest.latch, &[rest.carried]);
        self.at(rest.done).jump(targets.end, &[]);
        // In this loop, a work-group that returns goes to the end of its iteration, not to the end of the function.
        let targets = Targets { pre: targets.pre.clone(), end };
        for index in separate {
            let (done, counted) = self.continuation(index, &parts[index], targets.pre[index])?;
            done.into_iter().for_each(|done| self.dispatch(index, done, counted, &targets));
        }
        Ok(targets.pre[0])
    }

    /// Writes a loop over `count` groups, but for what is in its body.
    fn group_loop(&mut self, count: Value) -> GroupLoop {
        let [head, body, latch, done] = std::array::from_fn(|_| self.func.add_block());
        let number = self.func.add_block_param(head, Type::I64);
        let carried = self.func.add_block_param(head, Type::I32);
        let next = self.func.add_block_param(latch, Type::I32);
        self.func.add_block_param(done, Type::I32);
        let mut b = self.at(head);
        let more = b.icmp(IntCc::Ult, number, count);
        b.term(Term::Branch { cond: more, then: Edge::new(body, []), els: Edge::new(done, [carried]) });
        b.switch_to(latch);
        let one = b.iconst(Type::I64, 1);
        let after = b.binary_flags(BinOp::Add, number, one, Flags::NUW | Flags::NSW);
        b.jump(head, &[after, next]);
        GroupLoop { head, body, latch, done, number, carried }
    }
}
