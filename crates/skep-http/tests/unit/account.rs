//! Unit tests of `account`.

use super::*;

/// As `skep::html!` writes it, which is for the crate `skep`.
macro_rules! html {
    ($($page:tt)*) => {{
        let _rendering = Rendering::begin();
        skep_html::html! { $($page)* }
    }};
}

/// One has run, as `skep-sql` says it.
fn statement(timer: &Timer) {
    if let Some(start) = timer.0 {
        Statements.has_run("select 1", start, start.elapsed());
    }
}

#[test]
fn statements_are_listed_up_to_a_number_and_all_of_them_count() {
    let mut account = Account::new(1);
    let millis = Duration::from_millis;
    for number in 0..20 {
        account.note_statement(&format!("select {}", number % 18), millis(2));
    }
    assert_eq!((account.statements, account.sql), (20, millis(40)));
    assert_eq!(account.by_statement.len(), MOST_STATEMENTS);
    let twice = StatementTime { text: "select 0".into(), runs: 2, time: millis(4) };
    assert_eq!(account.by_statement[0], twice);
}

#[test]
fn a_long_statement_is_cut_between_letters() {
    let mut account = Account::new(1);
    account.note_statement(&"ü".repeat(LONGEST_STATEMENT), Duration::ZERO);
    account.note_statement(&format!("a{}", "ü".repeat(LONGEST_STATEMENT)), Duration::ZERO);
    let lengths: Vec<usize> = account.by_statement.iter().map(|known| known.text.len()).collect();
    assert_eq!(lengths, [LONGEST_STATEMENT, LONGEST_STATEMENT - 1]);
}

#[test]
fn what_runs_in_a_scope_finds_its_account_and_a_panic_leaves_it() {
    let mut scope = Scope(Some(Box::new(Account::new(7))));
    assert_eq!(Timer::start().elapsed(), Duration::ZERO, "outside, there is no account");
    scope.enter(|| {
        set_service(3);
        statement(&Timer::start());
    });
    let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        scope.enter(|| {
            Timer::start().note_cache(Duration::ZERO);
            panic!("on purpose")
        })
    }));
    assert!(panicked.is_err());
    set_service(9);
    let account = scope.0.take().unwrap();
    assert_eq!((account.service, account.statements, account.cache_reads), (3, 1, 1));
}

#[test]
fn what_is_written_within_a_page_counts_once_and_without_sql() {
    let pause = Duration::from_millis(20);
    let mut scope = Scope(Some(Box::new(Account::new(1))));
    let piece = || html! { p { (std::iter::once({ std::thread::sleep(pause); "slow" }).collect::<String>()) } };
    let start = Instant::now();
    let page = scope.enter(|| {
        html! {
            (piece())
            @for _ in 0..2 { (piece()) }
            @let timer = Timer::start();
            @let sql = { std::thread::sleep(pause); statement(&timer); "1" };
            p { (sql) }
        }
    });
    let all = start.elapsed();
    assert_eq!(page.as_str(), "<p>slow</p><p>slow</p><p>slow</p><p>1</p>");
    let account = scope.0.take().unwrap();
    assert!(account.sql >= pause && account.render >= 3 * pause, "{account:?}");
    assert!(account.render + account.sql <= all, "{account:?}, {all:?} in all");
    assert!(!account.is_rendering);
}

#[test]
fn a_page_that_is_left_early_ends_its_rendering() {
    let mut scope = Scope(Some(Box::new(Account::new(1))));
    let write = |text: Option<&str>| Some(html! { p { (text?) } });
    let pages = scope.enter(|| [write(None), write(Some("a"))].map(|page| page.map(skep_html::Html::into_string)));
    assert_eq!(pages, [None, Some("<p>a</p>".to_owned())]);
    let account = scope.0.take().unwrap();
    assert!(!account.is_rendering && account.render > Duration::ZERO);
    // Without an account nothing is measured.
    assert!(Rendering::begin().0.is_none());
}

#[test]
fn a_traced_request_notes_its_first_steps() {
    let mut scope = Scope(Some(Box::new(Account::new(1).traced(true))));
    scope.enter(|| {
        Timer::start().note_cache(Duration::ZERO);
        (0..MOST_STEPS).for_each(|_| statement(&Timer::start()));
    });
    let steps = scope.0.take().unwrap().steps.unwrap();
    assert_eq!((steps.len(), steps[0].work, steps[1].work), (MOST_STEPS, Work::Cache, Work::Statement(Some(0))));
    assert!(steps.is_sorted_by_key(|step| step.start));
    assert_eq!(Account::new(1).steps, None);
}

#[test]
fn an_abandoned_account_is_there_once() {
    drop(Scope(Some(Box::new(Account::new(5)))));
    drop(Scope(None));
    assert_eq!(take_abandoned().map(|account| account.id), Some(5));
    assert_eq!(take_abandoned(), None);
}
