//! Compiles again when a file is added to one of these folders.

fn main() {
    println!("cargo::rerun-if-changed=migrations");
    println!("cargo::rerun-if-changed=static");
}
