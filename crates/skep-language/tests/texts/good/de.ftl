greeting = Hallo { $name }
    .title = Gruß
bees = { $count ->
    [one] eine Biene
   *[other] { $count } Bienen
}
never-used = Das liest niemand.
-never-referred-to = Das auch nicht.
