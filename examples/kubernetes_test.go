package examples_test

import (
	"errors"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/startgate/startgate/envcheck"
)

// The types have the fields that the manifests use and no others, so that a
// misspelled one is a fault.
type (
	object struct {
		APIVersion string            `yaml:"apiVersion"`
		Kind       string            `yaml:"kind"`
		Metadata   metadata          `yaml:"metadata"`
		Data       map[string]string `yaml:"data"` // of a ConfigMap
		Spec       workload          `yaml:"spec"`
	}
	metadata struct {
		Name   string            `yaml:"name"`
		Labels map[string]string `yaml:"labels"`
	}
	// workload is a Deployment's or a Job's.
	workload struct {
		Replicas                int           `yaml:"replicas"`
		ProgressDeadlineSeconds int           `yaml:"progressDeadlineSeconds"`
		Selector                selector      `yaml:"selector"`
		BackoffLimit            int           `yaml:"backoffLimit"`
		PodFailurePolicy        failurePolicy `yaml:"podFailurePolicy"`
		Template                struct {
			Metadata metadata `yaml:"metadata"`
			Spec     pod      `yaml:"spec"`
		} `yaml:"template"`
	}
	selector struct {
		MatchLabels map[string]string `yaml:"matchLabels"`
	}
	failurePolicy struct {
		Rules []struct {
			Action      string `yaml:"action"`
			OnExitCodes struct {
				ContainerName string `yaml:"containerName"`
				Operator      string `yaml:"operator"`
				Values        []int  `yaml:"values"`
			} `yaml:"onExitCodes"`
			OnPodConditions []struct {
				Type   string `yaml:"type"`
				Status string `yaml:"status"`
			} `yaml:"onPodConditions"`
		} `yaml:"rules"`
	}
	pod struct {
		RestartPolicy                 string      `yaml:"restartPolicy"`
		EnableServiceLinks            *bool       `yaml:"enableServiceLinks"`
		AutomountServiceAccountToken  *bool       `yaml:"automountServiceAccountToken"`
		TerminationGracePeriodSeconds int         `yaml:"terminationGracePeriodSeconds"`
		SecurityContext               podSecurity `yaml:"securityContext"`
		Containers                    []container `yaml:"containers"`
		Volumes                       []volume    `yaml:"volumes"`
	}
	podSecurity struct {
		RunAsNonRoot   bool  `yaml:"runAsNonRoot"`
		RunAsUser      int64 `yaml:"runAsUser"`
		RunAsGroup     int64 `yaml:"runAsGroup"`
		FSGroup        int64 `yaml:"fsGroup"`
		SeccompProfile struct {
			Type string `yaml:"type"`
		} `yaml:"seccompProfile"`
	}
	container struct {
		Name            string     `yaml:"name"`
		Image           string     `yaml:"image"`
		Command         []string   `yaml:"command"`
		Args            []string   `yaml:"args"`
		Env             []variable `yaml:"env"`
		StartupProbe    *execProbe `yaml:"startupProbe"`
		LivenessProbe   *execProbe `yaml:"livenessProbe"`
		ReadinessProbe  *execProbe `yaml:"readinessProbe"`
		SecurityContext struct {
			AllowPrivilegeEscalation *bool `yaml:"allowPrivilegeEscalation"`
			ReadOnlyRootFilesystem   bool  `yaml:"readOnlyRootFilesystem"`
			Capabilities             struct {
				Drop []string `yaml:"drop"`
			} `yaml:"capabilities"`
		} `yaml:"securityContext"`
		VolumeMounts []mount `yaml:"volumeMounts"`
	}
	execProbe struct {
		Exec struct {
			Command []string `yaml:"command"`
		} `yaml:"exec"`
		PeriodSeconds    int `yaml:"periodSeconds"`
		TimeoutSeconds   int `yaml:"timeoutSeconds"`
		FailureThreshold int `yaml:"failureThreshold"`
	}
	mount struct {
		Name      string `yaml:"name"`
		MountPath string `yaml:"mountPath"`
		ReadOnly  bool   `yaml:"readOnly"`
	}
	volume struct {
		Name      string `yaml:"name"`
		ConfigMap *struct {
			Name string `yaml:"name"`
		} `yaml:"configMap"`
		Secret *struct {
			SecretName  string `yaml:"secretName"`
			DefaultMode int    `yaml:"defaultMode"`
		} `yaml:"secret"`
		EmptyDir *struct {
			Medium    string `yaml:"medium"`
			SizeLimit string `yaml:"sizeLimit"`
		} `yaml:"emptyDir"`
	}
)

// manifests reads every document of every manifest. Each kind is there once.
func manifests(t *testing.T) map[string]object {
	t.Helper()
	files, err := filepath.Glob("kubernetes/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]object{}
	for _, file := range files {
		decoder := yaml.NewDecoder(strings.NewReader(read(t, file)))
		decoder.KnownFields(true)
		for {
			var o object
			err := decoder.Decode(&o)
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			if _, ok := all[o.Kind]; ok {
				t.Errorf("%s: there is another %s", file, o.Kind)
			}
			all[o.Kind] = o
		}
	}
	versions := map[string]string{"ConfigMap": "v1", "Deployment": "apps/v1", "Job": "batch/v1"}
	for kind, version := range versions {
		if all[kind].APIVersion != version {
			t.Errorf("there is no %s of %s", kind, version)
		}
	}
	if len(all) != len(versions) {
		t.Errorf("there are %d kinds", len(all))
	}
	return all
}

// writeContract writes the ConfigMap's contract as a file.
func writeContract(t *testing.T) (file string) {
	t.Helper()
	text := manifests(t)["ConfigMap"].Data["contract.yaml"]
	if _, faults := envcheck.Load(strings.NewReader(text)); len(faults) > 0 || text == "" {
		t.Fatalf("the contract has %d faults", len(faults))
	}
	file = filepath.Join(t.TempDir(), "contract.yaml")
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

// eachPod runs f for the Deployment and for the Job.
func eachPod(t *testing.T, f func(t *testing.T, w workload)) {
	all := manifests(t)
	for _, kind := range []string{"Deployment", "Job"} {
		t.Run(kind, func(t *testing.T) {
			if n := len(all[kind].Spec.Template.Spec.Containers); n != 1 {
				t.Fatalf("there are %d containers", n)
			}
			f(t, all[kind].Spec)
		})
	}
}

func TestKubernetesPods(t *testing.T) {
	contract := manifests(t)["ConfigMap"].Metadata.Name
	eachPod(t, func(t *testing.T, w workload) {
		p := w.Template.Spec
		c := p.Containers[0]
		if c.Command != nil || len(c.Args) == 0 {
			t.Error("the worker belongs into args: command replaces the gate")
		}
		if p.EnableServiceLinks == nil || *p.EnableServiceLinks {
			t.Error("service links are on")
		}
		if p.TerminationGracePeriodSeconds == 0 {
			t.Error("the worker's jobs have no time to end")
		}
		settingsOf(t, c.Env)
		checkRights(t, p)
		checkVolumes(t, p, contract)
	})
}

// checkRights wants what the restricted Pod Security Standard does, and a root
// that cannot be written.
func checkRights(t *testing.T, p pod) {
	t.Helper()
	s, c := p.SecurityContext, p.Containers[0].SecurityContext
	if !s.RunAsNonRoot || s.RunAsUser == 0 || s.SeccompProfile.Type != "RuntimeDefault" ||
		c.AllowPrivilegeEscalation == nil || *c.AllowPrivilegeEscalation || !slices.Equal(c.Capabilities.Drop, []string{"ALL"}) {
		t.Error("the container may do more than it needs")
	}
	if !c.ReadOnlyRootFilesystem {
		t.Error("the root can be written")
	}
}

// checkVolumes wants each volume mounted, the contract where the gate looks
// for it, and the file of each _FILE variable in a Secret that the worker may
// read.
func checkVolumes(t *testing.T, p pod, contract string) {
	t.Helper()
	c := p.Containers[0]
	at := map[string]volume{}
	for _, m := range c.VolumeMounts {
		i := slices.IndexFunc(p.Volumes, func(v volume) bool { return v.Name == m.Name })
		if i < 0 {
			t.Fatalf("there is no volume %s", m.Name)
		}
		at[m.MountPath] = p.Volumes[i]
	}
	if len(at) != len(p.Volumes) {
		t.Errorf("%d volumes are mounted at %d places", len(p.Volumes), len(at))
	}
	if v := at["/etc/startgate"]; v.ConfigMap == nil || v.ConfigMap.Name != contract {
		t.Error("the contract is not where the gate looks for it")
	}
	if v := at["/tmp"]; v.EmptyDir == nil || v.EmptyDir.Medium != "Memory" || v.EmptyDir.SizeLimit == "" {
		t.Error("/tmp is no bounded memory")
	}
	files := 0
	for _, v := range c.Env {
		if !strings.HasSuffix(v.Name, "_FILE") {
			continue
		}
		files++
		if s := at[path.Dir(v.Value)].Secret; s == nil || s.DefaultMode != 0o440 || p.SecurityContext.FSGroup == 0 {
			t.Errorf("%s is not in a Secret that the worker's group may read, and nobody else", v.Name)
		}
	}
	if files == 0 {
		t.Error("there is no secret")
	}
}

func TestKubernetesDeployment(t *testing.T) {
	d := manifests(t)["Deployment"].Spec
	if app := d.Selector.MatchLabels["app"]; app == "" || d.Template.Metadata.Labels["app"] != app {
		t.Error("the selector does not select the pods")
	}
	c := d.Template.Spec.Containers[0]
	probes := []struct {
		name    string
		probe   *execProbe
		command string
	}{
		{"startup", c.StartupProbe, "/startgate health"},
		{"liveness", c.LivenessProbe, "/startgate health --liveness"},
		{"readiness", c.ReadinessProbe, "/startgate health"},
	}
	for _, p := range probes {
		t.Run(p.name, func(t *testing.T) {
			if p.probe == nil || strings.Join(p.probe.Exec.Command, " ") != p.command {
				t.Fatalf("the probe is not %s", p.command)
			}
			if p.probe.TimeoutSeconds < 1 || p.probe.FailureThreshold < 1 || p.probe.PeriodSeconds < p.probe.TimeoutSeconds {
				t.Error("the probe has not the time it needs")
			}
			checkProbe(t, p.probe.Exec.Command, c.Env)
		})
	}
	window := time.Duration(c.StartupProbe.FailureThreshold*c.StartupProbe.PeriodSeconds) * time.Second
	if least := longest(settingsOf(t, c.Env)) + boot; window < least {
		t.Errorf("the startup window is %v, but gate and worker may take %v", window, least)
	}
	if progress := time.Duration(d.ProgressDeadlineSeconds) * time.Second; progress <= window {
		t.Errorf("a rollout fails after %v, while pods may start for %v", progress, window)
	}
}

func TestKubernetesJob(t *testing.T) {
	j := manifests(t)["Job"].Spec
	if j.Template.Spec.RestartPolicy != "Never" {
		t.Error("podFailurePolicy wants the restart policy Never")
	}
	if j.BackoffLimit < 1 {
		t.Error("a budget that ran out would not be tried again")
	}
	rules := j.PodFailurePolicy.Rules
	if len(rules) == 0 {
		t.Fatal("there is no rule")
	}
	codes := rules[0].OnExitCodes
	if rules[0].Action != "FailJob" || codes.Operator != "In" || codes.ContainerName != j.Template.Spec.Containers[0].Name ||
		!slices.Equal(codes.Values, fixFirst) {
		t.Errorf("the first rule is not that the codes %v fail the Job", fixFirst)
	}
	for _, r := range rules[1:] {
		if r.Action != "Ignore" || len(r.OnPodConditions) != 1 || r.OnPodConditions[0].Type != "DisruptionTarget" {
			t.Error("there is a rule that nobody knows")
		}
	}
}

// With its Secret each pod's worker starts; without, the gate says what the
// README quotes.
func TestKubernetesStart(t *testing.T) {
	text := read(t, "kubernetes", "README.md")
	lines := quoted(t, text)
	contract := variable{"STARTGATE_CONTRACT", writeContract(t)}
	eachPod(t, func(t *testing.T, w workload) {
		c := w.Template.Spec.Containers[0]
		var file string
		env := []variable{contract}
		for _, v := range c.Env {
			if strings.HasSuffix(v.Name, "_FILE") {
				file = v.Name
			} else {
				env = append(env, v)
			}
		}
		checkStart(t, env, c.Args, func(url string) variable {
			secret := filepath.Join(t.TempDir(), "url")
			if err := os.WriteFile(secret, []byte(url+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			return variable{file, secret}
		})
		out, code := startgate(t, env, append([]string{"--"}, c.Args...)...)
		if !slices.Contains(lines, strings.TrimSuffix(out, "\n")) || !slices.Contains(fixFirst, code) {
			t.Errorf("the README does not quote, with exit %d,\n%s", code, out)
		}
	})
}
