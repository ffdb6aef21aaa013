// What the server of Go's standard library reads from bytes of a connection, for the fuzz target `framing`.
//
// Input: the number of bytes (32 bits, little-endian), and the bytes. Output: the number of requests that were read with their whole
// body, and of each the number of its fields, and these with their lengths: method, target, host, body, and names and values of the header.
package main

import (
	"bufio"
	"encoding/binary"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"time"
)

// A connection of which everything has arrived, and to which nothing is sent.
type connection struct {
	rest []byte
	// The requests of this connection.
	read [][]string
	done chan struct{}
}

func (c *connection) Read(buffer []byte) (int, error) {
	if len(c.rest) == 0 {
		return 0, io.EOF
	}
	count := copy(buffer, c.rest)
	c.rest = c.rest[count:]
	return count, nil
}

func (c *connection) Write(bytes []byte) (int, error) { return len(bytes), nil }

func (c *connection) end() {
	select {
	case <-c.done:
	default:
		close(c.done)
	}
}

func (c *connection) Close() error { c.end(); return nil }

// The server waits half a second between this and Close.
func (c *connection) CloseWrite() error { c.end(); return nil }

func (c *connection) LocalAddr() net.Addr              { return &net.TCPAddr{} }
func (c *connection) RemoteAddr() net.Addr             { return &net.TCPAddr{} }
func (c *connection) SetDeadline(time.Time) error      { return nil }
func (c *connection) SetReadDeadline(time.Time) error  { return nil }
func (c *connection) SetWriteDeadline(time.Time) error { return nil }

type listener chan *connection

func (l listener) Accept() (net.Conn, error) { return <-l, nil }
func (l listener) Close() error              { return nil }
func (l listener) Addr() net.Addr            { return &net.TCPAddr{} }

// There is one connection at a time.
var current *connection

func handle(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	// Not a success, with which CONNECT would end HTTP.
	w.WriteHeader(http.StatusNotFound)
	if err != nil {
		return
	}
	request := []string{r.Method, r.RequestURI, r.Host, string(body)}
	for name, values := range r.Header {
		for _, value := range values {
			request = append(request, name, value)
		}
	}
	current.read = append(current.read, request)
}

func main() {
	connections := make(listener)
	server := &http.Server{
		Handler: http.HandlerFunc(handle), DisableGeneralOptionsHandler: true,
		ErrorLog: log.New(io.Discard, "", 0),
	}
	go server.Serve(connections)
	in, out := bufio.NewReader(os.Stdin), bufio.NewWriter(os.Stdout)
	number := func(value int) { binary.Write(out, binary.LittleEndian, uint32(value)) }
	for {
		var length uint32
		if binary.Read(in, binary.LittleEndian, &length) != nil {
			return
		}
		bytes := make([]byte, length)
		if _, err := io.ReadFull(in, bytes); err != nil {
			return
		}
		current = &connection{rest: bytes, done: make(chan struct{})}
		connections <- current
		<-current.done
		number(len(current.read))
		for _, request := range current.read {
			number(len(request))
			for _, field := range request {
				number(len(field))
				out.WriteString(field)
			}
		}
		out.Flush()
	}
}
