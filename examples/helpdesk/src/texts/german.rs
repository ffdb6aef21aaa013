//! German.

use skep::StatusCode;

use super::Texts;

pub(super) const TEXTS: Texts = Texts {
    language: "de",
    helpdesk: "Helpdesk",
    to_the_content: "Zum Inhalt",
    to_the_start: "Zum Anfang",
    main_menu: "Hauptmenü",
    footer: "Ein einziges Programm, geschrieben mit Skep.",
    pages: "Seiten",
    previous: "Zurück",
    next: "Weiter",
    error,
    sign_in: "Anmelden",
    sign_up: "Registrieren",
    sign_out: "Abmelden",
    name: "Name",
    email: "E-Mail",
    password: "Passwort",
    password_hint: "Mindestens zehn Zeichen.",
    wrong_password: "E-Mail-Adresse oder Passwort ist falsch.",
    weak_password: "Dieses Passwort ist zu leicht zu erraten.",
    taken_email: "Es gibt schon ein Konto mit dieser Adresse.",
    sign_up_hint: "Wir schicken einen Link an diese Adresse.",
    link_sent: "Bitte sehen Sie in Ihre Mails: Dort steht, wie es weitergeht.",
    link_used: "Dieser Link wurde schon benutzt oder ist zu alt.",
    welcome_subject: "Ihr Konto beim Helpdesk",
    welcome_mail: |link| format!("Wählen Sie innerhalb von 24 Stunden Namen und Passwort: {link}"),
    known_subject: "Sie haben ein Konto beim Helpdesk",
    known_mail: |link| {
        format!(
            "Jemand, vielleicht Sie, wollte sich mit dieser Adresse registrieren, die ein Konto hat. Anmelden: {link}"
        )
    },
    demo_accounts: "Konten zum Ausprobieren, mit dem Passwort",
    profile: "Profil",
    language_label: "Sprache",
    save: "Speichern",
    saved: "Gespeichert.",
    tokens: "Zugriffstoken",
    tokens_hint: "Ein Programm mit einem davon handelt für Sie. Was es darf, steht in",
    token_name: "Wozu es dient",
    create_token: "Token erzeugen",
    token_made: |token| format!("Dies ist Ihr Token. Es wird nur einmal angezeigt: {token}"),
    revoke: "Widerrufen",
    users: "Benutzer",
    role: "Rolle",
    locked: "Gesperrt",
    not_yourself: "Ihr eigenes Konto können Sie hier nicht ändern.",
    for_agents: "Dies ist für Betreuer.",
    for_admins: "Dies ist für Verwalter.",
    audit_trail: "Protokoll",
    at: "Zeit",
    action: "Aktion",
    path: "Pfad",
    tickets: "Tickets",
    my_tickets: "Meine Tickets",
    no_tickets: "Hier sind keine Tickets.",
    new_ticket: "Neues Ticket",
    ticket: "Ticket",
    title: "Titel",
    description: "Worum geht es?",
    search: "Suche",
    filter: "Filtern",
    status: "Status",
    priority: "Priorität",
    order: "Reihenfolge",
    tags: "Schlagworte",
    tags_hint: "Durch Leerzeichen getrennt.",
    customer: "Kunde",
    agent: "Betreuer",
    nobody: "Noch niemand",
    changed: "Geändert",
    created: "Erstellt",
    escalated: "Eskaliert",
    export: "Als CSV ausgeben",
    send: "Senden",
    reply: "Ihre Antwort",
    files: "Dateien",
    files_hint: "Bilder, PDF oder Text, je bis 5 MB.",
    note: "Notiz",
    note_hint: "Nur Betreuer sehen sie.",
    add_note: "Notiz anfügen",
    triage: "Einordnen",
    take: "Ich kümmere mich darum",
    ticket_made: |id| format!("Danke. Dies ist Ticket {id}."),
    status_page: "Status",
    all_is_well: "Alles gut: Kein dringendes Ticket ist offen.",
    urgent_tickets: |count| {
        if count == 1 {
            "Wir arbeiten an einem dringenden Ticket.".into()
        } else {
            format!("Wir arbeiten an {count} dringenden Tickets.")
        }
    },
    open_tickets: "Offen",
    waiting_tickets: "Warten auf Kunden",
    solved_this_week: "In sieben Tagen gelöst",
    first_answer: "Erste Antwort nach",
    hours: |hours| format!("{hours:.1} Stunden").replace('.', ","),
};

fn error(status: StatusCode) -> (&'static str, &'static str) {
    match status.as_u16() {
        401 => ("Nicht angemeldet", "Um dies zu sehen, müssen Sie sich anmelden."),
        403 => ("Nicht erlaubt", "Das dürfen Sie nicht."),
        404 => ("Nicht gefunden", "Diese Seite gibt es nicht, oder Sie dürfen sie nicht sehen."),
        413 => ("Zu groß", "Das ist mehr, als wir annehmen."),
        429 => ("Zu oft", "Bitte warten Sie ein wenig und versuchen es dann noch einmal."),
        503 => ("Überlastet", "Wir sind gerade überlastet. Bitte versuchen Sie es noch einmal."),
        400..500 => ("Das geht nicht", "Wir verstehen diese Anfrage nicht."),
        _ => ("Etwas ging schief", "Es liegt an uns, und wir haben es vermerkt."),
    }
}
