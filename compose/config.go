package compose

import (
	_ "embed"
	"time"

	"go.yaml.in/yaml/v4"
)

// ConfigName is the file that says what a compose file does not.
const ConfigName = "startgate.compose.yaml"

// Config is what startgate.compose.yaml says. Its zero value says nothing.
type Config struct {
	// Contract is the file of the contract of every worker that names none of
	// its own. Like all files here it is relative to the configuration.
	Contract string                   `yaml:"contract"`
	Stacks   map[string]StackConfig   `yaml:"stacks"`
	Services map[string]ServiceConfig `yaml:"services"`
	// Images are facts about images, by the name under image: or, where a
	// service is built, by the service's name.
	Images map[string]Image `yaml:"images"`
	Groups *Groups          `yaml:"groups"`
	Ignore []Ignore         `yaml:"ignore"`
	Source string           `yaml:"-"` // the file, for findings
	index  *index
}

// StackConfig are the files that are given to one docker compose command.
type StackConfig struct {
	Files    []string `yaml:"files"`
	Broker   string   `yaml:"broker"`   // external: it is in no file of the stack
	External []string `yaml:"external"` // hosts that are not services
	// Workers are the services that the stack is to have as workers, with how
	// many of each; all of them, and no others. Empty is any.
	Workers map[string]int `yaml:"workers"`
}

// ServiceConfig is what is said of a service.
type ServiceConfig struct {
	Role     string   `yaml:"role"`      // worker, broker or other
	Client   string   `yaml:"client"`    // the family of its Redis client
	Needs    []string `yaml:"needs"`     // services that it must wait for beside its broker
	Drain    Duration `yaml:"drain"`     // how long its jobs need to end after SIGTERM
	LoadTime Duration `yaml:"load_time"` // of a broker: how long its data set takes to load
	Contract string   `yaml:"contract"`
}

// Image is what is known of an image.
type Image struct {
	Entrypoint  []string          `yaml:"entrypoint"`
	Cmd         []string          `yaml:"cmd"`
	Healthcheck *bool             `yaml:"healthcheck"` // it has one of its own
	Env         map[string]string `yaml:"env"`
	Tools       []string          `yaml:"tools"` // programs that it has; nil is not known
}

// known reports whether anything is said about how the image starts.
func (i Image) known() bool { return i.Entrypoint != nil || i.Cmd != nil }

// Groups are workers that are one image each time, told apart by a key.
type Groups struct {
	Key      string   `yaml:"key"`
	All      []string `yaml:"all"`      // each must have its worker, and just one
	Distinct []string `yaml:"distinct"` // keys that no two of the workers may have in common
}

// Ignore suppresses findings.
type Ignore struct {
	Rule    string `yaml:"rule"`
	Service string `yaml:"service"` // "" is every one
	Stack   string `yaml:"stack"`   // "" is every one
	Reason  string `yaml:"reason"`
}

// Duration is a time.Duration that is written as 90s or 2m.
type Duration time.Duration

// UnmarshalYAML implements yaml.Unmarshaler.
func (d *Duration) UnmarshalYAML(n *yaml.Node) error {
	v, err := time.ParseDuration(n.Value)
	*d = Duration(v)
	return err
}

// image is what is said of a service's image.
func (c *Config) image(v *service) Image {
	name := v.at("image").text().effective
	for _, key := range [...]string{name, v.repository(), v.name} {
		if i, ok := c.Images[key]; ok && key != "" {
			return i
		}
	}
	return Image{}
}

// ConfigSchema is the JSON Schema (2020-12) of startgate.compose.yaml, for
// editors.
//
//go:embed config.schema.json
var ConfigSchema string

// LoadConfig reads a startgate.compose.yaml. Its faults are findings, all at
// once; the configuration is nil when there is one.
func LoadConfig(file string) (*Config, []Finding) {
	s := &stack{files: []string{file}, index: newIndex(), texts: map[string][]byte{}, options: &Options{Config: &Config{}}}
	s.model = node{stack: s}
	d, ok := s.read(file, Position{File: file})
	if !ok {
		return nil, s.findings
	}
	c := &Config{Source: file, index: s.index}
	if len(d.nodes) != 1 {
		s.say(badConfig, Position{file, 1, 1}, nil, "the configuration is one YAML document")
		return nil, s.findings
	}
	if s.put(d, nil); len(s.findings) > 0 {
		return nil, s.findings
	}
	s.checkConfig(d.nodes[0])
	if len(s.findings) > 0 {
		return nil, s.findings
	}
	if err := d.nodes[0].Decode(c); err != nil {
		s.say(badConfig, Position{file, 1, 1}, nil, "the configuration cannot be read")
		return nil, s.findings
	}
	return c, nil
}

// configSays is what is said of the refusals of the configuration's schema.
var configSays = map[refusal]phrase{
	refusedValue:  "this value is not one that the configuration takes here",
	refusedType:   "the configuration wants a value of another type here",
	refusedFormat: "this is no duration such as 90s or 2m",
	missingKey:    "the configuration wants a key here that is not there",
	unknownKey:    "the configuration knows no such key",
}

// checkConfig holds a configuration against its schema.
func (s *stack) checkConfig(n *yaml.Node) {
	var value any
	if n.Decode(&value) != nil {
		s.say(badConfig, Position{s.files[0], 1, 1}, nil, "the configuration cannot be read")
		return
	}
	s.model.value = value
	rules := parseSchema(ConfigSchema, map[string]func(string) bool{"duration": func(text string) bool {
		_, err := time.ParseDuration(text)
		return err == nil
	}})
	for _, f := range s.causes(rules.validate(value)) {
		s.refuse(badConfig, f, configSays)
	}
}
