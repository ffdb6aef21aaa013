module http

go 1.24
