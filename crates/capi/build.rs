//! How the driver is linked.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    // Threads of the driver may run when a program closes the loader: its code stays in memory.
    println!("cargo:rustc-cdylib-link-arg=-Wl,-z,nodelete");
    // Whatever another library exports under a name of ours, ours is meant.
    println!("cargo:rustc-cdylib-link-arg=-Wl,-Bsymbolic");
    println!("cargo:rustc-cdylib-link-arg=-Wl,--exclude-libs,ALL");
}
