<?php
// The list: 20 rows from SQLite through PDO, and a template that is PHP itself.
$db = new PDO('sqlite:' . getenv('POSTS_DATABASE'));
$articles = $db->query('select slug, title, published, summary, tags from article order by published desc limit 20');
require 'page.phtml';
