//! Pipes: the type, and the built-in functions that take them (OpenCL C 6.15.16).
//!
//! In come a name and typed arguments; out goes a node that says what is done to the pipe, its first operand. Packets
//! have a type, which is the pipe's; functions that move a packet take a pointer to that type.

use crate::sema::Sema;
use crate::sema::counts::arguments;
use crate::sema::operations::{PipeOp, Who};
use crate::sema::specs::Declared;
use crate::sema::tree::{Expr, ExprKind, Special};
use crate::sema::types::{QTy, Ty, TyKind};
use crate::source::{Diagnostic, Span};
use crate::syntax::ast::AccessQual;
use cloom_caps::feature;

/// All names, for suggestions.
const NAMES: [&str; 17] = [
    "read_pipe",
    "write_pipe",
    "reserve_read_pipe",
    "reserve_write_pipe",
    "commit_read_pipe",
    "commit_write_pipe",
    "is_valid_reserve_id",
    "work_group_reserve_read_pipe",
    "work_group_reserve_write_pipe",
    "work_group_commit_read_pipe",
    "work_group_commit_write_pipe",
    "sub_group_reserve_read_pipe",
    "sub_group_reserve_write_pipe",
    "sub_group_commit_read_pipe",
    "sub_group_commit_write_pipe",
    "get_pipe_num_packets",
    "get_pipe_max_packets",
];

/// The function of a name.
pub(in crate::sema) fn function(name: &str) -> Option<PipeOp> {
    match name {
        "read_pipe" => return Some(PipeOp::Packet { write: false, reserved: false }),
        "write_pipe" => return Some(PipeOp::Packet { write: true, reserved: false }),
        "is_valid_reserve_id" => return Some(PipeOp::IsValid),
        "get_pipe_num_packets" => return Some(PipeOp::NumPackets),
        "get_pipe_max_packets" => return Some(PipeOp::MaxPackets),
        _ => {}
    }
    let groups = [("work_group_", Who::WorkGroup), ("sub_group_", Who::SubGroup)];
    let (rest, who) = groups
        .into_iter()
        .find_map(|(prefix, who)| Some((name.strip_prefix(prefix)?, who)))
        .unwrap_or((name, Who::WorkItem));
    Some(match rest {
        "reserve_read_pipe" => PipeOp::Reserve { write: false, who },
        "reserve_write_pipe" => PipeOp::Reserve { write: true, who },
        "commit_read_pipe" => PipeOp::Commit { write: false, who },
        "commit_write_pipe" => PipeOp::Commit { write: true, who },
        _ => return None,
    })
}

/// Whether the library has the parts of the functions above in a function of this name.
pub(in crate::sema) fn is_library_function(name: &str) -> bool {
    name.starts_with("__pipe_")
}

/// Names for suggestions.
pub(in crate::sema) fn names() -> impl Iterator<Item = &'static str> {
    NAMES.into_iter()
}

impl Sema<'_> {
    /// Makes the type of packets that of a pipe of them, which is read unless a qualifier says otherwise.
    pub(in crate::sema) fn pipe_type(&mut self, packet: Declared, span: Span) -> Ty {
        let ty = packet.ty.ty;
        if ty == Ty::ERROR {
            return ty;
        }
        if !self.opts.pipes {
            self.no_pipes(span, "pipes");
            return Ty::ERROR;
        }
        if let Some(space) = packet.space {
            let message = format!("packets in the {} address space", crate::sema::types::space_name(space));
            let note = "a pipe holds values; they are in no address space of the program";
            self.push(Diagnostic::error("E0319", span, message).note(note));
            return Ty::ERROR;
        }
        // Values of these types have no bytes to copy, or none that mean anything in the kernel at the other end.
        let opaque = |kind: &TyKind| {
            matches!(
                kind,
                TyKind::Void
                    | TyKind::Atomic(_)
                    | TyKind::Event
                    | TyKind::Sampler
                    | TyKind::ReserveId
                    | TyKind::Image(..)
                    | TyKind::Pipe(..)
                    | TyKind::Function(..)
            )
        };
        if self.types.any_part(ty, &mut |kind| opaque(kind)) || matches!(self.types.kind(ty), TyKind::Array(..)) {
            let message = format!("a pipe cannot have packets of type `{}`", self.type_name(ty));
            let note = "packets are numbers, vectors, or structures of them";
            self.push(Diagnostic::error("E0326", span, message).note(note));
            return Ty::ERROR;
        }
        let Some((size, _)) = self.types.layout(ty) else {
            let message = format!("packets of incomplete type `{}`", self.type_name(ty));
            self.error("E0316", span, message);
            return Ty::ERROR;
        };
        let most = u64::from(cloom_caps::limits::PIPE_MAX_PACKET_SIZE);
        // The slots of a pipe have the size of a packet: one without bytes would have no place.
        if size == 0 || size > most {
            let message = format!("packets of {size} bytes: a pipe has packets of 1 to {most} bytes");
            self.error("E0325", span, message);
            return Ty::ERROR;
        }
        self.types.intern(TyKind::Pipe(ty, AccessQual::ReadOnly))
    }

    /// Reports a use of pipes, which the device or the version of the language does not have.
    pub(in crate::sema) fn no_pipes(&mut self, span: Span, what: &str) {
        if self.has_feature(feature::PIPES) {
            let d = Diagnostic::error("E0326", span, format!("{what} are not in this version of the language"));
            self.push(d.help("build with `-cl-std=CL3.0`, or use a buffer and an atomic counter"));
        } else {
            self.unavailable(span, &format!("{what} are"), "use a buffer and an atomic counter");
        }
    }

    /// Reports an operator on a pipe; false if it is none.
    pub(in crate::sema) fn is_operand_pipe(&mut self, e: &Expr) -> bool {
        let is_pipe = matches!(self.types.kind(e.ty.ty), TyKind::Pipe(..));
        if is_pipe {
            let d = Diagnostic::error("E0304", e.span, "a pipe can only be passed to a function");
            self.push(d.note("no operator of C works on pipes"));
        }
        is_pipe
    }

    /// Reports a type that is made of pipes, which are parameters only.
    pub(in crate::sema) fn is_part_pipe(&mut self, ty: Ty, what: &str, span: Span) -> bool {
        let is_pipe = matches!(self.types.kind(ty), TyKind::Pipe(..));
        if is_pipe {
            let d = Diagnostic::error("E0319", span, format!("{what} `{}`", self.type_name(ty)));
            self.push(d.note("a pipe can only be a parameter"));
        }
        is_pipe
    }

    /// A call of a function of pipes.
    pub(in crate::sema) fn pipe_call(
        &mut self,
        op: PipeOp,
        name: &str,
        args: Vec<Expr>,
        at: Span,
        span: Span,
    ) -> Option<Expr> {
        let counts: &[usize] = match op {
            PipeOp::Packet { .. } => &[2, 4],
            PipeOp::Reserve { .. } | PipeOp::Commit { .. } => &[2],
            PipeOp::IsValid | PipeOp::NumPackets | PipeOp::MaxPackets => &[1],
        };
        if !counts.contains(&args.len()) {
            self.wrong_count(name, &arguments(counts), args.len(), at);
            return None;
        }
        if let PipeOp::Reserve { who: Who::SubGroup, .. } | PipeOp::Commit { who: Who::SubGroup, .. } = op
            && !self.has_feature(feature::SUBGROUPS)
        {
            self.unavailable(at, &format!("`{name}`: sub-groups are"), "use the function of the work-group");
            return None;
        }
        let count = args.len();
        let mut args = args.into_iter();
        let first = args.next()?;
        if op == PipeOp::IsValid {
            // The only function without a pipe among its arguments.
            let id = self.reservation(first)?;
            return Some(Expr::value(ExprKind::Special(Special::Pipe(op), vec![id]), Ty::BOOL, span));
        }
        let TyKind::Pipe(packet, access) = *self.types.kind(first.ty.ty) else {
            return self.bad_argument(&first, "a pipe");
        };
        let (op, ty) = match op {
            // The number of arguments tells whether a packet goes to a place of a reservation.
            PipeOp::Packet { write, .. } => (PipeOp::Packet { write, reserved: count == 4 }, Ty::INT),
            PipeOp::Reserve { .. } => (op, Ty::RESERVE_ID),
            PipeOp::Commit { .. } => (op, Ty::VOID),
            PipeOp::IsValid | PipeOp::NumPackets | PipeOp::MaxPackets => (op, Ty::UINT),
        };
        let mut all = vec![first];
        match op {
            PipeOp::Packet { write, reserved } => {
                self.may_move(access, write, &all[0])?;
                if reserved {
                    all.push(self.reservation(args.next()?)?);
                    all.push(self.count(args.next()?)?);
                }
                let p = args.next()?;
                self.packet_pointer(packet, write, &p)?;
                all.push(p);
            }
            PipeOp::Reserve { write, .. } => {
                self.may_move(access, write, &all[0])?;
                all.push(self.count(args.next()?)?);
            }
            PipeOp::Commit { write, .. } => {
                self.may_move(access, write, &all[0])?;
                all.push(self.reservation(args.next()?)?);
            }
            PipeOp::IsValid | PipeOp::NumPackets | PipeOp::MaxPackets => {}
        }
        Some(Expr::value(ExprKind::Special(Special::Pipe(op), all), ty, span))
    }

    /// Checks the access qualifier.
    fn may_move(&mut self, access: AccessQual, write: bool, pipe: &Expr) -> Option<()> {
        let needed = if write { AccessQual::WriteOnly } else { AccessQual::ReadOnly };
        if access == needed {
            return Some(());
        }
        let verb = if write { "written" } else { "read" };
        let message = format!("a `{}` pipe cannot be {verb}", access.word());
        let mut d = Diagnostic::error("E0306", pipe.span, message);
        if write {
            d = d.note("a pipe without a qualifier is `read_only`").help("declare the parameter `write_only pipe`");
        }
        self.push(d);
        None
    }

    /// A number of packets, or an index.
    fn count(&mut self, e: Expr) -> Option<Expr> {
        if !self.types.is_integer(e.ty.ty) {
            return self.bad_argument(&e, "an integer");
        }
        Some(self.convert(e, Ty::UINT))
    }

    fn reservation(&mut self, e: Expr) -> Option<Expr> {
        if e.ty.ty != Ty::RESERVE_ID {
            return self.bad_argument(&e, "a `reserve_id_t`");
        }
        Some(e)
    }

    /// Checks the pointer to where a packet goes or comes from.
    fn packet_pointer(&mut self, packet: Ty, write: bool, p: &Expr) -> Option<()> {
        // The memory is written when a packet is read.
        let to = self.pointer_arg(p, !write)?;
        if to.ty != packet {
            let wanted = self.types.pointer(QTy { space: self.types.unnamed, ..QTy::plain(packet) });
            let wanted = self.type_name(wanted);
            self.bad_argument(p, &format!("a pointer to the pipe's packets, `{wanted}`,"));
            return None;
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_name_is_a_function() {
        let mut all: Vec<String> = NAMES.iter().map(|name| format!("{:?}", function(name).unwrap())).collect();
        all.sort();
        all.dedup();
        assert_eq!(all.len(), NAMES.len());
        for other in ["reserve_pipe", "work_group_read_pipe", "get_pipe_packets", "sub_group_is_valid_reserve_id"] {
            assert_eq!(function(other), None, "{other}");
        }
    }
}
