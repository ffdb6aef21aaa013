//! What `derive(Account)` of `skep-people` says of a struct that cannot be an account.

use skep_macros::Account;

#[derive(Account)]
struct NoTable {
    id: i64,
    email: String,
    random: String,
}

#[derive(Account)]
#[account(table = "user", filters = "not locked")]
struct UnknownOption {
    id: i64,
    email: String,
    random: String,
}

#[derive(Account)]
#[account(table = "user")]
struct NoId {
    email: String,
    random: String,
}

#[derive(Account)]
#[account(table = "user")]
struct NothingRandom {
    id: i64,
    email: String,
}

#[derive(Account)]
#[account(table = "user")]
struct NoName {
    id: i64,
    random: String,
}

#[derive(Account)]
#[account(table = "user")]
struct UnknownField {
    id: i64,
    #[account(mail)]
    address: String,
    random: String,
}

#[derive(Account)]
#[account(table = "user")]
enum NoStruct {
    One,
}

fn main() {}
