//! Lists of groups: several fields that a form repeats together.

use skep::form::{Group, Hidden, Name, Refusal, Text, Upload, Whole};
use skep::prelude::*;
use skep::test::Client;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Param)]
enum Size {
    Small,
    Large,
}

#[derive(Debug, Group)]
struct Line {
    id: Hidden<u32>,
    product: Text<1, 20>,
    amount: Whole<1, 99>,
    size: Option<Size>,
    gift: bool,
    label: Option<Upload>,
}

#[derive(Service)]
#[service(GET "/basket")]
struct Basket {
    filled: Option<u32>,
}

impl Handle for Basket {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let lines: Vec<Line> = (0..self.filled.unwrap_or(0)).map(line).collect();
        let form = Order::form(cx).value(Order::lines, &lines);
        Ok(Response::html(html! {
            form (form) {
                input (Order::name);
                @for row in form.rows(Order::lines, 2) {
                    input (Order::lines.row(row, Line::id));
                    label (Order::lines.row(row, Line::product)) { "Product" }
                    input (Order::lines.row(row, Line::product));
                    input (Order::lines.row(row, Line::amount));
                    fieldset (Order::lines.row(row, Line::size)) { legend { "Size" } }
                    label (Order::lines.row(row, Line::size).of(Size::Large)) { "Large" }
                    input (Order::lines.row(row, Line::gift));
                    input (Order::lines.row(row, Line::label));
                }
            }
        }))
    }
}

fn line(row: u32) -> Line {
    Line {
        id: Hidden(row + 100),
        product: format!("Honey {row}").parse().unwrap(),
        amount: Whole::new(i64::from(row) + 1).unwrap(),
        size: Some(Size::Large),
        gift: row == 1,
        label: None,
    }
}

#[derive(Debug, Service)]
#[service(POST "/orders", page = Basket { filled: None }, rules = Order::rules)]
struct Order {
    #[form]
    name: Text<1, 20>,
    #[form]
    lines: Vec<Line>,
}

impl Order {
    fn rules(&self, refusal: &mut Refusal<Self>) {
        if self.lines.is_empty() {
            refusal.field(Order::lines, "An order has lines.");
        }
        for (row, line) in self.lines.iter().enumerate().filter(|(_, line)| line.product.as_str() == "wax") {
            refusal.field(Order::lines.row(row, Line::product), format!("No wax today, not even {}.", line.amount));
        }
    }
}

impl Handle for Order {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        let lines = self.lines.iter().map(|line| {
            let label = line.label.as_ref().map(Upload::file_name);
            format!("{} {} {} {:?} {} {label:?}", line.id.0, line.product, line.amount, line.size, line.gift)
        });
        Ok(Response::text(format!("{}: {}", self.name, lines.collect::<Vec<_>>().join("\n"))))
    }
}

fn client() -> Client {
    Client::new(App::new().serve(services![Basket, Order]))
}

fn at<T>(row: usize, field: Name<Line, T>) -> Name<Order, T> {
    Order::lines.row(row, field)
}

#[test]
fn rows_arrive_as_values_and_empty_ones_are_none() {
    let form = client().get("/basket").form::<Order>().set(Order::name, "Ann");
    let form = form.set(at(1, Line::product), "Wax").set(at(1, Line::amount), "3").set(at(1, Line::size), "large");
    let answer = form.set(at(1, Line::id), "7").attach(at(1, Line::label), "a.png", "image/png", b"x").submit();
    assert_eq!(answer.text(), "Ann: 7 Wax 3 Some(Large) false Some(\"a.png\")");
}

#[test]
fn rows_that_are_given_are_shown_and_come_back() {
    let page = client().get("/basket?filled=2");
    let text = page.text();
    for part in [
        r#"<input name="lines.0.id" id="order-lines-0-id" type="hidden" value="100">"#,
        r#"<label for="order-lines-1-product">Product</label><input name="lines.1.product" id="order-lines-1-product" type="text" required maxlength="20" value="Honey 1">"#,
        r#"<label for="order-lines-1-size-large">Large</label>"#,
        r#"<input name="lines.1.gift" id="order-lines-1-gift" type="checkbox" checked>"#,
        r#"<input name="lines.3.amount" id="order-lines-3-amount" type="number" min="1" max="99">"#,
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    assert!(!text.contains("lines.4."), "two rows to spare: {text}");
    let answer = page.form::<Order>().set(Order::name, "Ann").set(at(0, Line::amount), "9").submit();
    assert_eq!(answer.text(), "Ann: 100 Honey 0 9 Some(Large) false None\n101 Honey 1 2 Some(Large) true None");
}

#[test]
fn what_is_wrong_in_a_row_is_said_there() {
    let sent = [
        ("name", ""),
        ("lines.2.id", "1"),
        ("lines.5.id", "2"),
        ("lines.5.product", "Wax"),
        ("lines.5.amount", "100"),
        ("lines.9.gift", "on"),
    ];
    let answer = client().post("/orders", &sent);
    let page = answer.text();
    assert_eq!(answer.status(), 422, "{page}");
    for part in [
        r#"<span class="problem" id="order-name-problem">Please fill this in.</span>"#,
        r#"value="100" aria-describedby="order-lines-0-amount-problem" aria-invalid="true"><span class="problem" id="order-lines-0-amount-problem">That is too much: 99 is the most.</span>"#,
        r#"<span class="problem" id="order-lines-1-product-problem">Please fill this in.</span>"#,
        r#"<input name="lines.1.gift" id="order-lines-1-gift" type="checkbox" checked>"#,
        r#"name="lines.3.product" id="order-lines-3-product" type="text" maxlength"#,
    ] {
        assert!(page.contains(part), "{part}\n{page}");
    }
    // The page gives no `id` to a row that it did not fill.
    assert_eq!(page.matches("autofocus").count(), 1, "{page}");
    assert!(!page.contains("lines.4."), "{page}");
}

#[test]
fn rules_speak_of_rows_and_what_has_no_place_stands_at_the_end() {
    let client = client();
    let none = client.post("/orders", &[("name", "Ann"), ("lines.0.product", "")]);
    assert_eq!(none.status(), 422);
    assert!(
        none.text().ends_with(r#"<p class="problem" role="alert">An order has lines.</p></form>"#),
        "{}",
        none.text()
    );
    let row = [("name", "Ann"), ("lines.4.id", "1"), ("lines.4.product", "wax"), ("lines.4.amount", "2")];
    let wax = client.post("/orders", &row);
    assert!(
        wax.text()
            .contains(r#"<span class="problem" id="order-lines-0-product-problem">No wax today, not even 2.</span>"#),
        "{}",
        wax.text()
    );
}

#[test]
fn a_file_is_taken_in_a_row_only_where_a_field_of_the_group_takes_one() {
    let client = client();
    let draft = client.request(skep::Method::POST, "/orders");
    let answer = draft.files(&[("name", "Ann")], &[("lines.0.product", "a.txt", "text/plain", b"x")]).send();
    assert_eq!(answer.status(), 400);
    assert!(answer.text().contains("takes no file"), "{}", answer.text());
}

#[test]
fn rows_without_content_are_left_out_and_the_others_close_up_in_their_order() {
    let sent = [
        ("name", "Ann"),
        ("lines.4294967295.product", "b"),
        ("lines.4294967295.amount", "2"),
        ("lines.4294967295.id", "7"),
        ("lines.2.product", ""),
        ("lines.2.id", "5"),
        ("lines.4.id", "9"),
        ("lines.4.product", "a"),
        ("lines.4.other", "o"),
        ("lines.4.amount", "1"),
    ];
    let answer = client().post("/orders", &sent);
    assert_eq!(answer.text(), "Ann: 9 a 1 None false None\n7 b 2 None false None");
}

#[test]
fn what_is_no_row_is_left_alone() {
    for name in
        ["lines", "lines.", "lines.0", "lines.x.product", "lines.01.product", "lines.-1.product", "other.0.product"]
    {
        let client = client();
        let answer = client.request(skep::Method::POST, "/orders").header("accept", "application/json");
        let answer = answer.form(&[("name", "Ann"), (name, "1")]).send();
        assert_eq!(answer.status(), 422, "{name}");
        assert!(answer.text().contains("lines: An order has lines."), "{name}: {}", answer.text());
        assert_eq!(answer.text().matches("\"field\"").count(), 1, "{name}: {}", answer.text());
    }
}

#[test]
fn a_list_has_a_limit_and_empty_rows_do_not_count() {
    let client = client();
    let form = |filled: usize| {
        let rows = (0..999).map(|row| format!("lines.{row}.product={}", if row < filled { "Wax" } else { "" }));
        format!("name=Ann&{}", rows.collect::<Vec<_>>().join("&"))
    };
    let send = |filled| {
        client.request(skep::Method::POST, "/orders").body("application/x-www-form-urlencoded", form(filled)).send()
    };
    assert_eq!(send(256).status(), 422, "they are not complete");
    let answer = send(257);
    assert_eq!(answer.status(), 413);
    assert!(answer.text().contains("\"lines\" has more than the 256 rows allowed here"), "{}", answer.text());
}
