//! A page that is not one.

use skep::sql::PageNumber;

const MANY: u32 = 5_000;

fn main() {
    skep::sql!("select id, title from post order by id" {page MANY: PageNumber::FIRST});
}
