<?php
// Nothing outlives a request here: both counters are always 1.
class Server
{
    public static int $shared = 0;
}

header('Content-Type: text/plain');
$local = 0;
printf("static %d, local %d\n", ++Server::$shared, ++$local);
