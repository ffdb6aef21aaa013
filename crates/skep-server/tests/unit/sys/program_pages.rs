//! Unit tests of `sys::program_pages`.

use super::*;

#[test]
fn only_unchanged_pages_of_files_are_let_go() {
    let smaps = "1000-2000 r-xp 00001000 fe:00 123    /usr/bin/x\nRss: 4 kB\nAnonymous: 0 kB\nSwap: 0 kB\n\
                 2000-3000 r--p 00001000 fe:00 123    /usr/bin/x\nAnonymous: 4 kB\nSwap: 0 kB\n\
                 3000-4000 rw-p 00001000 fe:00 123    /usr/bin/x\nAnonymous: 0 kB\nSwap: 0 kB\n\
                 5000-6000 r-xp 00000000 00:00 0      [vdso]\nAnonymous: 0 kB\nSwap: 0 kB\n";
    assert_eq!(format!("{:x?}", unchanged(smaps)), "[1000..2000]");
}

#[test]
fn a_program_goes_on_without_them() {
    // Other tests run at the same time, and get their code pages back.
    release_program_pages();
    assert_eq!(format!("{:.3}", std::hint::black_box(2.0_f64).sqrt()), "1.414");
}
