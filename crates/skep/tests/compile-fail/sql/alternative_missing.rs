//! Alternatives that leave something out.

enum Order {
    Newest,
    Title,
}

fn main() {
    let order = Order::Title;
    let _ = skep::sql!("select title from post" {match order: Order::Newest => "order by id desc"});
}
