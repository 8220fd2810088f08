package compose

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"regexp"
	"strconv"
	"strings"
	"syscall"

	"go.yaml.in/yaml/v4"
)

// maxFile bounds a file, in bytes.
const maxFile = 4 << 20

// maxParts bounds what a file's text is made of before it is parsed: each part
// is a node of some 200 bytes. A stack's file of 10,000 lines has 70,000.
const maxParts = 250_000

// parts is about how many nodes YAML finds in a text, and words in them, or more.
func parts(content []byte) int {
	n := 0
	var before byte = ' '
	for _, c := range content {
		switch c {
		case '\n', ',', ':', '[', '{', '-':
			n++
		case ' ':
			if before != ' ' {
				n++
			}
		}
		before = c
	}
	return n
}

// unreadable is why a file cannot be read, in constant words. "" is no reason.
type unreadable phrase

const (
	notFound   unreadable = "is not there"
	notAllowed unreadable = "may not be read"
	directory  unreadable = "is a directory"
	notRegular unreadable = "is no regular file"
	tooLarge   unreadable = "is larger than 4 MiB"
	ioFailed   unreadable = "cannot be read"
)

// readFile reads a regular file of bounded size. It opens nothing else: a FIFO
// would keep it waiting.
func readFile(name string) ([]byte, unreadable) {
	info, err := os.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return nil, notFound
	case errors.Is(err, fs.ErrPermission):
		return nil, notAllowed
	case err != nil:
		return nil, ioFailed
	case info.IsDir():
		return nil, directory
	case !info.Mode().IsRegular():
		return nil, notRegular
	case info.Size() > maxFile:
		return nil, tooLarge
	}
	f, err := os.Open(name)
	if errors.Is(err, fs.ErrPermission) {
		return nil, notAllowed
	} else if err != nil {
		return nil, ioFailed
	}
	defer f.Close()
	return readBounded(f)
}

func readBounded(r io.Reader) ([]byte, unreadable) {
	content, err := io.ReadAll(io.LimitReader(r, maxFile+1))
	switch {
	case err != nil:
		return nil, ioFailed
	case len(content) > maxFile:
		return nil, tooLarge
	}
	return content, ""
}

// documents parses all documents of a file. Where that fails, at is the place
// and line 0 means that the text says none.
func documents(content []byte) (docs []*yaml.Node, line, column int, ok bool) {
	d := yaml.NewDecoder(bytes.NewReader(content))
	for {
		var n yaml.Node
		err := d.Decode(&n)
		if errors.Is(err, io.EOF) {
			return docs, 0, 0, true
		}
		if err != nil {
			line, column = faultAt(err)
			// What is missing at the end is missed behind the last line.
			return nil, min(line, 1+bytes.Count(content, []byte("\n"))), column, false
		}
		docs = append(docs, &n)
	}
}

// place finds a mark in the text of an error of the YAML package, whose types
// for that are internal. The last one is that of the fault.
var place = regexp.MustCompile(`line (\d+)(?:, column (\d+))?`)

// faultAt is the place that a YAML error names.
func faultAt(err error) (line, column int) {
	all := place.FindAllStringSubmatch(err.Error(), -1)
	if len(all) == 0 {
		return 1, 1
	}
	last := all[len(all)-1]
	line, _ = strconv.Atoi(last[1])
	column, _ = strconv.Atoi(last[2])
	// The parser counts lines from 0, the scanner from 1 (yaml v4.0.0-rc.4).
	if strings.Contains(fmt.Sprintf("%T", err), "ParserError") {
		line++
	}
	return max(line, 1), max(column, 1)
}
