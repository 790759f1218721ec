//! The sentences of findings about objects and memory that the host program uses in a wrong way.

use super::command::Caller;
use super::conflicts::Conflict;
use super::maps::Mapped;
use super::pending::Misuse;
use super::state::State;
use cloom_check::finding::{self, AccessKind, Object};
use cloom_check::{Finding, Kind, Severity};
use cloom_runtime::UsedMemory;
use std::ops::Range;

/// So many objects of one call that are never released are a loop that leaks. Fewer may be what a program needs until
/// it ends, when the system frees everything.
const LOOP: usize = 4;

/// A range of bytes in words.
fn bytes(range: &Range<u64>) -> String {
    match range.end - range.start {
        1 => format!("byte {}", range.start),
        _ => format!("bytes {} to {}", range.start, range.end - 1),
    }
}

fn verb(writes: bool) -> &'static str {
    if writes { "writes" } else { "reads" }
}

impl State {
    /// Keeps a finding, if its kind is looked for.
    pub fn found(&mut self, finding: Finding) {
        if self.kinds.has(finding.kind) {
            self.report("").add(vec![finding]);
        }
    }

    /// A finding about one of two calls.
    fn of_two(&mut self, kind: Kind, (caller, label): (&Caller, &str), other: (&Caller, &str)) -> Finding {
        let mut second = self.finding(kind, other.0.call, Some(&other.0.stack), String::new());
        let mut first = self.finding(kind, caller.call, Some(&caller.stack), String::new());
        let name =
            |event: &mut finding::Event, caller: &Caller, label| event.label = format!("{} {label}", caller.name());
        first.events.iter_mut().for_each(|event| name(event, caller, label));
        second.events.iter_mut().for_each(|event| name(event, other.0, other.1));
        // One call may meet several others.
        first.id = finding::fingerprint(kind, &first.id, &second.id, "", 0);
        first.events.append(&mut second.events);
        first
    }

    /// Memory as a finding shows it.
    fn object(&self, memory: UsedMemory, range: &Range<u64>) -> Option<Object> {
        let UsedMemory::Object(storage) = memory else { return None };
        let (bytes, origin) = self.objects.of_storage(storage)?;
        let offset = range.start as i64;
        Some(Object { name: String::new(), space: "global", bytes, offset, index: None, elements: None, origin })
    }

    /// Two commands that nothing orders.
    pub fn conflict(&mut self, conflict: &Conflict) {
        let Conflict { first: (first, a), second: (second, b), memory, range } = conflict;
        let (a, b, memory) = (*a, *b, *memory);
        // Shared memory has addresses of the host.
        let is_host = memory == UsedMemory::Host && !self.objects.is_shared(range.start);
        let kind = if is_host { Kind::ApiPending } else { Kind::RaceLaunches };
        let access = |writes| if writes { AccessKind::Write } else { AccessKind::Read };
        let mut finding = self.of_two(kind, (second, verb(b)), (first, verb(a)));
        for (event, writes) in finding.events.iter_mut().zip([b, a]) {
            (event.kind, event.bytes) = (access(writes), range.end - range.start);
        }
        let what = match (is_host, memory) {
            (true, _) => "memory of the host".to_owned(),
            (_, UsedMemory::Host) => "shared virtual memory".to_owned(),
            _ => format!("{} of a memory object", bytes(range)),
        };
        let both = if a && b { "both write" } else { "one writes" };
        finding.message = format!("{} and {} use {what}, {both}, and nothing orders them", first.name(), second.name());
        finding.why = Some(
            "only an in-order queue, a wait list, a barrier of the queue, or a wait of the host orders two commands"
                .into(),
        );
        finding.fix = Some("give the event of the first command to the second one in its wait list".into());
        finding.object = self.object(memory, range);
        self.found(finding);
    }

    /// Memory of the host that was used too soon.
    pub fn too_soon(&mut self, misuse: &Misuse) {
        let Misuse { ref caller, is_source, is_freed } = *misuse;
        let done = if is_freed { "frees" } else { "changes" };
        let (what, rule) = match is_source {
            true => ("the source", "a command that does not block reads its source until it has ended"),
            false => ("the destination", "a command that does not block owns its destination until it has ended"),
        };
        let message = format!("the host {done} {what} of {} before it waits for the command", caller.call);
        let mut finding = self.finding(Kind::ApiPending, caller.call, Some(&caller.stack), message);
        finding.why = Some(rule.into());
        finding.fix = Some("wait for the command's event, call clFinish, or let the call block".into());
        self.found(finding);
    }

    /// A command that uses what is mapped.
    pub fn uses_mapped(&mut self, caller: &Caller, writes: bool, mapped: &Mapped) {
        let purpose = if mapped.region.writes { "writing" } else { "reading" };
        let label = format!("maps it for {purpose}");
        let mut finding =
            self.of_two(Kind::ApiMap, (caller, &format!("{} it", verb(writes))), (&mapped.caller, &label));
        let range = &mapped.region.range;
        finding.message = format!(
            "{} {} a memory object of which {} are mapped for {purpose}",
            caller.name(),
            verb(writes),
            bytes(range)
        );
        finding.why = Some(
            match mapped.region.writes {
                true => "what is mapped for writing has no defined content until it is unmapped",
                false => "commands may read what is mapped for reading, but not write it",
            }
            .into(),
        );
        finding.fix = Some("unmap the region before the command is enqueued".into());
        finding.object = self.object(UsedMemory::Object(mapped.region.storage), range);
        self.found(finding);
    }

    /// The host has written to what is mapped for reading.
    pub fn wrote_mapped(&mut self, mapped: &Mapped) {
        let message = "the host writes to a region that is mapped for reading only".to_owned();
        let mut finding = self.finding(Kind::ApiMap, mapped.caller.call, Some(&mapped.caller.stack), message);
        finding.why = Some("a device with memory of its own never sees what is written to such a region".into());
        finding.fix = Some("map the region with CL_MAP_WRITE, too".into());
        finding.object = self.object(UsedMemory::Object(mapped.region.storage), &mapped.region.range);
        self.found(finding);
    }

    /// A region that is never unmapped.
    pub fn never_unmapped(&mut self, mapped: &Mapped, until: &str) {
        let message = format!("a mapped region is not unmapped before {until}");
        let mut finding = self.finding(Kind::ApiMap, mapped.caller.call, Some(&mapped.caller.stack), message);
        let writes = mapped.region.writes;
        finding.severity = if writes { Severity::Warning } else { Severity::Note };
        finding.why = Some(
            match writes {
                true => "what the host has written gets to the device only when the region is unmapped",
                false => "the host's copy of the region is kept as long as it is mapped",
            }
            .into(),
        );
        finding.fix = Some("call clEnqueueUnmapMemObject when the host has done with the region".into());
        finding.object = self.object(UsedMemory::Object(mapped.region.storage), &mapped.region.range);
        self.found(finding);
    }

    /// A command that reads what nothing has written.
    pub fn reads_unwritten(&mut self, caller: &Caller, storage: usize, range: &Range<u64>) {
        let message = format!("{} reads {} of a buffer, which nothing has written", caller.name(), bytes(range));
        let mut finding = self.finding(Kind::ApiUnwritten, caller.call, Some(&caller.stack), message);
        finding.why = Some("a buffer that is made without data has no defined contents".into());
        finding.fix = Some("write or fill the buffer before, or use only the part that is written".into());
        finding.object = self.object(UsedMemory::Object(storage), range);
        self.found(finding);
    }

    /// Reports what is left: one finding for each call that made objects of a kind.
    pub fn find_leaks(&mut self) {
        for ((what, stack), (count, bytes)) in self.objects.left() {
            let size = if bytes > 0 { format!(", {bytes} bytes in all") } else { String::new() };
            let message = match count {
                1 => format!("{what} is never released{}", size.trim_end_matches(" in all")),
                n => format!("{n} objects are never released, each of them {what}{size}"),
            };
            let mut finding = self.finding(Kind::ApiLeak, "", Some(&stack), message);
            finding.count = count as u64;
            finding.severity = if count < LOOP { Severity::Note } else { Severity::Warning };
            finding.why = Some(
                match finding.severity {
                    Severity::Note => "its memory is given back only when the process ends",
                    _ => "a call that makes objects again and again, and never releases them, uses up the memory",
                }
                .into(),
            );
            finding.fix = Some("call the clRelease… or free function of the object when it is no longer needed".into());
            self.found(finding);
        }
    }
}
