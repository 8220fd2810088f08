package examples_test

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

// The types have the fields that the task definition uses and no others.
type (
	taskDefinition struct {
		Family                  string          `json:"family"`
		RequiresCompatibilities []string        `json:"requiresCompatibilities"`
		NetworkMode             string          `json:"networkMode"`
		CPU                     string          `json:"cpu"`
		Memory                  string          `json:"memory"`
		ExecutionRoleARN        string          `json:"executionRoleArn"`
		ContainerDefinitions    []taskContainer `json:"containerDefinitions"`
	}
	taskContainer struct {
		Name             string           `json:"name"`
		Image            string           `json:"image"`
		Essential        bool             `json:"essential"`
		EntryPoint       []string         `json:"entryPoint,omitempty"`
		Command          []string         `json:"command"`
		User             string           `json:"user"`
		Environment      []variable       `json:"environment"`
		Secrets          []taskSecret     `json:"secrets"`
		HealthCheck      taskHealth       `json:"healthCheck"`
		LinuxParameters  linuxParameters  `json:"linuxParameters"`
		StopTimeout      int              `json:"stopTimeout"`
		LogConfiguration logConfiguration `json:"logConfiguration"`
	}
	taskSecret struct {
		Name      string `json:"name"`
		ValueFrom string `json:"valueFrom"`
	}
	taskHealth struct {
		Command     []string `json:"command"`
		Interval    int      `json:"interval"`
		Timeout     int      `json:"timeout"`
		Retries     int      `json:"retries"`
		StartPeriod int      `json:"startPeriod"`
	}
	linuxParameters struct {
		InitProcessEnabled bool `json:"initProcessEnabled"`
	}
	logConfiguration struct {
		LogDriver string            `json:"logDriver"`
		Options   map[string]string `json:"options"`
	}
)

// task reads the task definition and returns its one container.
func task(t *testing.T) taskContainer {
	t.Helper()
	text := read(t, "ecs", "task-definition.json")
	var d taskDefinition
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&d); err != nil {
		t.Fatal(err)
	}
	// Package json takes a field in whatever case, which ECS does not.
	back, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(fields(t, text), fields(t, string(back))) {
		t.Errorf("a field is written wrongly, or missing; it was read as\n%s", back)
	}
	if len(d.ContainerDefinitions) != 1 {
		t.Fatalf("there are %d containers", len(d.ContainerDefinitions))
	}
	return d.ContainerDefinitions[0]
}

// fields reads a JSON object.
func fields(t *testing.T, text string) (m map[string]any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &m); err != nil {
		t.Fatal(err)
	}
	return m
}

func TestECSTask(t *testing.T) {
	c := task(t)
	if c.EntryPoint != nil || len(c.Command) == 0 {
		t.Error("the worker belongs into command: entryPoint replaces the gate")
	}
	if !c.LinuxParameters.InitProcessEnabled {
		t.Error("there is no init")
	}
	if c.StopTimeout < 30 || c.StopTimeout > 120 {
		t.Error("Fargate's default is to stop after 30 s, and its limit is 120 s")
	}
	s := settingsOf(t, c.Environment)
	if !s.JSON {
		t.Error("the log is not in JSON")
	}
	h := c.HealthCheck
	if len(h.Command) == 0 || h.Command[0] != "CMD" {
		t.Fatal("the health check needs a shell")
	}
	checkProbe(t, h.Command[1:], c.Environment)
	// These are ECS's own limits.
	if h.StartPeriod > 300 || h.Interval < 5 || h.Interval > 300 || h.Timeout < 2 || h.Timeout > 60 || h.Retries < 1 || h.Retries > 10 {
		t.Error("ECS does not take the health check's times")
	}
	if start := time.Duration(h.StartPeriod) * time.Second; start < longest(s)+boot {
		t.Errorf("the start period is %v, but gate and worker may take %v", start, longest(s)+boot)
	}
}

// With its secret the task's worker starts; without, the gate says what the
// README quotes.
func TestECSStart(t *testing.T) {
	c := task(t)
	if len(c.Secrets) != 1 || !strings.HasPrefix(c.Secrets[0].ValueFrom, "arn:aws:secretsmanager:") {
		t.Fatal("there should be one secret, of Secrets Manager")
	}
	checkStart(t, c.Environment, c.Command, func(url string) variable { return variable{c.Secrets[0].Name, url} })

	out, code := startgate(t, c.Environment, append([]string{"--"}, c.Command...)...)
	if !slices.Contains(fixFirst, code) {
		t.Errorf("without its secret the task ends with %d", code)
	}
	text := read(t, "ecs", "README.md")
	quoted(t, text)
	_, block, _ := strings.Cut(text, "```json\n")
	line, _, ok := strings.Cut(block, "\n```")
	if !ok {
		t.Fatal("the README quotes no line")
	}
	want, got := fields(t, line), fields(t, out)
	delete(want, "time")
	delete(got, "time")
	if !reflect.DeepEqual(want, got) {
		t.Errorf("the README quotes\n%s\nand not\n%s", line, out)
	}
}
