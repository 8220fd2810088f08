// Answer is a worker that answers over HTTP at the address that its argument
// names: with 200, or with 503 while there is a file /tmp/unready.
package main

import (
	"net/http"
	"os"
)

func main() {
	http.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		if _, err := os.Stat("/tmp/unready"); err == nil {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	})
	panic(http.ListenAndServe(os.Args[1], nil))
}
