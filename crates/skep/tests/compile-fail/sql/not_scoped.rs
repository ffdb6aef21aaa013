//! Statements on scoped tables that do not prove whose rows they reach.

macro_rules! sql {
    ($($input:tt)*) => { skep::sql!(in "scoped"; $($input)*) };
}

fn main() {
    let (id, user) = (1, 2);
    sql!("select name from token");
    sql!("select name from token where id = ?", id);
    sql!("select name from token where id = ? or user_id = ?", id, user);
    sql!("select name from token where user_id = ?", user);
    sql!("select t.title from token join ticket t on t.id = token.id where token.user_id = ?", user);
    sql!("select name from token where user_id = ?" {if id == 1: "or id = ?", id}, user);
    sql!("delete from token where id = ?", id);
    sql!("update token set user_id = ? where user_id = ?", user, user);
    sql!("insert into token (name) values (?)", "ci");
    sql!("insert into token (user_id, name) select id, ? from account", "ci");
    sql!("insert or replace into token (id, user_id, name) values (?, ?, ?)", id, user, "ci");
    sql!("select title from title");
    sql!(unscoped "select name from token");
    sql!(unscoped ""; "select name from token");
    sql!(unscoped "there is one account only"; "select name from account");
}
