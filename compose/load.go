package compose

import (
	"context"
	"errors"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/compose-spec/compose-go/v2/loader"
	"github.com/compose-spec/compose-go/v2/types"
	"go.yaml.in/yaml/v4"
)

// stack is the files that are given to one docker compose command.
type stack struct {
	name        string   // as startgate.compose.yaml has it, or ""
	files       []string // as given
	dir         string   // the project directory
	environment environment
	included    map[string]bool // variables that only includes set
	required    types.Mapping   // variables without which the loader refuses an include
	index       *index
	extended    map[string]*document // files that services extend from, by name
	opened      int                  // files that others name
	variables   int                  // of env_files
	model       node                 // merged, with its variables
	services    []*service
	settled     bool                       // all is known of the services
	reached     map[string][]*service      // by the names that they have for each other
	behind      map[string]map[string]bool // of each service, those that start only after it is healthy
	options     *Options
	findings    []Finding
	texts       map[string][]byte // of the files read, for the comments in them
}

// load reads a stack. What keeps it from being read is among its findings; the
// model is then empty.
func load(ctx context.Context, name string, files []string, o *Options) *stack {
	s := newStack(files, o)
	s.name = name
	s.environment = s.readEnvironment()
	var given []*document
	for _, file := range files {
		f, ok := s.read(file, Position{File: file})
		if !ok {
			continue
		}
		if !f.isCompose() {
			s.say(notCompose, Position{File: file, Line: 1, Column: 1}, nil, "this is no compose file")
			continue
		}
		s.follow(f, s.dir, nil)
		s.findTwice(f)
		given = append(given, f)
	}
	if len(given) == 0 {
		for i := range s.findings { // nothing is left that could be judged
			s.findings[i].Severity, s.findings[i].Unjudged = Error, true
		}
	}
	s.checkGrowth()
	if s.stuck() {
		return s
	}
	model, ok := merge(given)
	if !ok {
		var err error
		if model, err = s.loaded(ctx, given); err != nil {
			s.refused(given, err)
			return s
		}
	}
	if services, _ := model["services"].(map[string]any); len(services) > maxServices {
		s.say(notCompose, Position{File: s.files[0], Line: 1, Column: 1}, nil, "the stack has more than 1,000 services")
		return s
	}
	s.model.value = model
	s.validate()
	s.checkVariables()
	s.checkConsistency()
	s.makeServices()
	return s
}

func newStack(files []string, o *Options) *stack {
	s := &stack{
		files: files, dir: filepath.Dir(files[0]), index: newIndex(), environment: environment{},
		included: map[string]bool{}, required: types.Mapping{}, extended: map[string]*document{}, texts: map[string][]byte{}, options: o,
	}
	s.model = node{stack: s}
	return s
}

// maxServices bounds a stack: some rules hold each service against each.
const maxServices = 1000

// loaded is the model that compose-go's loader makes of the files together.
func (s *stack) loaded(ctx context.Context, files []*document) (model map[string]any, err error) {
	defer func() {
		if recover() != nil {
			err = errors.New("a value is not of the type that the loader expects")
		}
	}()
	var contents []types.ConfigFile
	for _, f := range files {
		contents = append(contents, types.ConfigFile{Filename: s.absolute(f.name), Content: f.content()})
	}
	return loader.LoadModelWithContext(ctx, types.ConfigDetails{
		WorkingDir: s.absolute(s.dir), ConfigFiles: contents, Environment: s.required,
	}, symbolic)
}

// symbolic are compose-go's options for a merged model whose variables stay as
// they are.
func symbolic(o *loader.Options) {
	o.SkipInterpolation = true
	o.SkipValidation = true
	o.SkipNormalization = true
	o.SkipConsistencyCheck = true
	o.SkipResolveEnvironment = true
	o.SkipResolveLabels = true
	o.SkipDefaultValues = true
	o.ResolvePaths = false
	o.SetProjectName("stack", true)
}

// stuck reports whether there is already a reason not to judge the model.
func (s *stack) stuck() bool {
	return slices.ContainsFunc(s.findings, func(f Finding) bool { return f.Unjudged })
}

// sayMissing finds a file that is not to be had. Where the rest is asked for, it
// is the rest that counts.
func (s *stack) sayMissing(asked Position, message phrase) {
	f := s.say(missingFile, asked, nil, message)
	if s.options.AllowPartial {
		f.as(Warn).Unjudged = false
	}
}

// namedPath finds the path in the text of an error of compose-go.
var namedPath = regexp.MustCompile(`(?:services|networks|volumes|secrets|configs)\.[A-Za-z0-9._-]+`)

// refused says why compose-go refuses the files: for what the specification
// does not take in one of them, for what is extended, or else where its error
// names a path.
func (s *stack) refused(files []*document, err error) {
	before := len(s.findings)
	for _, f := range files {
		for _, n := range f.nodes {
			if n.Decode(&s.model.value) == nil {
				s.validate()
			}
		}
	}
	s.model.value = nil
	s.checkBases()
	if len(s.findings) == before {
		at, p := s.blame(err)
		s.say(notCompose, at, p, "compose refuses the model that the files make together")
	}
}

// checkBases finds services that extend what is not there, or themselves.
func (s *stack) checkBases() {
	say := func(from string, message phrase) {
		at := path(strings.Split(from, separator)).with("extends")
		w, _ := s.index.find(at)
		s.say(notCompose, w.Position, at, message)
	}
	walk, walked := 0, map[string]int{} // in which walk along the bases a service was met
	for from, base := range s.index.bases {
		if _, ok := s.index.exact(base); !ok {
			say(from, noSuchService)
		}
		walk++
		for walked[from] == 0 && s.index.bases[from] != nil {
			walked[from] = walk
			from = s.index.bases[from].key()
		}
		if walked[from] != walk {
			continue
		}
		for at := from; ; {
			say(at, "the services extend each other in a circle")
			if at = s.index.bases[at].key(); at == from {
				break
			}
		}
	}
}

// blame is where an error of compose-go has its cause, as far as its text names
// a path that is in the files. Nothing of the text is kept: what looks like a
// path in it may be of a value, but for the part that the files have.
func (s *stack) blame(err error) (Position, path) {
	for _, text := range namedPath.FindAllString(err.Error(), -1) {
		for p := path(strings.Split(strings.TrimRight(text, "."), ".")); len(p) > 0; p = p[:len(p)-1] {
			if at, ok := s.index.exact(p); ok {
				return at.Position, p
			}
		}
	}
	return Position{File: s.files[0], Line: 1, Column: 1}, nil
}

// document is a parsed file.
type document struct {
	name    string
	text    []byte
	nodes   []*yaml.Node
	changed bool // a reference to a file that is not there was taken out
}

// read reads and parses a file of the stack, which is asked for at a position.
func (s *stack) read(file string, asked Position) (*document, bool) {
	content, reason := s.content(file)
	if reason != "" {
		s.sayMissing(asked, "the file "+phrase(reason)+": what it holds was not judged")
		return nil, false
	}
	if parts(content) > maxParts {
		s.say(notCompose, Position{file, 1, 1}, nil, "the file has far more parts than a stack's file has")
		return nil, false
	}
	s.texts[file] = content
	nodes, line, column, ok := documents(content)
	if !ok {
		s.say(badYAML, Position{file, line, column}, nil, "this is not YAML")
		return nil, false
	}
	return &document{name: file, text: content, nodes: nodes}, true
}

// stdin is the name of a file that stands for the standard input.
const stdin = "-"

func (s *stack) content(file string) ([]byte, unreadable) {
	if file != stdin || s.options.Stdin == nil {
		return readFile(s.absolute(file))
	}
	return readBounded(s.options.Stdin)
}

// absolute is where a file is that was named relative to this process's
// directory.
func (s *stack) absolute(file string) string {
	abs, err := filepath.Abs(file)
	if err != nil {
		return file
	}
	return abs
}

// content is the file's text, without what was taken out of it.
func (d *document) content() []byte {
	if !d.changed {
		return d.text
	}
	var out []byte
	for _, n := range d.nodes {
		text, err := yaml.Marshal(n)
		if err != nil {
			return d.text
		}
		out = append(append(out, "---\n"...), text...)
	}
	return out
}

// isCompose reports whether the file could be one for compose. An override may
// be empty.
func (d *document) isCompose() bool {
	for _, n := range d.nodes {
		root := resolve(n)
		if root == nil || root.Kind != yaml.MappingNode {
			return false
		}
		for _, key := range [...]string{"services", "include", "networks", "volumes", "secrets", "configs", "name"} {
			if entry(root, key) != nil {
				return true
			}
		}
	}
	return len(d.nodes) == 0
}

// resolve is the node that counts: a document's content, an alias's target.
func resolve(n *yaml.Node) *yaml.Node {
	for n != nil && (n.Kind == yaml.AliasNode || n.Kind == yaml.DocumentNode) {
		switch {
		case n.Kind == yaml.AliasNode:
			n = n.Alias
		case len(n.Content) == 0:
			return nil
		default:
			n = n.Content[0]
		}
	}
	return n
}

// entry is the value of a mapping's key, or nil.
func entry(n *yaml.Node, key string) *yaml.Node {
	if m, i := holder(n, key); m != nil {
		return resolve(m.Content[i+1])
	}
	return nil
}

// holder is the mapping that has n's key, be it one that a merge key brings in,
// and where it has it; nil when there is none.
func holder(n *yaml.Node, key string) (*yaml.Node, int) {
	all := []*yaml.Node{resolve(n)}
	for next := 0; next < len(all) && next < maxMerged; next++ {
		m := all[next]
		if m == nil || m.Kind != yaml.MappingNode {
			continue
		}
		for i := 0; i+1 < len(m.Content); i += 2 {
			if m.Content[i].Value == key {
				return m, i
			}
		}
		for i := 0; i+1 < len(m.Content); i += 2 {
			if m.Content[i].Tag != "!!merge" {
				continue
			}
			for _, each := range listed(m.Content[i+1]) {
				all = append(all, resolve(each))
			}
		}
	}
	return nil, 0
}

// maxMerged bounds how many mappings a key is looked for in: they may merge
// each other.
const maxMerged = 100

// listed are the items of a list, or the one node.
func listed(n *yaml.Node) []*yaml.Node {
	n = resolve(n)
	switch {
	case n == nil:
		return nil
	case n.Kind == yaml.SequenceNode:
		return n.Content
	}
	return []*yaml.Node{n}
}
