//! The short forms of what `cargo xtask soak` does for long. Each case is a process of its own.

#![allow(clippy::print_stdout, reason = "processes tell each other by their output")]
#![allow(unsafe_code, reason = "it calls the C interface")]

mod cases;
#[path = "../common/mod.rs"]
mod common;

use cases::{ALL, Size};
use common::child::{child, lines, output, part};

#[test]
fn the_part_of_a_child() {
    let Some(part) = part() else { return };
    let case = ALL.iter().find(|case| case.name == part).expect("a case of this name");
    println!("|{}", (case.run)(Size::SHORT));
}

#[test]
fn the_driver_endures_the_short_form_of_every_case() {
    for case in ALL.iter().filter(|case| case.short) {
        let told = lines(&output(&mut child(case.name)));
        assert_eq!(told.len(), 1, "{}: {told:?}", case.name);
        println!("{}: {}", case.name, told[0]);
    }
}
