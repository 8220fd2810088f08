package probe

import (
	"testing"

	"github.com/startgate/startgate/envcheck"
)

// What the dialer finds has a name in each kind that dials so, and one that
// means the same: to wait, or not to.
func TestFaultsHaveNames(t *testing.T) {
	for _, f := range faults {
		for k := range kinds {
			if k == ofTCP && f.names[k] == "" {
				continue // it neither shakes hands nor reads
			}
			name := k.name(f.fault)
			sentence, ok := envcheck.Explain(string(name))
			if !ok || sentence == "" || name == envcheck.InternalError {
				t.Errorf("%s has no name of kind %d", f.fault, k)
			}
			// A host that is no name was said by the judge of the environment.
			if verdict(name) != verdict(f.fault) && f.fault != envcheck.RedisHostInvalid {
				t.Errorf("%s and %s differ in what they mean", f.fault, name)
			}
		}
	}
	if got := ofTCP.name(envcheck.RedisLoading); got != envcheck.InternalError {
		t.Errorf("a fault of no dialer is named %s", got)
	}
}
