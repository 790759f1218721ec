//! Initialisers: the writes of an [`Init`].
//!
//! In comes the address of an object and its [`Init`]; out go the instructions that give it its first value: a copy of
//! the template, or zeros, and then the parts in order. Zeros go only where no part writes: a list that names
//! everything clears nothing, and one with holes clears these.
//!
//! ```text
//! struct { char c; int n[3]; } s = { 1, { 2, 3 } };
//!   offset   0  1 2 3  4 … 11  12 … 15
//!            1  zero   2, 3    zero
//! ```

use super::func::Fn;
use super::lvalue::align_at;
use crate::sema::tree::{ExprKind, Init, InitPart, Repeat};
use crate::sema::types::Ty;
use cloom_ir::{BinOp, Flags, IntCc, Type, Value};
use std::ops::Range;

/// More holes than these are cleared at once, with what is between them.
const MAX_HOLES: usize = 16;

impl Fn<'_, '_> {
    /// Gives an object its first value.
    pub fn init(&mut self, address: Value, align: u32, ty: Ty, init: &Init) {
        let aggregate = self.is_aggregate(ty);
        let size = self.lw.types.size(ty);
        if let Some(template) = init.template {
            let g = self.lw.global(template);
            let global = &self.lw.module.globals[g];
            let (space, from_align) = (global.space, global.align);
            // The template is data in constant memory; the written parts follow as stores.
            let from = self.b().global_addr(g, space);
            self.b().mem_copy(address, from, size, align.min(from_align));
        } else if init.zero && aggregate {
            for hole in self.holes(size, init) {
                let at = self.b().ptr_offset(address, hole.start);
                self.b().mem_set(at, 0, hole.end - hole.start, align_at(align, hole.start));
            }
        // `int x = {};` is zero; a list with a value writes it below.
        } else if init.zero && init.parts.is_empty() {
            let ir = self.ir(ty);
            let zero = self.zero(ir);
            self.b().store(address, zero, align, Flags::empty());
        }
        for part in &init.parts {
            let (offset, e) = match part {
                InitPart::Value(offset, e) => (offset, e),
                InitPart::Zero(offset, size) => {
                    let at = self.b().ptr_offset(address, *offset);
                    self.b().mem_set(at, 0, *size, align_at(align, *offset));
                    continue;
                }
                InitPart::Repeat(repeat) => {
                    self.repeat(address, align, repeat);
                    continue;
                }
            };
            if let ExprKind::Error = e.kind {
                continue;
            }
            self.at(e.span);
            let align = align_at(align, *offset);
            if self.is_aggregate(e.ty.ty) {
                let (from, from_align) = self.address(e);
                let to = self.b().ptr_offset(address, *offset);
                let size = self.lw.types.size(e.ty.ty);
                if size > 0 {
                    self.b().mem_copy(to, from, size, align.min(from_align));
                }
                continue;
            }
            let v = self.value(e);
            let to = self.b().ptr_offset(address, *offset);
            self.b().store(to, v, align, Flags::empty());
        }
    }

    /// The bytes of an object of `size` bytes that no part of its initialiser writes, in order. If they lie in many
    /// ranges, one range that has them all.
    fn holes(&self, size: u64, init: &Init) -> Vec<Range<u64>> {
        let written = |part: &InitPart| match part {
            // A vector of three has the size of four; the fourth has no value.
            InitPart::Value(offset, e) => *offset..offset.saturating_add(self.lw.types.size(e.ty.ty)),
            InitPart::Zero(offset, size) => *offset..offset.saturating_add(*size),
            InitPart::Repeat(r) if r.size == r.stride => {
                r.offset..r.offset.saturating_add(r.count.saturating_add(1).saturating_mul(r.size))
            }
            // What is between the copies is cleared with them.
            InitPart::Repeat(_) => 0..0,
        };
        let mut ranges: Vec<Range<u64>> = init.parts.iter().map(written).collect();
        ranges.sort_unstable_by_key(|r| r.start);
        let mut holes: Vec<Range<u64>> = Vec::new();
        let mut at = 0;
        for range in ranges.into_iter().chain(std::iter::once(size..size)) {
            if range.start > at {
                holes.push(at..range.start.min(size));
            }
            // Parts may overlap: a designator used twice.
            at = at.max(range.end);
        }
        // One operation for all of them: the parts are stored after it.
        if holes.len() > MAX_HOLES {
            let end = holes[holes.len() - 1].end;
            holes.truncate(1);
            holes[0].end = end;
        }
        holes
    }

    /// Copies bytes of an object to the elements after them. Adjacent copies double the initialised part, so that a
    /// thousand elements take ten copies; others are a loop.
    fn repeat(&mut self, address: Value, align: u32, r: &Repeat) {
        self.at(r.span);
        let from = self.b().ptr_offset(address, r.offset);
        let from_align = align_at(align, r.offset);
        if r.stride == r.size {
            let mut have = 1;
            while have <= r.count {
                let n = have.min(r.count + 1 - have);
                let to = self.b().ptr_offset(from, have * r.size);
                self.b().mem_copy(to, from, n * r.size, align_at(from_align, have * r.size));
                have += n;
            }
            return;
        }
        let (header, body, exit) = (self.new_block(), self.new_block(), self.new_block());
        let k = self.func.add_block_param(header, Type::I64);
        let (one, end) = (self.int(Type::I64, 1), self.int(Type::I64, r.count as i64));
        self.b().jump(header, &[one]);
        self.block = header;
        let more = self.b().icmp(IntCc::Ule, k, end);
        self.b().branch(more, body, exit);
        self.block = body;
        let shift = self.scaled(k, r.stride);
        let to = self.b().ptr_add(from, shift);
        self.b().mem_copy(to, from, r.size, align_at(from_align, r.stride));
        let next = self.bin(BinOp::Add, k, one);
        self.b().jump(header, &[next]);
        self.block = exit;
    }
}
