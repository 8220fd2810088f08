package compose

import (
	"strings"
	"testing"
)

// TestPathsAreCutOff: what the user names in other words than the format's is
// no part of what is shown.
func TestPathsAreCutOff(t *testing.T) {
	for at, want := range map[string]string{
		"services worker environment RQ_REDIS_URL":            "services.worker.environment.RQ_REDIS_URL",
		"services worker extra_hosts dbprimary":               "services.worker.extra_hosts",
		"services worker build extra_hosts dbprimary":         "services.worker.build.extra_hosts",
		"services worker build additional_contexts customer":  "services.worker.build.additional_contexts",
		"services worker build args TOKEN":                    "services.worker.build.args.TOKEN",
		"services worker post_start 0 environment hunter2":    "services.worker.post_start.0.environment",
		"networks back ipam config 0 aux_addresses dbprimary": "networks.back.ipam.config.0.aux_addresses",
		"networks back driver_opts hunter2":                   "networks.back.driver_opts",
		"services worker deploy labels hunter2":               "services.worker.deploy.labels",
		"services worker healthcheck test 0":                  "services.worker.healthcheck.test.0",
		"services environment environment TOKEN":              "services.environment.environment.TOKEN",
		"services labels image":                               "services.labels.image",
	} {
		if got := path(strings.Fields(at)).String(); got != want {
			t.Errorf("%s is shown as %s, want %s", at, got, want)
		}
	}
}
