language-name = Deutsch
studio = Offenes Atelier
to-the-content = Zum Inhalt
main-menu = Hauptmenü
spoken = Sprache
change = Wechseln
times-in = Uhrzeiten gelten für { $zone }.
demo-accounts =
    Konten zum Ausprobieren: ada@example.org ist Admin, theo@example.org Trainer, mia@example.org und
    max@example.org sind Mitglieder. Das Passwort von allen ist „{ $password }“.

sign-in = Anmelden
sign-out = Abmelden
email = E-Mail
name = Name
accounts = Konten
role = Rolle
role-member = Mitglied
role-trainer = Kursleitung
role-admin = Verwaltung
not-yourself = Die eigene Rolle lässt sich nicht ändern.
change-password = Passwort ändern
profile = Profil
zone = Zeitzone
token = Zugriffstoken
token-hint = Damit handelt ein Programm für Sie. Was es fragen kann:
create-token = Neues Token
token-made = Ihr Token, das nur dieses eine Mal zu sehen ist: { $token }

week = Woche
week-of = Woche ab { $day }
weeks = Wochen
today = Heute
pages = Seiten
previous = Zurück
next = Weiter
plan = Plan
plan-hint = Eine Seite über der JSON-Schnittstelle.
courses = Kurse
no-courses = Es gibt keine Kurse.
filter = Filtern
title = Titel
about = Beschreibung
trainer = Leitung
level = Stufe
level-beginner = Anfänger
level-advanced = Fortgeschrittene
level-all = Alle
minutes = Minuten
lasts = { $minutes } Minuten
places = Plätze
places-free =
    { $count ->
        [0] ausgebucht
        [one] ein Platz frei
       *[other] { $count } Plätze frei
    }
places-are-taken = { $count } Plätze sind schon vergeben.
price = Preis
free-of-charge = Kostenlos
starts = Beginn
which-time = Welche der beiden Uhrzeiten
new-course = Neuer Kurs
edit = Bearbeiten
save = Speichern
saved = Gespeichert.
back = Zurück
picture = Bild (PNG oder JPEG)
unreadable-picture = Dieses Bild lässt sich nicht lesen oder hat mehr als 50 Millionen Pixel.

my-bookings = Meine Buchungen
nothing-booked = Sie haben nichts gebucht.
book = Buchen
booked = Gebucht
cancel = Buchung stornieren
cancelled = Die Buchung ist storniert.
waiting = wartet
waiting-place = Sie stehen an Stelle { $place } der Warteliste.
join-waiting-list = Auf die Warteliste
sign-in-to-book = Zum Buchen anmelden
too-late = Dieser Kurs hat begonnen.
you-are-in = Sie haben einen Platz.
you-wait = Sie stehen auf der Warteliste. Wir schreiben Ihnen, sobald ein Platz frei ist.

participants = Teilnehmende
no-participants = Noch hat niemand gebucht.
came = Da
spreadsheet = Als Tabelle

mail-booked = { $title }: Ihr Platz
mail-waiting = { $title }: Warteliste
mail-reminder = { $title } ist morgen
see-you = Bis bald!
to-the-course = Zum Kurs
