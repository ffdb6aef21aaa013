// Hello, an echo and files from net/http, with TLS and HTTP/2 if it has a certificate.
//
// Run: GOMAXPROCS=1 http PORT FILES [CERTIFICATE KEY]. It ends on SIGTERM, by the signal's default.
package main

import (
	"io"
	"log"
	"net/http"
	"os"
)

func hello(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/plain")
	io.WriteString(w, "Hello, world!")
}

func echo(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Write(body)
}

func main() {
	address, folder := "127.0.0.1:"+os.Args[1], os.Args[2]
	http.HandleFunc("GET /{$}", hello)
	http.HandleFunc("POST /echo", echo)
	http.Handle("GET /", http.FileServer(http.Dir(folder)))
	if len(os.Args) > 4 {
		log.Fatal(http.ListenAndServeTLS(address, os.Args[3], os.Args[4], nil))
	}
	log.Fatal(http.ListenAndServe(address, nil))
}
