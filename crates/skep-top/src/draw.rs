//! How the screen looks: a heading, the tabs of the views, a table, a line for messages and prompts, the keys.

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style, Stylize};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Paragraph, Tabs};
use skep_server::control::Overview;
use skep_server::control::{bytes, rate, seconds};

use crate::screen::{Mode, Screen, VIEWS};
use crate::tables;

const KEYS: &str = " q quit  tab 1-7 view  up/down select  l log level  d drain  s swap  u upgrade";
const PROMPT_KEYS: &str =
    " enter send  esc cancel   blog::search debug | user anna debug 15m | address 10.0.0.0/8 trace";

const BAD: Style = Style::new().fg(Color::Red).add_modifier(Modifier::BOLD);

pub(super) fn draw(frame: &mut Frame<'_>, screen: &mut Screen) {
    let heights = [3, 1, 0, 1, 1].map(Constraint::Length);
    let [heading, tabs, _, message, keys] = heights;
    let areas = Layout::vertical([heading, tabs, Constraint::Min(1), message, keys]).split(frame.area());
    frame.render_widget(Paragraph::new(lines(screen)), areas[0]);
    let tabs = Tabs::new(VIEWS.iter().zip(1..).map(|(view, number)| format!("{number} {view}")));
    frame.render_widget(tabs.select(screen.view).divider("").highlight_style(Style::new().reversed()), areas[1]);
    let table = tables::table(screen);
    let empty = tables::is_empty(screen);
    match empty {
        Some(text) => frame.render_widget(Paragraph::new(format!(" {text}")).dim(), areas[2]),
        None => frame.render_stateful_widget(table, areas[2], &mut screen.table),
    }
    draw_message(frame, screen, areas[3]);
    let text = if matches!(screen.mode, Mode::Prompt { .. }) { PROMPT_KEYS } else { KEYS };
    frame.render_widget(Paragraph::new(text).dim(), areas[4]);
    // Of a text that a client chose, nothing reaches the terminal that would change the rest.
    for cell in &mut frame.buffer_mut().content {
        if cell.symbol().contains(skep_units::is_unprintable) {
            cell.set_symbol("\u{fffd}");
        }
    }
}

fn lines(screen: &Screen) -> Vec<Line<'static>> {
    let (overview, rates) = (&screen.snapshot.overview, &screen.rates);
    let memory: u64 = overview.memory + overview.workers.iter().map(|worker| worker.memory).sum::<u64>();
    let slots = || overview.workers.iter().flat_map(|worker| &worker.slots);
    let running: u32 = slots().map(|slot| slot.running).sum();
    let connections: u32 = slots().map(|slot| slot.connections).sum();
    let numbers = format!(
        " {} requests/s, {running} in flight, {connections} connections, CPU {:.0} %, {}, {} crashes",
        rate(rates.requests()),
        rates.processor() * 100.0,
        bytes(memory),
        overview.crashes
    );
    vec![title(overview), Line::raw(numbers), state(screen)]
}

fn title(overview: &Overview) -> Line<'static> {
    let rest = format!(
        "  version {}, mpm {}, up {}, {}",
        overview.version,
        overview.mpm,
        seconds(overview.uptime),
        overview.urls.join(" ")
    );
    Line::from(vec![Span::from(format!(" {}", overview.name)).bold(), Span::raw(rest)])
}

/// What an operator should see first.
fn state(screen: &Screen) -> Line<'static> {
    let overview = &screen.snapshot.overview;
    if let Some(problem) = &screen.lost {
        return Line::styled(format!(" NO REPLY: {problem}"), BAD);
    }
    if overview.crash_loop {
        return Line::styled(" CRASH LOOP: workers exit early, see the log", BAD);
    }
    if !overview.workers.iter().any(|worker| worker.state == "ready") {
        return Line::styled(" NOT SERVING: no worker is ready", BAD);
    }
    if overview.swap_succeeded == Some(false) {
        let (ago, why) = (seconds(overview.swap_age.unwrap_or_default()), overview.swap.as_deref().unwrap_or_default());
        return Line::styled(format!(" LAST SWAP FAILED {ago} ago: {why}"), BAD);
    }
    if !overview.raised.is_empty() {
        return Line::raw(format!(" log level raised for {}", overview.raised.join(", ")));
    }
    Line::raw(" serving").green()
}

fn draw_message(frame: &mut Frame<'_>, screen: &Screen, area: Rect) {
    let line = match (&screen.mode, &screen.message) {
        (Mode::Confirm { question, .. }, _) => Line::raw(format!(" y/n  {question}")).reversed(),
        (Mode::Prompt { text }, _) => {
            let line = Line::raw(format!(" log {text}"));
            let column = u16::try_from(line.width()).unwrap_or(u16::MAX).min(area.width.saturating_sub(1));
            frame.set_cursor_position((area.x + column, area.y));
            line
        }
        (Mode::Watch, Some(Ok(text))) => Line::raw(format!(" {}", text.lines().next().unwrap_or_default())),
        (Mode::Watch, Some(Err(text))) => Line::styled(format!(" {}", text.lines().next().unwrap_or_default()), BAD),
        (Mode::Watch, None) => Line::default(),
    };
    frame.render_widget(Paragraph::new(line), area);
}

#[cfg(test)]
#[path = "../tests/unit/draw.rs"]
mod tests;
