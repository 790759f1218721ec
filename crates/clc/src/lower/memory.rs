//! `memcpy`, `memmove` and `memset`: one operation where the size is constant, else a loop over bytes.

use super::func::Fn;
use crate::sema::tree::MemoryOp;
use cloom_ir::{BinOp, CastOp, Flags, IntCc, Space, Type, Value};

impl Fn<'_, '_> {
    /// Target, source (or the byte), and how many bytes; the target is the result.
    pub fn memory(&mut self, op: MemoryOp, v: &[Value]) -> Value {
        let [to, from, count] = [v[0], v[1], v[2]];
        // The operations of the IR have a constant size.
        let size = self.func.const_bits(count);
        match (op, size, self.func.const_bits(from)) {
            (_, Some(0), _) => {}
            (MemoryOp::Copy, Some(size), _) => self.b().mem_copy(to, from, size, 1),
            // `mem_copy` is for ranges that do not overlap.
            (MemoryOp::Move, Some(size), _) if self.are_apart(to, from) => self.b().mem_copy(to, from, size, 1),
            (MemoryOp::Set, Some(size), Some(byte)) => self.b().mem_set(to, byte as u8, size, 1),
            _ => self.byte_loop(op, to, from, count),
        }
        to
    }

    /// Whether two pointers lead to different address spaces for sure.
    fn are_apart(&self, a: Value, b: Value) -> bool {
        let spaces = [a, b].map(|p| self.ty(p).space());
        spaces[0] != spaces[1] && !spaces.contains(&Some(Space::Generic))
    }

    fn byte_loop(&mut self, op: MemoryOp, to: Value, from: Value, count: Value) {
        // Where the target is after the source, the last byte goes first: the two may overlap.
        let backwards = (op == MemoryOp::Move && !self.are_apart(to, from)).then(|| {
            let [a, b] = [to, from].map(|p| self.b().cast(CastOp::PtrToInt, p, Type::I64));
            self.b().icmp(IntCc::Ugt, a, b)
        });
        let (header, body, exit) = (self.new_block(), self.new_block(), self.new_block());
        let i = self.func.add_block_param(header, Type::I64);
        let (zero, one) = (self.zero(Type::I64), self.int(Type::I64, 1));
        self.b().jump(header, &[zero]);
        self.block = header;
        let more = self.b().icmp(IntCc::Ult, i, count);
        self.b().branch(more, body, exit);
        self.block = body;
        let mut at = i;
        if let Some(backwards) = backwards {
            let last = self.bin(BinOp::Sub, count, one);
            let mirrored = self.bin(BinOp::Sub, last, i);
            at = self.b().select(backwards, mirrored, i);
        }
        let byte = match op {
            MemoryOp::Set => from,
            MemoryOp::Copy | MemoryOp::Move => {
                let p = self.b().ptr_add(from, at);
                self.b().load(Type::I8, p, 1, Flags::empty())
            }
        };
        let p = self.b().ptr_add(to, at);
        self.b().store(p, byte, 1, Flags::empty());
        let next = self.bin(BinOp::Add, i, one);
        self.b().jump(header, &[next]);
        self.block = exit;
    }
}
