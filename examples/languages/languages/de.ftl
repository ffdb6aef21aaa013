language-name = Deutsch

-site = { $case ->
       *[nominative] Die Imkerschule
        [dative] der Imkerschule
    }
title = { -site(case: "nominative") }
welcome = Willkommen in { -site(case: "dative") }
courses =
    { $count ->
        [0] Zurzeit gibt es keine Kurse.
        [one] Es gibt einen Kurs.
       *[other] Es gibt { $count } Kurse.
    }
to-course = { $name }, { $places ->
        [one] ein freier Platz
       *[other] { $places } freie Plätze
    }
spoken = Sprache
change = Wechseln

enrol = Anmelden
    .hint = Dieser Name steht auf Ihrer Urkunde.
your-name = Name
level = Stufe
level-beginner = Anfänger
level-keeper = Einige Jahre mit Bienen
course-full = { $course } ist voll, { $name }.
enrolled = Sie sind dabei, { $name }.

# Ein Text des Frameworks in anderen Worten.
skep-missing = Hier fehlt noch etwas.
