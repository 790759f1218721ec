//! Functions of pipes: reservations and commits call the library (`pipe.cl`); a packet is copied here, as its type is
//! known, to or from the place that the library finds.

use super::func::Fn;
use crate::sema::operations::{PipeOp, Who};
use crate::sema::types::{Ty, TyKind};
use cloom_builtins::{Elem, mangle};
use cloom_ir::{Edge, Flags, Space, Term, Type, Value};

/// The end of a library function's name.
fn side(write: bool) -> &'static str {
    if write { "write" } else { "read" }
}

/// The middle of a library function's name.
fn group(who: Who) -> &'static str {
    match who {
        Who::WorkItem => "",
        Who::SubGroup => "sub_group_",
        Who::WorkGroup => "work_group_",
    }
}

impl Fn<'_, '_> {
    /// A function of pipes. `pipe` is the type of the first operand, `ty` that of the result.
    pub fn pipe(&mut self, op: PipeOp, pipe: Ty, v: &[Value], ty: Type) -> Value {
        let packet = match *self.lw.types.kind(pipe) {
            TyKind::Pipe(packet, _) => packet,
            _ => Ty::UCHAR,
        };
        let size = self.lw.types.size(packet);
        match op {
            PipeOp::IsValid => {
                let is = self.non_zero(v[0]);
                self.truth(is, ty)
            }
            PipeOp::NumPackets => self.pipe_value("__pipe_num_packets", v, ty),
            PipeOp::MaxPackets => self.pipe_value("__pipe_max_packets", v, ty),
            PipeOp::Reserve { write, who } => {
                let name = format!("__pipe_{}reserve_{}", group(who), side(write));
                let size = self.int(Type::I32, size as i64);
                let mut args = vec![v[0], v[1], size];
                if who == Who::WorkGroup {
                    let shared = self.lw.shared_memory();
                    args.push(self.b().global_addr(shared, Space::Local));
                }
                self.pipe_value(&name, &args, ty)
            }
            PipeOp::Commit { write, who } => {
                let name = format!("__pipe_{}commit_{}", group(who), side(write));
                self.pipe_function(&name, v, None);
                self.zero(ty)
            }
            PipeOp::Packet { write, reserved: true } => self.packet(write, v, packet, false),
            PipeOp::Packet { write, reserved: false } => {
                // A packet without a reservation is one in a reservation of its own.
                let (one, first) = (self.int(Type::I32, 1), self.zero(Type::I32));
                let bytes = self.int(Type::I32, size as i64);
                let name = format!("__pipe_reserve_{}", side(write));
                let id = self.pipe_value(&name, &[v[0], one, bytes], Type::I64);
                self.packet(write, &[v[0], id, first, v[1]], packet, true)
            }
        }
    }

    /// Moves a packet between a place in a reservation (pipe, id, index) and memory; gives 0, or −1 if there is no
    /// such place. `commits`: the reservation is only for it.
    fn packet(&mut self, write: bool, v: &[Value], packet: Ty, commits: bool) -> Value {
        let [pipe, id, index, p] = [v[0], v[1], v[2], v[3]];
        let (size, align) = self.lw.types.layout(packet).unwrap_or((1, 1));
        let bytes = self.int(Type::I32, size as i64);
        let name = format!("__pipe_packet_{}", side(write));
        // Zero is no place: the pipe begins with its header.
        let offset = self.pipe_value(&name, &[pipe, id, index, bytes], Type::I64);
        let is_there = self.non_zero(offset);
        let (failed, done) = (self.int(Type::I32, -1), self.zero(Type::I32));
        let (found, end) = (self.new_block(), self.new_block());
        let result = self.func.add_block_param(end, Type::I32);
        let (then, els) = (Edge::new(found, []), Edge::new(end, [failed]));
        self.set_term(Term::Branch { cond: is_there, then, els });
        self.block = found;
        let place = self.b().ptr_add(pipe, offset);
        let (to, from) = if write { (place, p) } else { (p, place) };
        if self.is_aggregate(packet) {
            self.b().mem_copy(to, from, size, align as u32);
        } else {
            let ir = self.ir(packet);
            let x = self.b().load(ir, from, align as u32, Flags::empty());
            self.b().store(to, x, align as u32, Flags::empty());
        }
        if commits {
            // After the packet has been moved, and only if there was a place: a failed reservation has nothing to
            // commit.
            self.pipe_function(&format!("__pipe_commit_{}", side(write)), &[pipe, id], None);
        }
        self.b().jump(end, &[done]);
        self.block = end;
        result
    }

    fn pipe_value(&mut self, name: &str, args: &[Value], ty: Type) -> Value {
        match self.pipe_function(name, args, Some(ty)) {
            Some(v) => v,
            None => self.zero(ty),
        }
    }

    /// Calls a function of the library, whose name has the types of its parameters.
    fn pipe_function(&mut self, name: &str, args: &[Value], ret: Option<Type>) -> Option<Value> {
        use cloom_builtins::Ty::{Ptr, Value};
        let types: Vec<Type> = args.iter().map(|&a| self.ty(a)).collect();
        // The library knows no types of packets: pointers are to words, numbers are unsigned.
        let params = types.iter().map(|ty| match ty.space() {
            Some(space) => Ptr(space, Elem::U64, 1),
            None if *ty == Type::I64 => Value(Elem::U64, 1),
            None => Value(Elem::U32, 1),
        });
        let name = mangle(name, params);
        let f = self.lw.library_func(name, types, ret);
        self.b().call(f, args, ret)
    }
}
