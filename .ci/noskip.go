//go:build ignore

// Noskip reads the events of go test -json and prints what go test itself would: what failing tests have written, and
// a line for each package. It exits 1 when a test was skipped, because in CI a test that did not run must not look
// like one that passed. Whether a test failed is left to the exit code of go test.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"os"
	"strings"
)

// An event is one line of go doc test2json. Events of a package as a whole have no Test.
type event struct {
	Action, Package, Test, Output string
}

type test struct{ pkg, name string }

func main() {
	log.SetFlags(0)
	written := map[test]string{} // by tests that have not ended yet
	skipped := ""

	lines := bufio.NewReader(os.Stdin)
	for {
		line, err := lines.ReadString('\n')
		if err == io.EOF {
			break
		}
		if err != nil {
			log.Fatal(err)
		}
		var e event
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			fmt.Print(line)
			continue
		}
		t := test{e.Package, e.Test}
		switch {
		case e.Action == "build-output":
			fmt.Print(e.Output)
		case e.Action == "output":
			if !strings.HasPrefix(e.Output, "=== ") {
				written[t] += e.Output
			}
		case e.Action == "fail" && e.Test == "":
			// A test that the end of its process has cut short has no event of its own.
			for other, text := range written {
				if other.pkg == e.Package && other.name != "" {
					fmt.Print(text)
					delete(written, other)
				}
			}
			fmt.Print(written[t])
			delete(written, t)
		case e.Action == "fail":
			fmt.Print(written[t])
			delete(written, t)
		case (e.Action == "pass" || e.Action == "skip") && e.Test == "":
			// A package with no tests counts as skipped, too. Its line comes last, after what TestMain may have written.
			all := strings.SplitAfter(strings.TrimSuffix(written[t], "\n"), "\n")
			fmt.Println(all[len(all)-1])
			delete(written, t)
		case e.Action == "skip":
			skipped += e.Package + "\n" + written[t]
			delete(written, t)
		case e.Action == "pass":
			delete(written, t)
		}
	}
	if skipped != "" {
		fmt.Printf("These tests were skipped, which counts as a failure here:\n%sFAIL\n", skipped)
		os.Exit(1)
	}
}
