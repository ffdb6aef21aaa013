greting = Hallo { $nme }
bees = { $count ->
    [one] eine Biene
    [few] ein paar Bienen
   *[other] { $cont } Bienen
}
