greeting = Hello { $name }
    .title = Greeting
bees = { $count ->
    [one] one bee
   *[other] { $count } bees
}
never-used = Nobody reads this.
-never-referred-to = Nor this.
