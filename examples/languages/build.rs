//! A new file in the folder of languages is noticed.

fn main() {
    println!("cargo::rerun-if-changed=languages");
}
