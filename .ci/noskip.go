//go:build ignore

// Noskip reads the events of go test -json and prints what go test itself would: what failing tests have written, and
// a line for each package. It exits 1 when a test was skipped, because in CI a test that did not run must not look
// like one that passed. Whether a test failed is left to the exit code of go test.
//
// Its arguments are tables of cases and the tests that hold them. It prints each case with what became of its tests,
// and exits 1 when one of them did not run at all.
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
	ended := map[string]string{} // how, by directory and name
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
		if e.Action == "pass" || e.Action == "fail" || e.Action == "skip" {
			ended[strings.TrimPrefix(e.Package, module)+"."+e.Test] = e.Action
		}
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
	code := 0
	for _, table := range os.Args[1:] {
		if !printCases(table, ended) {
			fmt.Println("Cases whose tests did not run count as failures here.\nFAIL")
			code = 1
		}
	}
	if skipped != "" {
		fmt.Printf("These tests were skipped, which counts as a failure here:\n%sFAIL\n", skipped)
		code = 1
	}
	os.Exit(code)
}

// module is what the names of all packages begin with.
const module = "github.com/startgate/startgate/"

// printCases prints a table with how the tests of each case have ended, and reports whether all of them ran.
func printCases(table string, ended map[string]string) (all bool) {
	text, err := os.ReadFile(table)
	if err != nil {
		log.Fatal(err)
	}
	all = true
	for line := range strings.Lines(string(text)) {
		fields := strings.Split(strings.TrimSpace(line), " | ")
		if len(fields) != 3 || strings.HasPrefix(line, "#") {
			continue // a heading
		}
		var results []string
		for name := range strings.SplitSeq(fields[2], "; ") {
			// go test writes the names of subtests without blanks.
			result, ran := ended[strings.ReplaceAll(name, " ", "_")]
			switch {
			case fields[2] == "not built":
				result = name
			case !ran:
				result, all = name+" DID NOT RUN", false
			default:
				result += " " + name
			}
			results = append(results, result)
		}
		fmt.Printf("%s  %-40s  %s\n", fields[0], fields[1], strings.Join(results, "; "))
	}
	return all
}
