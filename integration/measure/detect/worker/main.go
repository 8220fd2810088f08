// Worker is a queue worker that says when it began and whether Redis was still
// loading then. It is linked with -E stamp: see the assembly beside, which
// writes the time before the Go runtime has started.
package main

import (
	"fmt"
	"net/url"
	"os"

	"github.com/startgate/startgate/integration/internal/resp"
)

func main() {
	loading, err := ask(os.Getenv("REDIS_URL"))
	if err != nil {
		fmt.Fprintln(os.Stderr, "worker:", err)
		os.Exit(1)
	}
	fmt.Println(loading)
}

func ask(rawURL string) (loading bool, err error) {
	u, err := url.Parse(rawURL)
	if err != nil {
		return false, err
	}
	conn, err := resp.Dial(u.Host, "")
	if err != nil {
		return false, err
	}
	defer conn.Close()
	return conn.Loading()
}
