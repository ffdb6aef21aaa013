// Pages and JSON from PostgreSQL with net/http, pgx and html/template. pgx prepares statements by itself; those that do not depend on each
// other are sent as a batch.
//
// Run: GOMAXPROCS=1 pgx PORT ADDRESS CONNECTIONS. It ends on SIGTERM, by the signal's default.
package main

import (
	"bytes"
	"cmp"
	"context"
	"embed"
	"encoding/json"
	"html/template"
	"log"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

const (
	rows    = 20
	perPage = 20

	newest   = "select slug, title, summary, published, tags from article order by published desc, id desc limit $1"
	count    = "select count(*) from article"
	byID     = "select id, randomnumber from world where id = $1"
	fortunes = "select id, message from fortune"
	update   = "update world set randomnumber = other.number " +
		"from (select unnest($1::int[]) as id, unnest($2::int[]) as number) other where world.id = other.id"
)

//go:embed list.html fortunes.html
var files embed.FS

var pages = template.Must(template.New("").Funcs(template.FuncMap{"words": strings.Fields}).ParseFS(files, "*.html"))

type article struct{ Slug, Title, Summary, Published, Tags string }

type list struct {
	Articles     []article
	Count, Pages int
}

type world struct {
	ID     int32 `json:"id"`
	Number int32 `json:"randomNumber"`
}

type fortune struct {
	ID      int32
	Message string
}

func random() int32 {
	return rand.Int32N(10_000) + 1
}

func readList(ctx context.Context, db *pgxpool.Pool) (page list, err error) {
	var batch pgx.Batch
	batch.Queue(newest, perPage).Query(func(found pgx.Rows) error {
		page.Articles, err = pgx.CollectRows(found, pgx.RowToStructByPos[article])
		return err
	})
	batch.Queue(count).QueryRow(func(row pgx.Row) error { return row.Scan(&page.Count) })
	err = db.SendBatch(ctx, &batch).Close()
	page.Pages = (page.Count + perPage - 1) / perPage
	return page, err
}

func readWorld(ctx context.Context, db *pgxpool.Pool) (found world, err error) {
	err = db.QueryRow(ctx, byID, random()).Scan(&found.ID, &found.Number)
	return found, err
}

func readWorlds(ctx context.Context, db *pgxpool.Pool) ([]world, error) {
	var batch pgx.Batch
	found := make([]world, rows)
	for i := range found {
		batch.Queue(byID, random()).QueryRow(func(row pgx.Row) error { return row.Scan(&found[i].ID, &found[i].Number) })
	}
	return found, db.SendBatch(ctx, &batch).Close()
}

// The rows are written in one order, so that no two requests wait for each other.
func writeWorlds(ctx context.Context, db *pgxpool.Pool) ([]world, error) {
	found, err := readWorlds(ctx, db)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(found, func(a, b world) int { return cmp.Compare(a.ID, b.ID) })
	ids, numbers := make([]int32, rows), make([]int32, rows)
	for i := range found {
		found[i].Number = random()
		ids[i], numbers[i] = found[i].ID, found[i].Number
	}
	_, err = db.Exec(ctx, update, ids, numbers)
	return found, err
}

func readFortunes(ctx context.Context, db *pgxpool.Pool) ([]fortune, error) {
	found, err := db.Query(ctx, fortunes)
	if err != nil {
		return nil, err
	}
	all, err := pgx.CollectRows(found, pgx.RowToStructByPos[fortune])
	all = append(all, fortune{0, "Added while the request was handled."})
	slices.SortFunc(all, func(a, b fortune) int { return cmp.Compare(a.Message, b.Message) })
	return all, err
}

func asJSON[T any](db *pgxpool.Pool, read func(context.Context, *pgxpool.Pool) (T, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		value, err := read(r.Context(), db)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		if err := json.NewEncoder(w).Encode(value); err != nil {
			log.Print(err)
		}
	}
}

func asPage[T any](db *pgxpool.Pool, name string, read func(context.Context, *pgxpool.Pool) (T, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		value, err := read(r.Context(), db)
		var page bytes.Buffer
		if err == nil {
			err = pages.ExecuteTemplate(&page, name, value)
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Content-Length", strconv.Itoa(page.Len()))
		if _, err := page.WriteTo(w); err != nil {
			log.Print(err)
		}
	}
}

func main() {
	config, err := pgxpool.ParseConfig(os.Args[2])
	if err != nil {
		log.Fatal(err)
	}
	connections, err := strconv.Atoi(os.Args[3])
	if err != nil {
		log.Fatal(err)
	}
	config.MaxConns = int32(connections)
	db, err := pgxpool.NewWithConfig(context.Background(), config)
	if err != nil {
		log.Fatal(err)
	}
	http.HandleFunc("GET /list", asPage(db, "list.html", readList))
	http.HandleFunc("GET /db", asJSON(db, readWorld))
	http.HandleFunc("GET /queries", asJSON(db, readWorlds))
	http.HandleFunc("GET /fortunes", asPage(db, "fortunes.html", readFortunes))
	http.HandleFunc("GET /updates", asJSON(db, writeWorlds))
	log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Args[1], nil))
}
