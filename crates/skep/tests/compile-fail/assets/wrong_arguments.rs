//! A folder that does not exist, and a prefix that is none.

skep::assets!(Site = "no-such-folder" at "/static");
skep::assets!(Other = "src" at "static/");
skep::assets!(Another = "src");

fn main() {}
