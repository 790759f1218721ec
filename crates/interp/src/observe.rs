//! Observer hooks into a run, for checkers and tests.

use crate::fault::FaultKind;
use cloom_ir::{BarrierMemory, Block, FuncRef, Order, Scope, Span, StrRef};
use std::sync::Arc;

/// How memory is touched. An atomic operation that reads and writes is two accesses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AccessKind {
    /// A load, or the source of a copy.
    Load,
    /// A store, or the destination of a copy.
    Store,
}

/// Where a work-item is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Point {
    /// The global id of the work-item.
    pub item: [u64; 3],
    /// Where in the source.
    pub span: Span,
    /// The calls that it is in: what [`Observer::call`] gave for the last of them, 0 in the kernel itself.
    pub calls: u32,
    /// The iteration of the innermost loop, from 0 on. Known only to observers that follow values.
    pub iteration: Option<u64>,
}

/// One access to memory, already checked to be in bounds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Access {
    /// How.
    pub kind: AccessKind,
    /// Order and scope, if it is atomic.
    pub atomic: Option<(Order, Scope)>,
    /// Where.
    pub address: u64,
    /// Bytes.
    pub size: u64,
    /// By whom, and where.
    pub at: Point,
}

/// What depends on the value of unwritten memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Use {
    /// Which way control goes.
    Branch,
    /// Which address is accessed.
    Address,
    /// What is stored where other groups and the host see it.
    Store,
    /// What an atomic operation writes or compares with.
    Atomic,
    /// What is printed.
    Printf,
}

/// An operation on integers or a conversion whose result OpenCL C leaves undefined.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Arithmetic {
    /// Division or remainder by zero.
    DivisionByZero,
    /// Division or remainder of the least number by -1.
    DivisionOverflow,
    /// A shift by the width or more; OpenCL C takes the amount modulo the width.
    Shift {
        /// The amount, as a signed number of its type.
        amount: i64,
        /// The width.
        width: u32,
    },
    /// A signed operation that is promised not to overflow.
    Overflow,
    /// A floating-point number outside of the range of the integer.
    Conversion,
}

/// Two work-items of a group that do not meet at a barrier.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Divergence {
    /// One waits here.
    pub waits: Point,
    /// Another one waits there, or has ended.
    pub other: Option<Point>,
    /// The global id of the other one.
    pub other_item: [u64; 3],
}

/// One call of printf.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Printed {
    /// The format.
    pub format: StrRef,
    /// The global linear id of the work-item.
    pub item: u64,
    /// The arguments, as [`cloom_ir::abi::printf_layout`] places them.
    pub args: Vec<u8>,
}

/// Receives events. The default methods do nothing.
pub trait Observer {
    /// Whether values are followed: which bits of them come from unwritten memory, in which calls and in which
    /// iteration of its loops a work-item is. It takes time, which other observers are spared; the methods that
    /// need it say so.
    const FOLLOWS_VALUES: bool = false;
    /// Memory is touched.
    fn access(&mut self, _access: &Access) {}
    /// These bytes are stored.
    fn stored(&mut self, access: &Access, _bytes: &[u8]) {
        self.access(access);
    }
    /// A read of unwritten bytes.
    fn uninitialised(&mut self, _access: &Access) {}
    /// A read of unwritten bytes, where values are followed. Gives a number, not 0, by which [`Observer::undefined`]
    /// tells where a value comes from.
    fn origin(&mut self, _access: &Access) -> u32 {
        1
    }
    /// Whether a read of unwritten bytes, by its number, was one at this address. Needs followed values.
    fn is_origin(&self, _origin: u32, _address: u64) -> bool {
        false
    }
    /// Something depends on a value that comes from unwritten memory. Needs followed values.
    fn undefined(&mut self, _what: Use, _origin: u32, _at: &Point) {}
    /// An operation has no defined result. Needs followed values.
    fn arithmetic(&mut self, _what: Arithmetic, _at: &Point) {}
    /// A fault of an access. Whether the run goes on: a load then gives zeros, a store is dropped. Needs followed
    /// values.
    fn fault(&mut self, _kind: &FaultKind, _access: AccessKind, _at: &Point) -> bool {
        false
    }
    /// Work-items of a group do not meet. Whether the run goes on, as if they met. Needs followed values.
    fn diverged(&mut self, _found: &Divergence) -> bool {
        false
    }
    /// The address of an element is computed, by its index in an array that has so many. Needs followed values.
    fn index(&mut self, _index: i64, _count: u64, _address: u64, _at: &Point) {}
    /// A work-item begins an asynchronous copy, with a number for its event. Needs followed values.
    fn copy_begins(&mut self, _event: u64, _at: &Point) {}
    /// An argument of the copy that a work-item has begun last. Needs followed values.
    fn copy_argument(&mut self, _value: u64, _at: &Point) {}
    /// A work-item waits for these asynchronous copies. Needs followed values.
    fn copies_end(&mut self, _events: &[u64], _at: &Point) {}
    /// A work-item calls a function with the lanes of these arguments, in these calls already (0: none). Gives the
    /// number of the calls that it is in then. Needs followed values.
    fn call(&mut self, _callee: FuncRef, _args: &[u64], _from: &Point) -> u32 {
        0
    }
    /// A private variable begins at this address, with this size and alignment. Needs followed values.
    fn variable(&mut self, _address: u64, _size_align: (u64, u32), _name: Option<&Arc<String>>, _at: &Point) {}
    /// A group begins, with local memory at these addresses and of these sizes: that of the module's variables, and
    /// then of the arguments.
    fn group(&mut self, _group: [u64; 3], _local: &[(u64, u64)]) {}
    /// All work-items of a group have reached a barrier, which orders this memory.
    fn barrier(&mut self, _group: [u64; 3], _memory: BarrierMemory, _span: Span) {}
    /// A work-item executes a fence.
    fn fence(&mut self, _item: [u64; 3], _order: Order, _scope: Scope, _span: Span) {}
    /// Private or local memory at this address ends. Another object may get the address.
    fn freed(&mut self, _address: u64) {}
    /// A work-item goes back to an earlier block, as loops do, so many calls deep.
    fn back_edge(&mut self, _func: FuncRef, _to: Block, _calls: usize) {}
    /// A work-item ends.
    fn ended(&mut self) {}
    /// A work-item prints.
    fn printf(&mut self, _printed: Printed) {}
}

impl Observer for () {}

/// Keeps printed records, and counts reads of unwritten bytes.
#[derive(Clone, Default, Debug)]
pub struct Log {
    /// What was printed, in the order of the run.
    pub printed: Vec<Printed>,
    /// Reads of unwritten bytes.
    pub uninitialised: u64,
    /// The first of them.
    pub first_uninitialised: Option<Access>,
}

impl Observer for Log {
    fn uninitialised(&mut self, access: &Access) {
        self.uninitialised += 1;
        self.first_uninitialised.get_or_insert(*access);
    }

    fn printf(&mut self, printed: Printed) {
        self.printed.push(printed);
    }
}
