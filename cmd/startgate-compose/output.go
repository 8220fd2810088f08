package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"

	"github.com/startgate/startgate/compose"
)

// write writes a report in one format. It reports whether that went well.
func (p program) write(o output, r compose.Report, c command) bool {
	var b bytes.Buffer
	if render(&b, o, r, c, p.color && o.file == "") != nil {
		return false
	}
	if o.file == "" {
		_, err := p.stdout.Write(b.Bytes())
		return err == nil
	}
	return replace(o.file, b.Bytes()) == nil
}

func render(w io.Writer, o output, r compose.Report, c command, color bool) error {
	switch o.format {
	case "json":
		return compose.WriteJSON(w, r, version())
	case "sarif":
		return compose.WriteSARIF(w, r, version())
	case "junit":
		return compose.WriteJUnit(w, r, c.failOn)
	case "github":
		return compose.WriteGitHub(w, r)
	}
	return compose.WriteText(w, r, c.quiet, color)
}

// replace writes a file so that whoever reads it sees the old one or the whole
// new one. A pipe or a device is written to as it is.
func replace(file string, content []byte) error {
	if info, err := os.Stat(file); err == nil && !info.Mode().IsRegular() {
		return os.WriteFile(file, content, 0o666)
	}
	f, err := os.CreateTemp(filepath.Dir(file), ".startgate-compose-")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // nothing is there when all went well
	_, err = f.Write(content)
	if err == nil {
		err = f.Chmod(0o644) // CreateTemp's 0600 would keep it from the next step of a job
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return err
	}
	return os.Rename(f.Name(), file)
}
