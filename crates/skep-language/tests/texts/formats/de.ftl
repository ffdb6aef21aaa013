due = Fällig am { DATETIME($day, dateStyle: "long") }, in { $days ->
    [one] einem Tag
   *[other] { $days } Tagen
}.
continue = Weiter
    .type = ein Knopf: { $type }
