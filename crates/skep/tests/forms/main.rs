//! Forms, as users and browsers see them.

mod garde;
mod groups;
mod offered;
mod once;
mod rows;
mod sending;
mod stored;
mod submission;
mod types;
mod whole;
