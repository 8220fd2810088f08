//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/startgate/startgate/integration/internal/fixture"
)

// processes is how many the gates of a fleet are spread over.
const processes = 4

// settling is how long the processes of a fleet take to be there.
const settling = 300 * time.Millisecond

// fleet are gates under way.
type fleet struct {
	parts []*fixture.Process
	files []*os.File
}

// startFleet starts n gates in some processes of this program. On a real site
// they are on other machines, so that here they give way to the server.
func startFleet(lab *fixture.Lab, g gates) (*fleet, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	nice, err := exec.LookPath("nice")
	if err != nil {
		return nil, err
	}
	f := &fleet{}
	g.start = time.Now().Add(settling)
	for left, parts := g.n, min(g.n, processes); parts > 0; parts-- {
		g.n = left / parts
		left -= g.n
		out, err := os.Create(filepath.Join(lab.Dir, fmt.Sprintf("gates-%d", parts)))
		if err != nil {
			return nil, err
		}
		p, err := lab.Start(fixture.Command{Args: append([]string{nice, "-n", "5", self}, g.args()...), Env: os.Environ(), Stdout: out, Stderr: os.Stderr})
		if err != nil {
			return nil, err
		}
		f.parts, f.files = append(f.parts, p), append(f.files, out)
	}
	return f, nil
}

// wait waits until the last gate has ended.
func (f *fleet) wait() (lived, error) {
	all := newLived()
	for i, p := range f.parts {
		defer f.files[i].Close()
		if ended, err := p.Wait(); err != nil || ended.Exit != 0 {
			return all, fmt.Errorf("gates have ended with %d: %w", ended.Exit, err)
		}
		if _, err := f.files[i].Seek(0, 0); err != nil {
			return all, err
		}
		var part lived
		if err := json.NewDecoder(f.files[i]).Decode(&part); err != nil {
			return all, err
		}
		all.add(part)
	}
	return all, nil
}
