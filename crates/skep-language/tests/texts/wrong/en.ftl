greeting = Hello { $name }
bees = { $count ->
    [one] one bee
   *[other] { $count } bees
}
only-english = This is not translated.
broken = { $name
skep-mising = Please fill this in.
