//! The Rust of the articles, compiled and run. `cargo xtask tidy` checks that each block of an article stands in its
//! file here.
#![allow(dead_code, unused, clippy::all, clippy::pedantic, reason = "the code is written as the articles need it")]

#[rustfmt::skip]
mod a_part_of_a_file;
#[rustfmt::skip]
mod a_service_is_a_struct;
#[rustfmt::skip]
mod atom_or_rss;
#[rustfmt::skip]
mod dark_mode_in_one_place;
#[rustfmt::skip]
mod error_pages_and_what_they_keep_quiet;
#[rustfmt::skip]
mod forged_forms_without_tokens;
#[rustfmt::skip]
mod forms_that_work_without_javascript;
#[rustfmt::skip]
mod full_text_search_in_forty_lines;
#[rustfmt::skip]
mod logs_that_never_wait;
#[rustfmt::skip]
mod migrations_in_the_executable;
#[rustfmt::skip]
mod slow_clients_and_limits_with_names;
#[rustfmt::skip]
mod slugs_permalinks_and_percent_signs;
#[rustfmt::skip]
mod sqlite_on_the_request_thread;
#[rustfmt::skip]
mod testing_without_a_socket;
#[rustfmt::skip]
mod the_methods_nobody_writes;
#[rustfmt::skip]
mod the_place_decides_the_escaping;
#[rustfmt::skip]
mod two_ways_to_cache_a_file;
#[rustfmt::skip]
mod writing_the_first_application;
