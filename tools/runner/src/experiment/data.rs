//! What a page and a document of JSON cost that come from a database: PostgreSQL, or SQLite within the program.

use super::{Experiment, KEEP_ALIVE, Same, Variant, variant};
use crate::goal::Goal;
use crate::measure::Measure::{Cpu, Rate};
use crate::program::Program;
use crate::site::data::Database::{Postgres, Sqlite};

const SQLX: Program = Program::AxumSqlx { database: Postgres, tuned: false };

const SQLX_TUNED: Program = Program::AxumSqlx { database: Postgres, tuned: true };

const fn postgres(path: &'static str) -> [Variant; 5] {
    [
        variant("skep", Program::SkepData(Postgres), path),
        variant("axum", Program::AxumPostgres, path),
        variant("actix", Program::ActixPostgres, path),
        variant("go", Program::GoPgx, path),
        variant("rails", Program::RailsData(Postgres), path),
    ]
}

const fn sqlite(path: &'static str) -> [Variant; 4] {
    [
        variant("skep", Program::SkepData(Sqlite), path),
        variant("axum", Program::AxumSqlx { database: Sqlite, tuned: false }, path),
        variant("axum-tuned", Program::AxumSqlx { database: Sqlite, tuned: true }, path),
        variant("rails", Program::RailsData(Sqlite), path),
    ]
}

const POSTGRES_GOALS: &[Goal] = &[
    Goal::at_least("skep", Rate, 1.0, "axum"),
    Goal::at_least("skep", Rate, 1.0, "actix"),
    Goal::at_least("skep", Rate, 1.0, "go"),
    Goal::at_least("skep", Rate, 1.0, "rails"),
];

const SQLITE_GOALS: &[Goal] = &[
    Goal::at_least("skep", Rate, 1.0, "axum"),
    Goal::at_least("skep", Rate, 1.0, "axum-tuned"),
    Goal::at_least("skep", Rate, 1.0, "rails"),
];

const FORTUNES: Same = Same::Page(&[(13, "<tr>\n<td>"), (1, "&lt;script&gt;")]);

const ROW: Same = Same::Rows { count: 1, written: false };

const ROWS: Same = Same::Rows { count: 20, written: false };

const WRITTEN: Same = Same::Rows { count: 20, written: true };

const fn experiment(
    name: &'static str,
    about: &'static str,
    variants: &'static [Variant],
    same: Same,
    goals: &'static [Goal],
) -> Experiment {
    Experiment { name, about, loads: KEEP_ALIVE, variants, absent: &[], same, goals }
}

/// All of them, in the order in which they run.
pub(super) const ALL: &[Experiment] = &[
    experiment(
        "pg-list",
        "the list page from PostgreSQL: 20 rows and a count, rendered",
        &[
            variant("skep", Program::SkepData(Postgres), "/list"),
            variant("axum-sqlx", SQLX, "/list"),
            variant("axum-sqlx-tuned", SQLX_TUNED, "/list"),
            variant("axum", Program::AxumPostgres, "/list"),
            variant("go", Program::GoPgx, "/list"),
            variant("rails", Program::RailsData(Postgres), "/list"),
        ],
        Same::Page(&[(articles::PER_PAGE, "<article>")]),
        &[
            Goal::at_least("skep", Rate, 2.0, "axum-sqlx"),
            Goal::at_most("skep", Cpu, 0.5, "axum-sqlx"),
            Goal::at_least("skep", Rate, 1.0, "axum-sqlx-tuned"),
            Goal::at_least("skep", Rate, 1.0, "axum"),
            Goal::at_least("skep", Rate, 1.0, "go"),
            Goal::at_least("skep", Rate, 1.0, "rails"),
        ],
    ),
    experiment("pg-db", "a row of PostgreSQL by a random id, as JSON", &postgres("/db"), ROW, POSTGRES_GOALS),
    experiment("pg-queries", "20 rows, each by a statement of its own", &postgres("/queries"), ROWS, POSTGRES_GOALS),
    experiment(
        "pg-fortunes",
        "12 texts and one more, sorted and escaped",
        &postgres("/fortunes"),
        FORTUNES,
        POSTGRES_GOALS,
    ),
    experiment("pg-updates", "20 rows read one by one, and written", &postgres("/updates"), WRITTEN, POSTGRES_GOALS),
    experiment("lite-db", "a row of SQLite by a random id, as JSON", &sqlite("/db"), ROW, SQLITE_GOALS),
    experiment("lite-queries", "20 rows, each by a statement of its own", &sqlite("/queries"), ROWS, SQLITE_GOALS),
    experiment(
        "lite-fortunes",
        "12 texts and one more, sorted and escaped",
        &sqlite("/fortunes"),
        FORTUNES,
        SQLITE_GOALS,
    ),
    experiment("lite-updates", "20 rows read one by one, and written", &sqlite("/updates"), WRITTEN, SQLITE_GOALS),
];
