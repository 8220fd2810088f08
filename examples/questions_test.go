package examples_test

import (
	"regexp"
	"testing"

	"github.com/startgate/startgate/envcheck"
)

// code is what looks like a code of a diagnostic in Markdown.
var code = regexp.MustCompile("`((?:redis|worker|never|env)_[a-z_]+)`")

// The codes that the questions are about are ones that the gate says.
func TestQuestionsAreAboutRealCodes(t *testing.T) {
	asked := code.FindAllStringSubmatch(read(t, ".", "README.md"), -1)
	if len(asked) < 8 {
		t.Fatalf("only %d codes are asked about", len(asked))
	}
	for _, m := range asked {
		if _, ok := envcheck.Explain(m[1]); !ok {
			t.Errorf("%s is no code", m[1])
		}
	}
}
