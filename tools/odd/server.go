// The server of Go's standard library, for the table of odd requests: it reads the body, and answers 200.
package main

import (
	"io"
	"log"
	"net"
	"net/http"
	"os"
)

func main() {
	listener, err := net.Listen("tcp", os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	log.SetOutput(io.Discard)
	log.Fatal(http.Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			http.Error(w, "no body", http.StatusBadRequest)
			return
		}
		io.WriteString(w, "ok\n")
	})))
}
