//! Objects that the host program has made: where, and which of them it never releases.

use super::State;
use super::calls;
use super::stack::Stack;
use cloom_check::finding::Origin;
use cloom_check::{Finding, Kind, Severity};
use cloom_runtime::{CheckedArg, CheckedLaunch, NewObject};
use std::collections::BTreeMap;

/// So many objects of one call that are never released are a loop that leaks. Fewer may be what a program needs until
/// it ends, when the system frees everything.
const LOOP: usize = 4;

struct Object {
    what: &'static str,
    bytes: u64,
    stack: Stack,
}

/// The objects that exist.
#[derive(Default)]
pub struct Objects(BTreeMap<usize, Object>);

impl Objects {
    /// An object begins.
    pub fn created(&mut self, object: NewObject, stack: Stack) {
        let NewObject { id, what, bytes } = object;
        self.0.insert(id, Object { what, bytes, stack });
    }

    /// The program has released it.
    pub fn released(&mut self, id: usize) {
        self.0.remove(&id);
    }

    /// The object that an argument is.
    fn of_argument(&self, arg: &CheckedArg) -> Option<&Object> {
        match arg {
            CheckedArg::Buffer(memory) | CheckedArg::Image(memory) => self.0.get(&memory.id()),
            CheckedArg::Address(address) => {
                let (begin, object) = self.0.range(..=*address as usize).next_back()?;
                (address - *begin as u64 <= object.bytes).then_some(object)
            }
            _ => None,
        }
    }

    /// Says of the memory of a kernel's finding where the program has made it.
    pub fn add_origin(&self, finding: &mut Finding, launch: &CheckedLaunch) {
        let Some(object) = finding.object.as_mut().filter(|o| o.origin.is_none() && o.space != "local") else { return };
        let mut args = launch.args.iter().zip(&launch.meta.params);
        let made = args.find(|(_, param)| param.name == object.name).and_then(|(arg, _)| self.of_argument(arg));
        object.origin = made.map(|made| Origin::Created(calls::lines(&made.stack)));
    }
}

impl State {
    /// Reports what is left: one finding for each call that made objects of a kind.
    pub fn find_leaks(&mut self) {
        let mut sites: BTreeMap<(&str, Stack), (usize, u64)> = BTreeMap::new();
        for object in std::mem::take(&mut self.objects.0).into_values() {
            let (count, bytes) = sites.entry((object.what, object.stack)).or_default();
            *count += 1;
            *bytes += object.bytes;
        }
        for ((what, stack), (count, bytes)) in sites {
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
            self.report("").add(vec![finding]);
        }
    }
}
