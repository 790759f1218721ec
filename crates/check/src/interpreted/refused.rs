//! Findings from compiled code, which tells of the accesses that it refuses ([`cloom_ir::abi::report`]): the same
//! findings, in the same words, as if the interpreter had met the access.
//!
//! A record has no addresses: each object gets one here, as it would have in the interpreter.

use super::Checker;
use super::objects::Region;
use cloom_interp::{AccessKind, FaultKind, Observer, Point};
use cloom_ir::abi::report::Record;
use cloom_ir::{AccessedObject, CheckedAccess, ParamKind, Space, Span};
use std::sync::Arc;

/// Bytes from one object to the next, in the addresses that they get.
const DISTANCE: u64 = 1 << 32;

impl Checker<'_> {
    /// An access that compiled code has refused.
    pub fn refused(&mut self, access: &CheckedAccess, record: &Record) {
        let Some(fault) = self.fault_of(access, record) else { return };
        let mut at = Point { item: record.item, span: Span::NONE, calls: 0, iteration: None };
        for call in access.calls.iter().rev() {
            let point = Point { span: call.span, ..at };
            if let Some(callee) = self.subject.module.find(&call.function) {
                at.calls = self.points.call(callee, &point);
            }
        }
        at.span = access.span;
        let kind = if access.is_store { AccessKind::Store } else { AccessKind::Load };
        self.fault(&fault, kind, &at);
    }

    /// What is wrong with it. The reasons are tried in the order in which the interpreter has them.
    fn fault_of(&mut self, access: &CheckedAccess, record: &Record) -> Option<FaultKind> {
        let Record { offset, size: object, .. } = *record;
        let size = access.bytes;
        let region = self.region(access, object);
        if matches!(access.object, AccessedObject::Param(_)) && object == 0 && region.space != Space::Local {
            return Some(match offset {
                0 => FaultKind::NoObject { address: 0, size },
                _ => FaultKind::Null { offset, size },
            });
        }
        self.refused += 1;
        let base = self.refused * DISTANCE;
        let is_read_only = access.is_store && region.space == Space::Constant;
        self.objects.begin(base, region);
        let is_inside =
            u64::try_from(offset).ok().and_then(|offset| offset.checked_add(size)).is_some_and(|e| e <= object);
        let address = base.wrapping_add_signed(offset);
        if !is_inside {
            Some(FaultKind::OutOfBounds { offset, size, object, base })
        } else if is_read_only {
            Some(FaultKind::ReadOnly(address))
        } else if !(offset as u64).is_multiple_of(1 << access.align) {
            Some(FaultKind::Misaligned { address, align: 1 << access.align })
        } else {
            // The other access of a copy, or an object that is not aligned itself.
            None
        }
    }

    /// The object that it should access.
    fn region(&self, access: &CheckedAccess, bytes: u64) -> Region {
        match &access.object {
            AccessedObject::Param(n) => {
                let Some(param) = self.subject.meta().and_then(|meta| meta.params.get(*n as usize)) else {
                    return Region::shared("", bytes);
                };
                let space = match param.kind {
                    ParamKind::Local => Space::Local,
                    ParamKind::Constant => Space::Constant,
                    ParamKind::Struct => Space::Private,
                    _ => Space::Global,
                };
                Region { space, ..Region::buffer(param, bytes) }
            }
            AccessedObject::Variable { name, space } => {
                let name = Some(Arc::new(name.clone()));
                Region { space: *space, ..Region::variable(name.as_ref(), (bytes, 0), Span::NONE) }
            }
            AccessedObject::Several | AccessedObject::Foreign => Region::shared("", bytes),
        }
    }
}
