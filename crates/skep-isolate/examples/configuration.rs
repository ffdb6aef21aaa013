//! Prints the reference page of all settings: `cargo run -p skep-isolate --example configuration >
//! docs/reference/configuration.md`.

fn main() {
    print!("{}", skep_isolate::reference());
}
