// The posts' programs on net/http: a hello, two counters, a list from SQLite, and files.
//
// Run: GOMAXPROCS=1 posts PORT DATABASE FILES. It ends on SIGTERM, by the signal's default.
package main

import (
	"database/sql"
	"embed"
	"fmt"
	"html/template"
	"log"
	"net/http"
	"os"
	"strings"
	"sync/atomic"

	_ "github.com/mattn/go-sqlite3"
)

//go:embed page.html
var files embed.FS

var page = template.Must(template.New("page.html").Funcs(template.FuncMap{"words": strings.Fields}).ParseFS(files, "page.html"))

type article struct{ Slug, Title, Published, Summary, Tags string }

func rows(db *sql.DB, table string) ([]article, error) {
	found, err := db.Query("select slug, title, published, summary, tags from " + table + " order by published desc limit 20")
	if err != nil {
		return nil, err
	}
	defer found.Close()
	var articles []article
	for found.Next() {
		var a article
		if err := found.Scan(&a.Slug, &a.Title, &a.Published, &a.Summary, &a.Tags); err != nil {
			return nil, err
		}
		articles = append(articles, a)
	}
	return articles, found.Err()
}

func list(db *sql.DB, table string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		articles, err := rows(db, table)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		if err := page.Execute(w, articles); err != nil {
			log.Print(err)
		}
	}
}

func main() {
	port, database, folder := os.Args[1], os.Args[2], os.Args[3]
	db, err := sql.Open("sqlite3", "file:"+database+"?mode=ro")
	if err != nil {
		log.Fatal(err)
	}
	var shared atomic.Int64
	http.HandleFunc("GET /hello", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, "Hello, world!")
	})
	http.HandleFunc("GET /count", func(w http.ResponseWriter, r *http.Request) {
		local := 0
		local++
		fmt.Fprintf(w, "static %d, local %d\n", shared.Add(1), local)
	})
	http.HandleFunc("GET /page", list(db, "article"))
	http.HandleFunc("GET /empty", list(db, "blank"))
	http.Handle("GET /", http.FileServer(http.Dir(folder)))
	log.Fatal(http.ListenAndServe("127.0.0.1:"+port, nil))
}
