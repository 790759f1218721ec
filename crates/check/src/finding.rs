//! What a report consists of: findings, with all that a reader and a script want to know of each.
//!
//! A finding is complete in itself: the sentences are made where it was found, so that text, JSON, SARIF and HTML say
//! the same. Serialised, a [`Report`] is a document of the schema `cloom-check/1`, which docs/check.md describes.

use crate::kind::{Kind, Severity};
use serde::Serialize;

/// A position in a source.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
pub struct Place {
    /// The file, as the program or the command line names it.
    pub file: String,
    /// The line, from 1 on.
    pub line: u32,
    /// The first column, from 1 on, in bytes.
    pub col: u32,
    /// The column after the last one.
    pub end_col: u32,
}

/// A call on the way to a place.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Call {
    /// The function that is called.
    pub function: String,
    /// Where it is called.
    #[serde(flatten)]
    pub place: Place,
}

/// How memory is accessed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum AccessKind {
    /// A load.
    Read,
    /// A store.
    Write,
    /// No access: a barrier, a branch, the use of a value, the end of the kernel.
    Point,
}

/// One of the events of a finding: an access, a barrier, the use of a value.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Event {
    /// What it does.
    pub kind: AccessKind,
    /// Bytes that it reads or writes.
    pub bytes: u64,
    /// Where.
    #[serde(flatten)]
    pub place: Option<Place>,
    /// The calls on the way there, the kernel's first.
    pub inlined: Vec<Call>,
    /// The work-item's global id, local id and group.
    pub global: [u64; 3],
    /// The local id.
    pub local: [u64; 3],
    /// The id of the group.
    pub group: [u64; 3],
    /// Order and scope of an atomic operation, such as `relaxed, device`.
    pub atomic: Option<String>,
    /// The iteration of the innermost loop, from 0 on.
    pub iteration: Option<u64>,
    /// What the caret says: `work-item (2, 3) writes 4 bytes`.
    pub label: String,
}

/// Where a variable is declared, or an object of the interface is created.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(untagged)]
pub enum Origin {
    /// In a source.
    Declared(Place),
    /// By a call of the host program: its stack, innermost first.
    Created(Vec<String>),
}

/// The object whose memory is accessed.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Object {
    /// The name of the variable or of the kernel's parameter, or empty.
    pub name: String,
    /// `global`, `local`, `private` or `constant`.
    pub space: &'static str,
    /// Its size.
    pub bytes: u64,
    /// The byte that is accessed, counted from the object's start. It may lie outside.
    pub offset: i64,
    /// The element that is accessed, if the type of the elements is known.
    pub index: Option<i64>,
    /// How many elements it has, if the type of the elements is known.
    pub elements: Option<u64>,
    /// Where it comes from.
    pub origin: Option<Origin>,
}

/// The command that ran the kernel.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Enqueued {
    /// The call.
    pub call: String,
    /// Its global size,
    pub global: Vec<u64>,
    /// local size,
    pub local: Vec<u64>,
    /// and offset.
    pub offset: Vec<u64>,
    /// The host's stack, innermost first.
    pub stack: Vec<String>,
}

/// One thing that is wrong, however often it was seen.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Finding {
    /// A name that stays the same when other lines change; see [`fingerprint`].
    pub id: String,
    /// What is wrong.
    pub kind: Kind,
    /// How bad it is.
    pub severity: Severity,
    /// How often it was seen.
    pub count: u64,
    /// In how many groups.
    pub groups: u64,
    /// The launch in which it was seen first, from 1 on.
    pub first_launch: u64,
    /// The id of an earlier finding of which this one may be a consequence.
    pub follows: Option<String>,
    /// The kernel; empty for findings of the interface.
    pub kernel: String,
    /// One sentence that says what happens.
    pub message: String,
    /// One sentence that says why it is wrong.
    pub why: Option<String>,
    /// What would mend it.
    pub fix: Option<String>,
    /// What happened, the event at which it was found first.
    pub events: Vec<Event>,
    /// The memory.
    pub object: Option<Object>,
    /// The command.
    pub enqueued: Option<Enqueued>,
    /// The command line that shows it again.
    pub repeat: Option<String>,
    /// For findings of the interface: the call,
    pub call: Option<String>,
    /// and the host's stack, innermost first.
    pub stack: Vec<String>,
}

impl Finding {
    /// A finding that was seen once, of which nothing more is known.
    pub fn new(id: String, kind: Kind) -> Finding {
        Finding {
            id,
            kind,
            severity: kind.severity(),
            count: 1,
            groups: 0,
            first_launch: 0,
            follows: None,
            kernel: String::new(),
            message: String::new(),
            why: None,
            fix: None,
            events: Vec::new(),
            object: None,
            enqueued: None,
            repeat: None,
            call: None,
            stack: Vec::new(),
        }
    }

    /// A finding of the interface: a call of the host.
    pub fn of_call(id: String, kind: Kind, call: &str, message: String) -> Finding {
        Finding { message, call: Some(call.to_owned()), ..Finding::new(id, kind) }
    }

    /// Where it is shown: the place of the first event that has one.
    pub fn place(&self) -> Option<&Place> {
        self.events.iter().find_map(|e| e.place.as_ref())
    }
}

/// What was not checked, and why.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
pub struct NotChecked {
    /// The kernel, or empty.
    pub kernel: String,
    /// Why.
    pub why: String,
}

/// Findings that a suppression hid.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Suppressed {
    /// The rule, as it is written.
    pub rule: String,
    /// How many findings it hid.
    pub count: u64,
}

/// How much was checked.
#[derive(Clone, Copy, PartialEq, Default, Debug, Serialize)]
pub struct Checked {
    /// Different kernels.
    pub kernels: u64,
    /// Launches.
    pub launches: u64,
    /// Accesses to memory.
    pub accesses: u64,
    /// Accesses that need no check, because they are proved right.
    pub proved: u64,
    /// How many times slower the checked run was, where that was measured.
    pub slowdown: Option<f64>,
}

/// All that one run has to say.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Report {
    /// `cloom-check/1`.
    pub schema: &'static str,
    /// The version of Cloom.
    pub cloom: &'static str,
    /// The device.
    pub device: String,
    /// The mode: `full`, `bounds` or `safe`.
    pub mode: &'static str,
    /// How much was checked.
    pub checked: Checked,
    /// What was not.
    pub not_checked: Vec<NotChecked>,
    /// The findings, in the order in which they were seen.
    pub findings: Vec<Finding>,
    /// What suppressions hid.
    pub suppressed: Vec<Suppressed>,
}

impl Report {
    /// The name of the schema.
    pub const SCHEMA: &'static str = "cloom-check/1";

    /// A report about nothing yet.
    pub fn new(cloom: &'static str, device: impl Into<String>) -> Report {
        Report {
            schema: Report::SCHEMA,
            cloom,
            device: device.into(),
            mode: "full",
            checked: Checked::default(),
            not_checked: Vec::new(),
            findings: Vec::new(),
            suppressed: Vec::new(),
        }
    }

    /// Adds the findings of a launch: those that an earlier launch has, too, are counted.
    pub fn add(&mut self, findings: Vec<Finding>) {
        for finding in findings {
            match self.findings.iter_mut().find(|f| f.id == finding.id) {
                Some(known) => {
                    known.count += finding.count;
                    known.groups += finding.groups;
                    // The worst case of a finding decides: two work-items that write the same value in one launch may
                    // write others in the next.
                    if finding.severity > known.severity {
                        let (count, groups) = (known.count, known.groups);
                        *known = Finding { count, groups, ..finding };
                    }
                }
                None => self.findings.push(finding),
            }
        }
    }

    /// Notes what was not checked, once.
    pub fn not_checked(&mut self, kernel: &str, why: impl Into<String>) {
        let not_checked = NotChecked { kernel: kernel.to_owned(), why: why.into() };
        if !self.not_checked.contains(&not_checked) {
            self.not_checked.push(not_checked);
        }
    }

    /// How many findings are this bad.
    pub fn count(&self, severity: Severity) -> usize {
        self.findings.iter().filter(|f| f.severity == severity).count()
    }

    /// Whether anything was found that is more than a note.
    pub fn has_findings(&self) -> bool {
        self.findings.iter().any(|f| f.severity > Severity::Note)
    }
}

/// The id of a finding: it depends on the kind, the file, the kernel and the text of the line, and so stays the same
/// when other lines are added or removed. `number` tells findings apart that are equal in all of this.
pub fn fingerprint(kind: Kind, file: &str, kernel: &str, line_text: &str, number: u64) -> String {
    // FNV-1a (Fowler, Noll, Vo): a hash that is the same on each machine and in each version.
    let mut hash = 0xcbf2_9ce4_8422_2325u64;
    let number = number.to_string();
    for part in [kind.name(), file, kernel, line_text.trim(), &number] {
        for byte in part.bytes().chain([0]) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
    format!("{kind}:{hash:016x}")
}
