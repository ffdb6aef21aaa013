# Die Texte des Frameworks. Eine Anwendung ersetzt einen, indem sie seinen Namen in einer eigenen Datei angibt.

skep-missing = Bitte ausfüllen.
skep-repeated = Hier wird ein Wert erwartet, es kamen mehrere.
skep-too-short = Das ist zu kurz: mindestens { $min } Zeichen.
skep-too-long = Das ist zu lang: höchstens { $max } Zeichen, und dies sind { $length }.
skep-not-one-line = Zeilenumbrüche und Steuerzeichen passen hier nicht.
skep-control-characters = Steuerzeichen passen hier nicht.
skep-not-email = Das ist keine E-Mail-Adresse: Sie sieht aus wie name@example.org.
skep-not-url = Das ist keine Webadresse: Sie beginnt mit https:// oder http://.
skep-not-number = Das ist keine Zahl.
skep-not-whole = Das ist keine ganze Zahl.
skep-too-small = Das ist zu wenig: mindestens { $min }.
skep-too-large = Das ist zu viel: höchstens { $max }.
skep-too-precise =
    { $places ->
        [0] Nachkommastellen passen hier nicht.
        [one] Höchstens eine Nachkommastelle passt hier.
       *[other] Höchstens { $places } Nachkommastellen passen hier.
    }
skep-not-date = Das ist kein Datum: Es sieht aus wie 2026-12-31.
skep-not-time = Das ist keine Uhrzeit: Sie sieht aus wie 18:30.
skep-not-date-time = Das ist kein Zeitpunkt: Er sieht aus wie 2026-12-31T18:30.
skep-not-choice = Bitte eines von denen wählen, die angeboten werden.
skep-file-too-large = Diese Datei ist zu groß: höchstens { $limit }.
skep-file-size =
    { $unit ->
        [byte]
            { $count ->
                [one] ein Byte
               *[other] { $count } Bytes
            }
        [kilobyte] { $count } kB
        [megabyte] { $count } MB
       *[gigabyte] { $count } GB
    }
skep-file-kind = Eine Datei dieser Art passt hier nicht, aber diese: { $accept }.
skep-expected = Das passt nicht. Erwartet wird: { $expected }.
skep-expired = Dieses Formular wurde vor zu langer Zeit angezeigt. Bitte durchsehen und noch einmal senden.
skep-no-cookie = Der Browser hat kein Cookie dieser Seite gesendet, das dieses Formular braucht. Bitte erlauben und noch einmal senden.
skep-spent = Dieses Formular wurde schon gesendet und wird nur einmal angenommen. Es ist nichts ein zweites Mal geschehen.
skep-conflict = Jemand anderes hat dies inzwischen geändert, deshalb wurde nichts gespeichert. Bitte durchsehen: Noch einmal gesendet, ersetzt es, was jetzt dort steht.
skep-changed = Jemand anderes hat dies geändert in: { $now }
    .empty = Jemand anderes hat dies geändert.
skep-time-left-out = Die Uhren werden an diesem Tag vorgestellt, { $from } gibt es nicht: Es ist dann schon { $to }.
skep-time-twice = Die Uhren werden an diesem Tag zurückgestellt, { $time } gibt es zweimal: Welches Mal ist gemeint?
skep-error =
    { $status ->
        [400] Die Anfrage war nicht zu verstehen.
        [401] Um dies zu sehen, müssen Sie sich anmelden.
        [403] Das dürfen Sie nicht sehen.
        [404] Unter dieser Adresse gibt es keine Seite.
        [405] Diese Seite beantwortet solche Anfragen nicht.
        [408] Die Anfrage kam zu langsam an.
        [413] Was gesendet wurde, ist zu groß.
        [414] Die Adresse ist zu lang.
        [429] Das waren zu viele Anfragen. Bitte versuchen Sie es in einem Augenblick noch einmal.
        [431] Der Kopf der Anfrage ist zu groß.
        [500] Bei uns ist etwas schiefgegangen. Es wurde vermerkt.
        [503] Der Server ist überlastet. Bitte versuchen Sie es in einem Augenblick noch einmal.
       *[other] Die Anfrage konnte nicht beantwortet werden.
    }
    .title =
    { $status ->
        [400] Ungültige Anfrage
        [401] Nicht angemeldet
        [403] Nicht erlaubt
        [404] Nicht gefunden
        [405] Methode nicht erlaubt
        [408] Zeit überschritten
        [409] Konflikt
        [410] Nicht mehr da
        [413] Zu groß
        [414] Adresse zu lang
        [415] Unbekanntes Format
        [422] Eingabe nicht annehmbar
        [429] Zu viele Anfragen
        [431] Kopf der Anfrage zu groß
        [500] Fehler auf dem Server
        [502] Kein Ergebnis von einem anderen Server
        [503] Nicht verfügbar
        [504] Ein anderer Server war zu langsam
       *[other] Fehler
    }
skep-input =
    { $kind ->
        [missing] { $name } fehlt. Erwartet wird: { $expected }
        [repeated] { $name } ist mehr als einmal angegeben
        [invalid] { $name }: { $value } passt nicht. Erwartet wird: { $expected }
        [invalid-secret] { $name }: Dieser Wert passt nicht. Erwartet wird: { $expected }
        [not-offered] { $name }: { $value } wird hier nicht angeboten
        [secret-not-offered] { $name }: Dieser Wert wird hier nicht angeboten
        [incomplete] Der Adresse fehlt: { $name }
        [not-utf8] { $name } ist kein UTF-8
        [not-json] Der Inhalt ist kein JSON (Zeile { $name }, Spalte { $value })
        [missing-member] Das Feld „{ $name }“ fehlt.
       *[unfit] Dieser Wert passt nicht ({ $expected }).
    }
skep-wanted =
    { $kind ->
        [whole] eine ganze Zahl von { $first } bis { $last }
        [number] eine Zahl
        [bool] true oder false
        [date] ein Datum wie 2026-12-31
        [time] eine Uhrzeit wie 18:30
        [date-time] Datum und Uhrzeit wie 2026-12-31T18:30
        [choice] { $first } oder { $last }
       *[other] { $last }
    }
skep-to-first-page = Zur ersten Seite
