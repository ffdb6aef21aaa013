due = Due on { DATETIME($day, dateStyle: "long") }, in { $days ->
    [one] a day
   *[other] { $days } days
}.
continue = Continue
    .type = a { $type } button
