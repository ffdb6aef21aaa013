<?php
// The blog's first page as PHP does it: a connection that stays with the process, 20 rows and a count, and HTML between.
const PER_PAGE = 20;
$db = new PDO('sqlite:' . getenv('POSTS_DATABASE'), null, null, [
    PDO::ATTR_PERSISTENT => true,
    PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION,
    PDO::SQLITE_ATTR_OPEN_FLAGS => PDO::SQLITE_OPEN_READONLY,
]);
$number = max(1, (int) ($_GET['page'] ?? 1));
$newest = $db->prepare('select slug, title, summary, published, tags from article order by published desc limit ? offset ?');
$newest->execute([PER_PAGE, ($number - 1) * PER_PAGE]);
$articles = $newest->fetchAll(PDO::FETCH_OBJ);
$count = (int) $db->query('select count(*) from article')->fetchColumn();
$pages = intdiv($count + PER_PAGE - 1, PER_PAGE);
$h = fn (string $text): string => htmlspecialchars($text, ENT_QUOTES);
header('Content-Type: text/html; charset=utf-8');
?>
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>Writings</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="stylesheet" href="/static/site.css">
<link rel="alternate" type="application/atom+xml" title="Writings" href="/feed.atom">
</head>
<body>
<header class="site">
<a class="name" href="/">Writings</a>
<nav aria-label="Site">
<a href="/" aria-current="page">Articles</a>
<a href="/archive">Archive</a>
<a href="/tags">Tags</a>
<a href="/search">Search</a>
</nav>
</header>
<main>
<h1>Newest articles</h1>
<?php foreach ($articles as $article): ?>
<article>
<h2><a href="/writings/<?= $h($article->slug) ?>"><?= $h($article->title) ?></a></h2>
<p class="meta">Published on <time datetime="<?= $h($article->published) ?>"><?= $h($article->published) ?></time></p>
<p class="summary"><?= $article->summary ?></p>
<ul class="tags" aria-label="Tags">
<?php foreach (explode(' ', $article->tags) as $tag): ?>
<li><a href="/?tag=<?= rawurlencode($tag) ?>" rel="tag"><?= $h($tag) ?></a></li>
<?php endforeach ?>
</ul>
</article>
<?php endforeach ?>
<nav class="pager" aria-label="Pages">
<span>Page <?= $number ?> of <?= $pages ?>, <?= $count ?> articles</span>
<?php if ($number > 1): ?>
<a href="/?page=<?= $number - 1 ?>" rel="prev">Newer articles</a>
<?php endif ?>
<?php if ($number < $pages): ?>
<a href="/?page=<?= $number + 1 ?>" rel="next">Older articles</a>
<?php endif ?>
</nav>
</main>
<footer>
<p>Written for the bench. <a href="/feed.atom">Atom</a> <a href="/feed.rss">RSS</a></p>
</footer>
</body>
</html>
