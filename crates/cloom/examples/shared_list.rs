//! A list in shared virtual memory: the host links elements by their addresses, and a kernel follows these.
//!
//! `cargo run --release --package cloom --example shared_list`

#![allow(clippy::print_stdout, reason = "a program that prints")]
#![allow(unsafe_code, reason = "a launch is unsafe; the comment there says why this one is sound")]

use bytemuck::{Pod, Zeroable};
use cloom::{Context, Range};

const SOURCE: &str = "
struct node { global struct node *next; ulong value; };
kernel void sum(global struct node *list, global ulong *result) {
    ulong n = 0;
    for (; list; list = list->next)
        n += list->value;
    *result = n;
}";

/// An element, as the kernel sees it.
#[derive(Clone, Copy)]
#[repr(C)]
struct Node {
    /// The address of the next element; 0 after the last.
    next: u64,
    value: u64,
}

// SAFETY: two fields of eight bytes, without padding, that take any bits.
unsafe impl Zeroable for Node {}
// SAFETY: two fields of eight bytes, without padding, that take any bits.
unsafe impl Pod for Node {}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let context = Context::new()?;
    println!("{}: {:?}", context.device().name, context.device().svm);
    let mut nodes = context.svm::<Node>(1000)?;
    let first = nodes.address();
    let after = |i: u64| first + i * size_of::<Node>() as u64;
    for (node, number) in nodes.map_mut()?.iter_mut().zip(1..) {
        *node = Node { next: if number == 1000 { 0 } else { after(number) }, value: number };
    }
    let result = context.buffer::<u64>(1)?;
    let sum = context.build(SOURCE)?.kernel("sum")?;
    // SAFETY: the list ends, its elements live longer than the launch, and nothing is mapped.
    unsafe { sum.launch(Range::new([1]), (&nodes, &result))? };
    println!("the sum of the list is {}", result.to_vec()?[0]);
    Ok(())
}
