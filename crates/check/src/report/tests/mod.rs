//! A report with three findings, and how it looks as text. In come findings as checks make them; out comes nothing.

use super::text::finding as text_of;
use super::*;
use crate::finding::{
    AccessKind, Call, Checked, Enqueued, Event, Finding, NotChecked, Object, Origin, Place, Suppressed, fingerprint,
};
use crate::kind::{Kind, Severity};

pub(crate) fn place(file: &str, line: u32, col: u32, end_col: u32) -> Place {
    Place { file: file.to_owned(), line, col, end_col }
}

pub(crate) fn event(place: Option<Place>, label: &str) -> Event {
    Event {
        kind: AccessKind::Point,
        bytes: 0,
        place,
        inlined: Vec::new(),
        global: [0; 3],
        local: [0; 3],
        group: [0; 3],
        atomic: None,
        iteration: None,
        label: label.to_owned(),
    }
}

fn access(kind: AccessKind, place: Place, label: &str) -> Event {
    Event { kind, bytes: 4, ..event(Some(place), label) }
}

pub(crate) fn sources() -> Sources {
    let matmul = "kernel void matmul(global float *a) {\n    local float ta[8][8];\n    ta[ly][lx] = a[gid];\n    \
                  x = ta[ly][k];\n    int i = 0;\n    int j = 0;\n    int l = 0;\n    out[i] = x;\n}\n";
    let lib = "// Öl\n/* ö */ a = in[i];\n";
    Sources::from([("matmul.cl".to_owned(), matmul.to_owned()), ("lib/öl.cl".to_owned(), lib.to_owned())])
}

/// A finding of which nothing is known but its kind and message.
pub(crate) fn bare(kind: Kind, message: &str) -> Finding {
    let id = fingerprint(kind, "", "", "", 0);
    Finding { first_launch: 1, message: message.to_owned(), ..Finding::new(id, kind) }
}

/// A race in local memory.
pub(crate) fn finding() -> Finding {
    let mut f = bare(
        Kind::RaceLocal,
        "two work-items of one group use ta[3][2] without a barrier between them, and one writes",
    );
    f.id = "race-local:0123456789abcdef".into();
    (f.count, f.groups, f.kernel) = (1792, 16, "matmul".into());
    f.why = Some("no barrier stands between the store and the load".into());
    f.fix = Some("barrier(CLK_LOCAL_MEM_FENCE) after line 4".into());
    f.events = vec![
        access(AccessKind::Write, place("matmul.cl", 3, 5, 15), "work-item (2, 3) writes 4 bytes"),
        access(AccessKind::Read, place("matmul.cl", 4, 9, 18), "work-item (5, 3) of the same group reads them"),
    ];
    f.object = Some(Object {
        name: "ta".into(),
        space: "local",
        bytes: 256,
        offset: 104,
        index: Some(26),
        elements: Some(64),
        origin: Some(Origin::Declared(place("matmul.cl", 2, 17, 19))),
    });
    f.enqueued = Some(Enqueued {
        call: "clEnqueueNDRangeKernel".into(),
        global: vec![32, 32],
        local: vec![8, 8],
        offset: vec![0, 0],
        stack: vec!["main app.c:88".into()],
    });
    f.repeat = Some("cloom check matmul.cl --global 32x32 --local 8x8".into());
    f
}

/// A use of host memory that a command still reads.
fn pending() -> Finding {
    let mut f = bare(Kind::ApiError, "the host writes to memory that a command still reads");
    f.events = vec![event(None, "the command reads 64 bytes"), event(None, "the host writes to them")];
    (f.call, f.stack) = (Some("clEnqueueWriteBuffer".into()), vec!["main app.c:60".into()]);
    f
}

/// An access in a library function, of which only one side has a text.
fn follower() -> Finding {
    let mut f = bare(Kind::RaceGlobal, "two work-items write the same value to `in`");
    (f.severity, f.kernel, f.first_launch) = (Severity::Note, "matmul".into(), 2);
    f.follows = Some("race-local:0123456789abcdef".into());
    let mut inner = access(AccessKind::Write, place("lib/öl.cl", 2, 14, 16), "work-item (1) writes 4 bytes");
    inner.inlined = vec![Call { function: "öl".into(), place: place("matmul.cl", 8, 5, 11) }];
    f.events = vec![
        inner,
        access(AccessKind::Write, place("matmul.cl", 8, 5, 11), "work-item (2) writes the same"),
        access(AccessKind::Write, place("gone.cl", 7, 1, 2), "work-item (3) writes the same"),
        access(AccessKind::Write, place("matmul.cl", 3, 5, 15), "work-item (4) writes the same"),
    ];
    f.object = Some(Object {
        name: "in".into(),
        space: "global",
        bytes: 4004,
        offset: 4016,
        index: None,
        elements: None,
        origin: Some(Origin::Created(vec!["main app.c:41".into()])),
    });
    f
}

pub(crate) fn report() -> Report {
    Report {
        checked: Checked { kernels: 3, launches: 12, accesses: 81_264, proved: 402, slowdown: Some(4.2) },
        findings: vec![finding(), pending(), follower()],
        ..Report::new("0.1.0", "a CPU")
    }
}

#[test]
fn the_text_of_a_report() {
    let mut r = report();
    r.suppressed = vec![Suppressed { rule: "race-global:hash.cl".into(), count: 3 }];
    r.not_checked = vec![NotChecked { kernel: "k".into(), why: "program binary without IR".into() }];
    let expected = include_str!("report.txt");
    let text = write(&r, Format::Text, &sources(), false);
    assert_eq!(text, expected, "\n{text}");
}

#[test]
fn the_text_without_sources_has_the_places() {
    let f = finding();
    let text = text_of(&f, &report(), &Sources::default(), false);
    let start = "error[race-local]: two work-items of one group use ta[3][2] without a barrier between them, and one \
                 writes\n\
                 --> matmul.cl:3:5, kernel matmul, launch 1\n |\n = event";
    assert!(text.starts_with(start), "{text}");
    assert!(text.contains("= event: matmul.cl:3:5: work-item (2, 3) writes 4 bytes\n"), "{text}");
    assert!(text.contains("= event: matmul.cl:4:9: work-item (5, 3) of the same group reads them\n"), "{text}");
}

#[test]
fn a_line_as_long_as_the_source_gives_a_short_picture() {
    let mut f = finding();
    let text = format!(
        "{}ta[ly][lx] = 0; {}x = ta[ly][k];{}",
        "a = 0; ".repeat(9000),
        "b = 0; ".repeat(9000),
        "c = 0; ".repeat(9000)
    );
    let at = |part: &str| 1 + text.find(part).unwrap() as u32;
    f.events[0].place = Some(place("matmul.cl", 1, at("ta[ly][lx]"), at("ta[ly][lx]") + 10));
    f.events[1].place = Some(place("matmul.cl", 1, at("ta[ly][k]"), at("ta[ly][k]") + 9));
    let text = text_of(&f, &report(), &Sources::from([("matmul.cl".to_owned(), text)]), false);
    assert!(text.len() < 3000, "{}:\n{text}", text.len());
    assert!(text.contains("ta[ly][lx] = 0;") && text.contains("x = ta[ly][k];"), "{text}");
    assert!(text.contains("^^^^^^^^^^ work-item (2, 3)") && text.contains("--------- work-item (5, 3)"), "{text}");
}

#[test]
fn two_events_at_one_place_are_both_shown() {
    let mut f = finding();
    f.events[1].place = f.events[0].place.clone();
    let text = text_of(&f, &report(), &sources(), false);
    assert!(text.contains("work-item (2, 3) writes") && text.contains("work-item (5, 3) of the same"), "{text}");
    assert_eq!(text.matches("ta[ly][lx] = a[gid];").count(), 1, "{text}");
}

#[test]
fn places_that_do_not_fit_the_source_do_no_harm() {
    for (line, col, end) in [(0, 0, 0), (3, 0, 9), (3, 900, 901), (3, 9, 2), (9, 2, 2), (u32::MAX, u32::MAX, u32::MAX)]
    {
        for file in ["matmul.cl", "lib/öl.cl", "gone.cl", ""] {
            let mut r = report();
            for f in &mut r.findings {
                f.events.iter_mut().for_each(|e| e.place = Some(place(file, line, col, end)));
            }
            for format in Format::ALL {
                assert!(write(&r, format, &sources(), true).contains("work-item (2, 3) writes"), "{format:?} {line}");
            }
        }
    }
}

#[test]
fn colours_are_only_where_they_are_asked_for() {
    let text = write(&report(), Format::Text, &sources(), true);
    assert!(text.contains('\u{1b}'));
    // Without its colours, it is the same text.
    let pieces = text.split('\u{1b}').enumerate();
    let plain = pieces.map(|(i, piece)| if i == 0 { piece } else { piece.split_once('m').unwrap().1 });
    assert_eq!(plain.collect::<String>(), write(&report(), Format::Text, &sources(), false));
    let mut r = report();
    r.findings[0].message = "red \u{1b}[31m\nforged".into();
    r.findings[0].why = Some("red \u{1b}[31m\nforged".into());
    r.findings[0].events[0].label = "red \u{1b}[31m".into();
    let mut sources = sources();
    sources.add("matmul.cl", "\n\n    ta[ly][lx] = '\u{1b}[31m';\n");
    for format in Format::ALL {
        let text = write(&r, format, &sources, false);
        assert!(!text.contains('\u{1b}'), "{text}");
        assert!(!text.lines().any(|line| line.starts_with("forged")), "{text}");
        assert!(text.ends_with('\n'));
    }
}

#[test]
fn formats_have_names() {
    for format in Format::ALL {
        assert_eq!(Format::named(format.name()), Some(format));
    }
    assert_eq!(Format::named("xml"), None);
}
