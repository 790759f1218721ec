//! Vector component splitting: loops over short vectors that are too wide for the registers run for some of the
//! components at a time.
//!
//! In comes the analysed function of one work-item; out goes, if it has such loops, one where each such loop is
//! replaced by several copies, one after the other, each for some of the components.
//!
//! ```c
//! for (int k = 0; k < n; k++)
//!     v = mad(v, 0.999f, 0.125f);   // float16: sixteen registers to a vector of work-items, and two for the constants
//! ```
//!
//! Every component becomes a vector register of its own. What does not fit in the registers is spilled in every
//! iteration, and the next iteration waits for it. But if the operations of the loop are component-wise, components
//! are independent: the loop runs for some of them, then for the next ones. It must have no effects, and the same trip
//! count for all work-items. (Loop fission, by components instead of statements.)

use crate::analysis::input::{FunctionContext, Rewrite, VectorInput};
use crate::analysis::pressure::words;
use crate::analysis::shape::Shape;
use cloom_ir::loops::Loop;
use cloom_ir::{Args, Block, Builder, CloneMap, Edge, Function, Op, Term, Type, Value};
use rustc_hash::FxHashMap;

/// Loops with more instructions are left as they are.
const MAX_INSTS: usize = 200;

/// Registers that most machines have, less two for operands. (Sixteen chains in sixteen registers ran at 54 percent of
/// the machine's peak, since three went through memory and were waited for; twice eight run at 94.)
const REGISTERS: u32 = 14;

/// How many operations deep an expression is computed again for some components of its value, instead of extracting
/// them.
const MAX_DEPTH: u32 = 4;

/// The function with such loops split, if it has any, and where in the source they are.
pub fn run(item: &VectorInput, _: &FunctionContext<'_>) -> Option<Rewrite> {
    let wide: Vec<SplitLoop> = item.loops.loops.iter().filter_map(|l| SplitLoop::find(item, l)).collect();
    if wide.is_empty() {
        return None;
    }
    let mut func = item.func.clone();
    let mut spans = Vec::new();
    for l in &wide {
        spans.push(func.blocks[l.header].term_span);
        l.write(&mut func);
    }
    Some(Rewrite::of(item, func, spans))
}

/// A loop of a header that decides and one body.
struct SplitLoop {
    header: Block,
    body: Block,
    /// Components of its vectors, and of a part of them.
    lanes: u16,
    part: u16,
}

impl SplitLoop {
    fn find(item: &VectorInput, l: &Loop) -> Option<SplitLoop> {
        let func = &item.func;
        let (header, body) = l.header_and_body(func)?;
        let Term::Branch { then, els, .. } = &func.blocks[header].term else { return None };
        let decides = (then.block == body) != (els.block == body) && !item.shapes.diverges(header);
        // The longest vector that the loop carries; all its vectors must be as long.
        let params = &func.blocks[header].params;
        let lanes = params.iter().map(|&p| func.ty(p).lanes).max().filter(|&n| n >= 4)?;
        let mut insts = func.blocks[header].insts.iter().chain(&func.blocks[body].insts);
        let few = func.blocks[header].insts.len() + func.blocks[body].insts.len() <= MAX_INSTS;
        // What varies between work-items is in vectors of so many components, and these do not mix.
        let fits = |v: Value| match func.ty(v).lanes {
            1 => item.shapes.of(v) != Shape::Varying,
            n => n == lanes,
        };
        // No load, store or shuffle: each component depends on itself alone, and nothing is seen from outside
        // meanwhile.
        let apart = insts.all(|&i| {
            let data = &func.insts[i];
            let lanewise =
                matches!(data.op, Op::Const(_) | Op::Unary(_) | Op::Binary(_) | Op::Fma | Op::Icmp(_) | Op::Fcmp(_))
                    || matches!(data.op, Op::Cast(_) | Op::Select | Op::Splat);
            lanewise && data.result.is_some_and(fits)
        });
        let simple = decides && few && apart && params.iter().all(|&p| fits(p));
        if !simple || !func.blocks[body].params.iter().all(|&p| fits(p)) {
            return None;
        }
        // The registers of loop-carried values decide.
        let carried: u32 = params.iter().map(|&p| func.ty(p)).filter(|ty| ty.is_vector()).map(words).sum();
        let mut part = lanes;
        // `carried` is of all components; a part of them takes that share.
        while part > 1 && carried * u32::from(part) > REGISTERS * u32::from(lanes) {
            part /= 2;
        }
        (part < lanes && lanes.is_multiple_of(part)).then_some(SplitLoop { header, body, lanes, part })
    }

    /// The type that a value of the loop has in the copy for a part.
    fn type_of(&self, ty: Type) -> Type {
        if ty.is_vector() { Type::vector(ty.scalar, self.part) } else { ty }
    }

    /// Replaces this loop by the loops of the parts.
    fn write(&self, func: &mut Function) {
        let (header, span) = (self.header, func.blocks[self.header].term_span);
        let Term::Branch { cond, then, els } = func.blocks[header].term.clone() else { return };
        let stays = then.block == self.body;
        let (again, out) = if stays { (then, els) } else { (els, then) };
        let params = func.blocks[header].params.clone();
        let before = func.add_block();
        let others = func.layout.iter().copied().filter(|&b| b != self.body && b != before);
        let entries: Vec<Block> =
            others.filter(|&b| func.blocks[b].term.edges().iter().any(|e| e.block == header)).collect();
        let types: Vec<Type> = params.iter().map(|&p| func.ty(p)).collect();
        let mut wholes: Vec<Value> = Vec::new();
        // With one edge into the loop, its arguments dominate `before`, and can be computed again part by part. Else
        // they are parameters.
        if let [only] = entries[..]
            && let [edge] = &mut func.blocks[only]
                .term
                .edges_mut()
                .into_iter()
                .filter(|e| e.block == header)
                .collect::<Vec<_>>()[..]
        {
            wholes.extend(std::mem::take(&mut edge.args));
            edge.block = before;
        } else {
            wholes.extend(types.into_iter().map(|ty| func.add_block_param(before, ty)));
            for b in entries {
                func.blocks[b].term.redirect(header, before);
            }
        }
        // One loop for each part, one after the other. Each begins with its components of what the whole loop began
        // with.
        let mut at = before;
        let mut parts: Vec<CloneMap> = Vec::new();
        for first in (0..self.lanes).step_by(usize::from(self.part)) {
            let mut map = CloneMap::default();
            let begin: Vec<Value> = wholes.iter().map(|&v| self.slice(func, v, first, at, MAX_DEPTH)).collect();
            // Vectors from before the loop are cut to the part once, in front of its loop.
            self.outside(func, first, at, &mut map);
            let [head, body, after] = std::array::from_fn(|_| func.add_block());
            func.set_term(at, Term::Jump(Edge::new(head, begin)), span);
            for (block, new) in [(header, head), (self.body, body)] {
                for p in func.blocks[block].params.clone() {
                    let ty = self.type_of(func.ty(p));
                    map.values.insert(p, func.add_block_param(new, ty));
                }
                self.copy(func, block, new, &mut map);
            }
            // All parts have one trip count: their condition is uniform, and computed from scalars, which each copy
            // computes anew.
            let on = Edge::new(body, again.args.iter().map(|&v| map.value(v)));
            let off = Edge::new(after, []);
            let (then, els) = if stays { (on, off) } else { (off, on) };
            func.set_term(head, Term::Branch { cond: map.value(cond), then, els }, span);
            // The back edge of the copy leads to the copy's header.
            map.blocks.insert(header, head);
            func.set_term(body, map.term(&func.blocks[self.body].term), span);
            parts.push(map);
            at = after;
        }
        // Only what the header defines is used after the loop.
        let live = params.into_iter().chain(func.blocks[header].insts.iter().filter_map(|&i| func.insts[i].result));
        let live: Vec<Value> = live.collect();
        let joined: FxHashMap<Value, Value> = live.into_iter().map(|v| (v, self.join(func, v, &parts, at))).collect();
        func.set_term(at, Term::Jump(out), span);
        // The copies have replaced it.
        func.layout.retain(|&b| b != header && b != self.body);
        func.map_uses(|v| joined.get(&v).copied().unwrap_or(v));
    }

    /// Some components of a vector, computed again where that is simple: so parts that are not needed yet take no
    /// registers.
    fn slice(&self, func: &mut Function, v: Value, first: u16, at: Block, depth: u32) -> Value {
        if !func.ty(v).is_vector() {
            return v;
        }
        let data = func.def_inst(v).filter(|_| depth > 0).map(|i| func.insts[i].clone());
        if let Some(data) = data {
            let is_simple = match data.op {
                Op::Build => {
                    let parts = data.args[usize::from(first)..usize::from(first + self.part)].to_vec();
                    return if self.part == 1 { parts[0] } else { Builder::new(func, at).build(&parts) };
                }
                Op::Splat if self.part == 1 => return data.args[0],
                Op::Const(_) | Op::Unary(_) | Op::Binary(_) | Op::Fma | Op::Splat => true,
                _ => false,
            };
            if is_simple && data.args.iter().all(|&a| matches!(func.ty(a).lanes, n if n == 1 || n == self.lanes)) {
                let args: Args = data.args.iter().map(|&a| self.slice(func, a, first, at, depth - 1)).collect();
                let ty = self.type_of(func.ty(v));
                let mut b = Builder { span: data.span, ..Builder::new(func, at) };
                if let Some(new) = b.push(data.op, args, Some(ty), data.flags) {
                    return new;
                }
            }
        }
        let mask: Vec<u16> = (first..first + self.part).collect();
        match self.part {
            1 => Builder::new(func, at).extract_lane(v, first),
            _ => Builder::new(func, at).shuffle(v, v, &mask),
        }
    }

    /// Maps the vectors that the loop uses from outside to their parts.
    fn outside(&self, func: &mut Function, first: u16, at: Block, map: &mut CloneMap) {
        let blocks = [self.header, self.body];
        let mut used: Vec<Value> = Vec::new();
        for &b in &blocks {
            used.extend(func.blocks[b].insts.iter().flat_map(|&i| func.insts[i].args.iter().copied()));
            func.blocks[b].term.for_each_use(|v| used.push(v));
        }
        used.retain(|&v| func.ty(v).is_vector() && !func.is_defined_in(v, &blocks));
        for v in used {
            map.values.entry(v).or_insert_with(|| self.slice(func, v, first, at, MAX_DEPTH));
        }
    }

    /// Copies the instructions of a block for a part, with its types.
    fn copy(&self, func: &mut Function, from: Block, to: Block, map: &mut CloneMap) {
        for i in func.blocks[from].insts.clone() {
            let data = &func.insts[i];
            // `find` admits no instruction without a result.
            let Some(result) = data.result else { continue };
            if data.op == Op::Splat && self.part == 1 {
                map.values.insert(result, map.value(data.args[0]));
                continue;
            }
            let ty = self.type_of(func.ty(result));
            map.clone_inst(func, i, to);
            func.values[map.value(result)].ty = ty;
        }
    }

    /// A whole vector from its parts.
    fn join(&self, func: &mut Function, v: Value, parts: &[CloneMap], at: Block) -> Value {
        let pieces: Vec<Value> = parts.iter().map(|map| map.value(v)).collect();
        if !func.ty(v).is_vector() {
            return pieces[0];
        }
        if self.part == 1 {
            return Builder::new(func, at).build(&pieces);
        }
        let mut pieces = pieces;
        while let [_, _, ..] = pieces[..] {
            let pairs = pieces.chunks(2).map(|pair| match *pair {
                [a, b] => {
                    let both = func.ty(a).lanes + func.ty(b).lanes;
                    Builder::new(func, at).shuffle(a, b, &(0..both).collect::<Vec<_>>())
                }
                _ => pair[0],
            });
            pieces = pairs.collect();
        }
        pieces[0]
    }
}
