//! The sentences of findings: what happens, why it is wrong, and what mends it.

use super::images::{Image, ImageAccess};
use super::{Checker, access_kind};
use crate::finding::{AccessKind, Event, Finding, Object};
use crate::kind::Kind;
use cloom_interp::{Access, Arithmetic, Divergence, FaultKind, Point, Use};
use cloom_ir::Space;

/// A work-item in words: its global id in as many dimensions as the launch has.
fn work_item(s: &Checker<'_>, item: [u64; 3]) -> String {
    let ids = &item[..s.subject.range.work_dim.clamp(1, 3) as usize];
    match ids {
        [x] => format!("work-item {x}"),
        many => format!("work-item ({})", many.iter().map(u64::to_string).collect::<Vec<_>>().join(", ")),
    }
}

/// A number of bytes in words.
pub(super) fn bytes(n: u64) -> String {
    if n == 1 { "1 byte".into() } else { format!("{n} bytes") }
}

fn iteration(at: &Point) -> String {
    at.iteration.map_or_else(String::new, |n| format!(", in iteration {n}"))
}

/// An event at a point. `label` follows the name of the work-item.
pub(super) fn event(s: &Checker<'_>, kind: AccessKind, size: u64, at: &Point, label: &str) -> Event {
    let user = s.points.user(at);
    let range = &s.subject.range;
    let relative: [u64; 3] = std::array::from_fn(|d| at.item[d].wrapping_sub(range.offset[d]));
    let local = |d: usize| range.local[d].max(1);
    Event {
        kind,
        bytes: size,
        place: s.points.place(user.span),
        inlined: s.points.calls(at),
        global: at.item,
        local: std::array::from_fn(|d| relative[d] % local(d)),
        group: std::array::from_fn(|d| relative[d] / local(d)),
        atomic: None,
        iteration: user.iteration,
        label: format!("{} {label}{}", work_item(s, at.item), iteration(&user)),
    }
}

/// An object by its name, in backquotes.
fn name_of(object: &Object) -> String {
    match object.name.as_str() {
        "" => format!("{} memory", object.space),
        name => format!("`{name}`"),
    }
}

pub(super) fn element(object: &Object) -> String {
    match (object.index, object.elements) {
        (Some(i), Some(n)) if n > 1 => format!("element {i} of {}", name_of(object)),
        _ => format!("byte {} of {}", object.offset, name_of(object)),
    }
}

/// An access that is wrong.
pub fn fault(
    s: &Checker<'_>,
    kind: Kind,
    (fault, access): (&FaultKind, cloom_interp::AccessKind),
    (address, index): (u64, Option<(i64, u64)>),
    at: &Point,
) -> Finding {
    let access = access_kind(access);
    let verb = if access == AccessKind::Write { "writes" } else { "reads" };
    let size = match *fault {
        FaultKind::OutOfBounds { size, .. } | FaultKind::NoObject { size, .. } | FaultKind::Ended { size, .. } => size,
        _ => 0,
    };
    let found = match *fault {
        FaultKind::OutOfBounds { base, offset, .. } => s.objects.find(base).map(|(region, _)| (region, offset)),
        FaultKind::Ended { address, .. } => s.objects.find_ended(address),
        _ => s.objects.find(address),
    };
    let mut object = found.map(|(region, offset)| s.object(region, offset, size));
    if let (Some(object), Some((index, count))) = (&mut object, index) {
        (object.index, object.elements) = (Some(index), Some(count));
    }
    let what = if size == 0 { format!("{verb} it") } else { format!("{verb} {}", bytes(size)) };
    let main = event(s, access, size, at, &what);
    let mut finding = s.finding(kind, vec![main], object);
    let name = finding.object.as_ref().map_or_else(|| "memory".to_owned(), name_of);
    let place = finding.object.as_ref().map_or_else(|| "memory".to_owned(), element);
    let (message, why, fix) = match kind {
        Kind::OutOfBounds => {
            let object = finding.object.as_ref();
            let has = match object.map(|o| (o.elements, o.bytes)) {
                Some((Some(n), bytes)) if n > 1 => format!("which has {n} elements ({bytes} bytes)"),
                Some((_, n)) => format!("which has {}", bytes(n)),
                None => "which ends before".into(),
            };
            // A vector may begin inside and end behind.
            let begins_inside = object.is_some_and(|o| o.offset >= 0 && (o.offset as u64) < o.bytes);
            let place = if begins_inside { format!("{} from {place} on", bytes(size)) } else { place };
            let image = found.is_some_and(|(region, _)| region.is_image);
            let access = if image { "the pixels of an image" } else { "an object" };
            (
                format!("the kernel {verb} {place}, {has}"),
                format!("an access outside of {access} is undefined: it may read or change any other memory, or crash"),
                guard(s, finding.object.as_ref(), size),
            )
        }
        Kind::NullPointer => (
            format!("the kernel {verb} memory through a null pointer"),
            "a null pointer points to no object".into(),
            Some("test the pointer before it is used, or give it an object to point to".into()),
        ),
        Kind::InvalidPointer => (
            format!("the kernel {verb} memory at {address:#x}, where no object is"),
            "a pointer must come from an argument, a variable, or arithmetic inside of one object".into(),
            None,
        ),
        Kind::DanglingPointer if found.is_some_and(|(region, _)| region.space == Space::Global) => (
            format!("the kernel {verb} {name}, which has been freed"),
            "the host has freed the memory before the launch ran; it may be another object's by now".into(),
            Some("free the memory when the launch has ended: after clFinish, or by clEnqueueSVMFree".into()),
        ),
        Kind::DanglingPointer => (
            format!("the kernel {verb} {name}, whose lifetime has ended"),
            "a variable lives until its function returns, local memory until its group ends; later its memory is \
             another object's"
                .into(),
            Some("keep the value instead of the pointer, or declare the variable where it lives long enough".into()),
        ),
        Kind::WriteToConstant => (
            format!("the kernel writes to {name}, which kernels may only read"),
            "constant memory may be shared, cached or read-only for the hardware".into(),
            Some("copy what must change to private, local or global memory".into()),
        ),
        _ => {
            let align = if let FaultKind::Misaligned { align, .. } = *fault { align } else { 1 };
            (
                format!("the kernel {verb} {place} at an address that is not a multiple of {align}"),
                format!(
                    "a pointer to a type of {} must be a multiple of its alignment; some devices fault, others access \
                     other bytes",
                    bytes(u64::from(align))
                ),
                Some("use vloadN or vstoreN, which need the alignment of one element only".into()),
            )
        }
    };
    (finding.message, finding.why, finding.fix) = (message, Some(why), fix);
    finding
}

/// A read of a buffer that kernels may only write.
pub fn read_of_write_only(s: &Checker<'_>, access: &Access) -> Finding {
    let main = event(s, AccessKind::Read, access.size, &access.at, &format!("reads {}", bytes(access.size)));
    let object = s.objects.find(access.address).map(|(region, offset)| s.object(region, offset, access.size));
    let mut finding = s.finding(Kind::ReadOfWriteOnly, vec![main], object);
    let place = finding.object.as_ref().map_or_else(|| "memory".to_owned(), element);
    finding.message = format!("the kernel reads {place}, which is made with CL_MEM_WRITE_ONLY");
    finding.why = Some("what a kernel reads of such a buffer is undefined: the data need not be on the device".into());
    finding.fix = Some("make the buffer with CL_MEM_READ_WRITE".into());
    finding
}

/// The test that keeps an index inside of its object.
fn guard(s: &Checker<'_>, object: Option<&Object>, size: u64) -> Option<String> {
    let object = object.filter(|o| !o.name.is_empty())?;
    let n = object.elements?;
    let items: u64 = s.subject.range.global.iter().product();
    let before = object.offset < 0;
    if !before && (object.offset as u64) < object.bytes {
        let last = object.bytes.checked_sub(size)? * n / object.bytes;
        return Some(format!("begin at element {last} or before it, or make `{}` larger", object.name));
    }
    Some(match object.space {
        "global" if before => format!("keep the index at 0 or above, where `{}` begins", object.name),
        "global" if items > n && s.subject.range.work_dim == 1 => {
            format!(
                "the launch has {items} work-items: return where get_global_id(0) >= {n}, or make the buffer larger"
            )
        }
        _ => format!("keep the index from 0 to {}, or make `{}` larger", n.saturating_sub(1), object.name),
    })
}

/// A value that nothing has written, and what depends on it.
pub fn uninitialised(s: &Checker<'_>, what: Use, origin: u32, at: &Point) -> Finding {
    let read = (origin as usize).checked_sub(1).and_then(|n| s.unwritten.get(n));
    let depends = match what {
        Use::Branch => "a branch depends",
        Use::Address => "an address depends",
        Use::Store => "what is stored depends",
        Use::Atomic => "an atomic operation depends",
        Use::Printf => "what is printed depends",
    };
    let label = match what {
        Use::Branch => "decides by it",
        Use::Address => "computes an address from it",
        Use::Store => "stores it",
        Use::Atomic => "uses it",
        Use::Printf => "prints it",
    };
    let mut events = vec![event(s, AccessKind::Point, 0, at, label)];
    let object = read.and_then(|r| r.region.as_ref().map(|region| s.object(region, r.offset, 0)));
    if let Some(read) = read
        && s.points.user(&read.at).span != s.points.user(at).span
    {
        events.push(event(s, AccessKind::Read, 0, &read.at, "reads it, and nothing has written it"));
    }
    let mut finding = s.finding(Kind::Uninitialised, events, object);
    let name = match (&finding.object, read.and_then(|r| r.region.as_ref())) {
        (Some(object), Some(region)) if object.offset > 0 || region.bytes > 16 => {
            format!("byte {} of {}", object.offset, name_of(object))
        }
        (Some(object), _) => name_of(object),
        _ => "memory".into(),
    };
    finding.message = format!("{depends} on {name}, which nothing has written");
    let space = read.and_then(|r| r.region.as_ref()).map_or(Space::Private, |r| r.space);
    finding.why = Some(
        match space {
            Space::Local => "local memory has no initial value, and none of the group before",
            Space::Private => {
                "a private variable has no initial value; each device and each version of a compiler gives another"
            }
            _ => "a buffer that the host has not written has no defined contents",
        }
        .into(),
    );
    finding.fix = Some(
        match space {
            Space::Local => "let the work-items write it, and pass a barrier, before it is read",
            Space::Private => "give the variable a value where it is declared, or on each way to its use",
            _ => "write or fill the buffer before the launch",
        }
        .into(),
    );
    finding
}

/// An operation without a defined result.
pub fn arithmetic(s: &Checker<'_>, kind: Kind, what: Arithmetic, at: &Point) -> Finding {
    let label = match kind {
        Kind::DivisionByZero => "divides by zero",
        Kind::DivisionOverflow => "divides the least number by -1",
        Kind::ShiftRange => "shifts",
        Kind::SignedOverflow => "computes it",
        _ => "converts it",
    };
    let mut finding = s.finding(kind, vec![event(s, AccessKind::Point, 0, at, label)], None);
    let (message, why, fix) = match what {
        Arithmetic::DivisionByZero => (
            "an integer is divided by zero".to_owned(),
            "the result is unspecified: each device gives another value",
            "test the divisor, or make sure that it is never zero",
        ),
        Arithmetic::DivisionOverflow => (
            "the least integer is divided by -1".into(),
            "the result has no place in the type: each device gives another value",
            "test for this case, or divide in a wider type",
        ),
        Arithmetic::Shift { amount, width } => (
            format!("a number of {width} bits is shifted by {amount}"),
            "OpenCL C takes the amount modulo the width, which is seldom meant; C leaves it undefined",
            "keep the amount from 0 to the width less one",
        ),
        Arithmetic::Overflow => (
            "a signed integer overflows".into(),
            "signed overflow is undefined: compilers assume that it does not happen",
            "compute in an unsigned or in a wider type",
        ),
        Arithmetic::Conversion => (
            "a floating-point number is converted that the integer type cannot hold".into(),
            "the result differs between devices",
            "use convert_T_sat, or test the range before",
        ),
    };
    (finding.message, finding.why, finding.fix) = (message, Some(why.into()), Some(fix.into()));
    finding
}

/// A barrier that not all work-items reach.
pub fn divergence(s: &Checker<'_>, found: &Divergence) -> Finding {
    let waits = event(s, AccessKind::Point, 0, &found.waits, "waits here");
    let here = s.points.user(&found.waits);
    let mut events = vec![waits];
    let name = match s.points.name(&found.waits) {
        "barrier" | "work_group_barrier" | "" => "a barrier",
        other => other,
    };
    let message = match &found.other {
        None => format!("{} has ended, while others of its group wait at {name}", work_item(s, found.other_item)),
        Some(other) if s.points.user(other).span == here.span => {
            let label = "waits here, too, in another iteration or another call";
            events.push(event(s, AccessKind::Point, 0, other, label));
            format!("work-items of one group reach {name} in different iterations or calls")
        }
        Some(other) => {
            events.push(event(s, AccessKind::Point, 0, other, "waits here"));
            "not all work-items of a group reach the same barrier".into()
        }
    };
    let mut finding = s.finding(Kind::BarrierDivergence, events, None);
    finding.message = message;
    finding.why = Some(
        "if one work-item of a group reaches a barrier, all must, in the same iteration of each loop; a device may wait \
         for ever or go on with half the data"
            .into(),
    );
    finding.fix =
        Some("move the barrier out of the branch or loop, or make the condition the same in the whole group".into());
    finding
}

/// A copy that nobody waits for.
pub fn async_not_waited(s: &Checker<'_>, at: &Point) -> Finding {
    let begins = event(s, AccessKind::Point, 0, at, "begins the copy");
    let mut finding = s.finding(Kind::AsyncNotWaited, vec![begins], None);
    finding.message = "an asynchronous copy is not waited for before the kernel ends".into();
    finding.why =
        Some("a kernel must wait for each of its copies: the copy may run after the memory is used by others".into());
    finding.fix = Some("call wait_group_events with the event of the copy".into());
    finding
}

/// A kernel that does not end.
pub fn endless(s: &Checker<'_>, at: &Point, rounds: u64) -> Finding {
    let label = format!("has gone round {rounds} times");
    let mut finding = s.finding(Kind::Endless, vec![event(s, AccessKind::Point, 0, at, &label)], None);
    finding.message = format!("a loop has gone round {rounds} times and has not ended");
    finding.why = Some(
        "a loop must end by what its work-item does itself: OpenCL promises no progress of other work-items or groups \
         that it may wait for"
            .into(),
    );
    finding
}

/// An asynchronous copy that not all work-items begin.
pub fn copy_diverges(s: &Checker<'_>, at: &Point) -> Finding {
    let begins = event(s, AccessKind::Point, 0, at, "begins the copy, and others of its group do not");
    let mut finding = s.finding(Kind::BarrierDivergence, vec![begins], None);
    finding.message = "not all work-items of a group begin the same asynchronous copy".into();
    finding.why =
        Some("the group makes a copy together: all its work-items must call it, with the same arguments".into());
    finding.fix = Some("move the copy out of the branch or loop".into());
    finding
}

/// An index outside of its array, which stays inside of the object around the array.
pub fn array_index(s: &Checker<'_>, access: &Access, index: i64, count: u64) -> Finding {
    let what = format!("accesses {}", bytes(access.size));
    let main = event(s, access_kind(access.kind), access.size, &access.at, &what);
    let object = s.objects.find(access.address).map(|(region, offset)| s.object(region, offset, access.size));
    let mut finding = s.finding(Kind::ArrayIndex, vec![main], object);
    let name = finding.object.as_ref().map_or_else(|| "an object".to_owned(), name_of);
    finding.message = format!("an index of {index} in an array of {count} elements, inside of {name}");
    finding.why = Some(
        "the access stays inside of the object and reaches another row or member of it: C leaves this undefined, and it is \
         seldom meant"
            .into(),
    );
    finding.fix = Some(format!("keep the index from 0 to {}", count.saturating_sub(1)));
    finding
}

fn image_event(s: &Checker<'_>, access: &ImageAccess, at: &Point, label: &str) -> Event {
    let kind = if access.writes { AccessKind::Write } else { AccessKind::Read };
    event(s, kind, 0, at, label)
}

/// An access outside of an image.
pub fn image_coordinates(s: &Checker<'_>, image: &Image, access: &ImageAccess, at: &str, point: &Point) -> Finding {
    let verb = if access.writes { "writes" } else { "reads" };
    let main = image_event(s, access, point, &format!("{verb} at {at}"));
    let mut finding = s.finding(Kind::ImageCoordinates, vec![main], None);
    finding.message =
        format!("the kernel {verb} outside of the image `{}`, which is {}: at {at}", image.name, image.size());
    finding.why = Some(
        match access.is_sampled {
            true => "a sampler with CLK_ADDRESS_NONE promises that all coordinates are inside",
            false => "without a sampler that says what lies outside, the coordinates must be inside",
        }
        .into(),
    );
    finding.fix = Some(
        match access.writes {
            true => "return where the coordinates are outside",
            false => "use a sampler with CLK_ADDRESS_CLAMP_TO_EDGE, or keep the coordinates inside",
        }
        .into(),
    );
    finding
}

/// An access by a function for another channel type.
pub fn image_format(s: &Checker<'_>, image: &Image, access: &ImageAccess, point: &Point) -> Finding {
    let verb = if access.writes { "writes" } else { "reads" };
    let function = access.function();
    let main = image_event(s, access, point, &format!("{verb} it by {function}"));
    let mut finding = s.finding(Kind::ImageFormat, vec![main], None);
    let (channel, right) = image.channel();
    finding.message =
        format!("the kernel {verb} the image `{}`, whose channels are {channel}, by {function}", image.name);
    finding.why = Some("the result is undefined: each function is for one class of channel types".into());
    let base = if access.writes { "write_image" } else { "read_image" };
    finding.fix = Some(format!("use {base}{right}"));
    finding
}
