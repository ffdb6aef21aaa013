// The posts' programs on Express: a hello, two counters, a list from SQLite, and files in the four ways of the post on Dart.
//
// Run: node server.js PORT DATABASE FILES. It ends on SIGTERM, by the signal's default.
const fs = require("node:fs");
const path = require("node:path");
const Database = require("better-sqlite3");
const express = require("express");
const session = require("express-session");

const [port, database, files] = process.argv.slice(2);
const db = new Database(database, { readonly: true });
const app = express();
app.set("view engine", "ejs");
app.set("views", __dirname);
app.enable("view cache");

app.get("/hello", (request, response) => response.type("text").send("Hello, world!"));

let shared = 0;
app.get("/count", (request, response) => {
  let local = 0;
  response.type("text").send(`static ${++shared}, local ${++local}\n`);
});

const list = (table) => {
  const rows = db.prepare(`select slug, title, published, summary, tags from ${table} order by published desc limit 20`);
  return (request, response) => response.render("page", { articles: rows.all() });
};
app.get("/page", list("article"));
app.get("/empty", list("blank"));

// The file that a request names, if there is one: a check that blocks, as the post has it.
const publicPath = (request) => {
  const file = path.join(files, path.normalize("/" + request.params.file));
  return fs.existsSync(file) ? file : null;
};

// Matched by one check, answered after another.
app.get("/twice/:file", (request, response, next) => (publicPath(request) ? next() : next("route")), (request, response) =>
  response.sendFile(publicPath(request)));

// Matched by a check whose result goes by way of a session.
app.get("/session/:file", session({ secret: "posts", resave: false, saveUninitialized: true }), (request, response, next) => {
  request.session.path = publicPath(request);
  return request.session.path ? next() : next("route");
}, (request, response) => response.sendFile(request.session.path));

// The same by way of the request, which is what Express has for it.
app.get("/once/:file", (request, response, next) => {
  response.locals.path = publicPath(request);
  return response.locals.path ? next() : next("route");
}, (request, response) => response.sendFile(response.locals.path));

app.use(express.static(files));
app.listen(Number(port), "127.0.0.1");
