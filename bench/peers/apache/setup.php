<?php
// Puts the articles of the bench into a database: `php setup.php articles.json articles.sqlite`.
[$self, $from, $to] = $argv;
$db = new PDO("sqlite:$to", null, null, [PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION]);
$db->exec('create table article (slug text primary key, title text not null, summary text not null,
    published text not null, tags text not null)');
$db->exec('create index newest on article (published desc)');
$insert = $db->prepare('insert into article (slug, title, summary, published, tags) values (?, ?, ?, ?, ?)');
$db->beginTransaction();
foreach (json_decode(file_get_contents($from), true, 512, JSON_THROW_ON_ERROR) as $article) {
    $insert->execute($article);
}
$db->commit();
