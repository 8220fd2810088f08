package compose

import (
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

// maxFiles bounds how many files a stack may be made of.
const maxFiles = 200

const tooManyFiles phrase = "the stack is made of more than 200 files"

// follow indexes a file, and before it the files that it includes and extends
// from. References to files that are not there are taken out of it: the rest
// can be judged without them, when that is asked for. So are those to files that
// have such references, since compose-go's loader reads them anew.
func (s *stack) follow(d *document, dir string, chain []string) {
	chain = append(slices.Clip(chain), d.name)
	for _, doc := range d.nodes {
		root := resolve(doc)
		if root == nil || root.Kind != yaml.MappingNode {
			continue
		}
		s.followIncludes(d, root, dir, chain)
		s.followExtends(d, root, nil, dir)
	}
	s.put(d, nil)
}

// put indexes a file below root.
func (s *stack) put(d *document, root path) {
	for _, doc := range d.nodes {
		if s.index.excess.at == nil && !s.index.add(d.name, root, doc) {
			s.say(notCompose, Position{d.name, s.index.excess.at.Line, s.index.excess.at.Column}, nil, s.index.excess.says)
			return
		}
	}
}

func (s *stack) followIncludes(d *document, root *yaml.Node, dir string, chain []string) {
	includes := entry(root, "include")
	if includes == nil || includes.Kind != yaml.SequenceNode {
		return
	}
	includes.Content = slices.DeleteFunc(includes.Content, func(item *yaml.Node) bool {
		ok := true
		home := dir
		for i, name := range includePaths(item) {
			file := beside(name.Value, dir)
			if i == 0 {
				home = filepath.Dir(file)
				if project := entry(item, "project_directory"); project != nil && project.Value != "" {
					home = beside(project.Value, dir)
				}
				ok = s.readIncluded(entry(item, "env_file"), home, dir, Position{d.name, name.Line, name.Column})
			}
			if included, found := s.open(file, Position{d.name, name.Line, name.Column}, chain); found {
				s.follow(included, home, chain)
				s.findTwice(included)
				ok = ok && !included.changed
			} else {
				ok = false
			}
		}
		d.changed = d.changed || !ok
		return !ok
	})
}

// includePaths are the files of one entry of include, in its three spellings.
func includePaths(item *yaml.Node) []*yaml.Node {
	if item = resolve(item); item != nil && item.Kind == yaml.MappingNode {
		item = entry(item, "path")
	}
	return listed(item)
}

// followExtends notes which service each service extends, root being where the
// file is indexed.
func (s *stack) followExtends(d *document, doc *yaml.Node, root path, dir string) {
	services := entry(doc, "services")
	if services == nil || services.Kind != yaml.MappingNode {
		return
	}
	for i := 0; i+1 < len(services.Content); i += 2 {
		service := resolve(services.Content[i+1])
		extends := entry(service, "extends")
		if extends == nil {
			continue
		}
		from := root.with("services", services.Content[i].Value)
		base, file := extends, entry(extends, "file")
		if extends.Kind == yaml.MappingNode {
			base = entry(extends, "service")
		}
		if base == nil || base.Kind != yaml.ScalarNode {
			continue
		}
		if file == nil || beside(file.Value, dir) == filepath.Clean(d.name) {
			s.index.bases[from.key()] = root.with("services", base.Value)
			continue
		}
		name := beside(file.Value, dir)
		home := path{"file " + name}
		other := s.extended[name]
		if other == nil {
			if other, _ = s.open(name, Position{d.name, file.Line, file.Column}, nil); other != nil {
				s.extended[name] = other
				s.put(other, home)
				s.findTwice(other)
				for _, doc := range other.nodes {
					s.followExtends(other, doc, home, filepath.Dir(name))
				}
			}
		}
		if other == nil || other.changed {
			drop(service, "extends")
			d.changed = true
			continue
		}
		s.index.bases[from.key()] = home.with("services", base.Value)
	}
}

// beside is a file that a file in dir names.
func beside(name, dir string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(dir, name)
}

// open reads a file that another one names. chain are the files that must not
// include it.
func (s *stack) open(file string, asked Position, chain []string) (*document, bool) {
	s.opened++
	switch {
	case strings.Contains(file, "$"):
		// Its name would be a value, and compose-go reads it as it stands.
		s.sayMissing(asked, "a variable names this file: what it holds was not judged")
		return nil, false
	case slices.Contains(chain, file):
		s.say(notCompose, asked, nil, "the files include each other in a circle")
		return nil, false
	case s.opened > maxFiles:
		s.say(notCompose, asked, nil, tooManyFiles)
		return nil, false
	}
	return s.read(file, asked)
}

// drop takes a key out of a mapping.
func drop(n *yaml.Node, key string) {
	if m, i := holder(n, key); m != nil {
		m.Content = slices.Delete(m.Content, i, i+2)
	}
}
