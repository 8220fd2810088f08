package gate

import (
	"slices"
	"strings"

	"github.com/startgate/startgate/envcheck"
)

// unknownSettings warns of STARTGATE_* variables that are no setting. A name
// is said only when it is close to one, since names can hold secrets too.
func unknownSettings(environ []string) []envcheck.Diagnostic {
	var declared []envcheck.Key
	var warnings []envcheck.Diagnostic
	links, unknown := 0, 0
	for _, entry := range environ {
		name, _, _ := strings.Cut(entry, "=")
		if !strings.HasPrefix(name, envPrefix+"_") {
			continue
		}
		if declared == nil {
			for _, info := range SettingInfos() {
				declared = append(declared, info.Variable)
			}
		}
		if slices.Contains(declared, envcheck.Key(name)) {
			continue
		}
		near, isNear := envcheck.Near(name, declared)
		if serviceLink(strings.TrimPrefix(name, envPrefix+"_")) {
			links++
		} else if isNear && envcheck.ValidKey(name) { // two bytes of it could be anything
			warnings = append(warnings, envcheck.Diagnostic{
				Code: envcheck.SettingUnknown, Reason: envcheck.CloseTo,
				Keys: []envcheck.Key{envcheck.Key(name), near},
			})
		} else {
			unknown++
		}
	}
	if links > 0 {
		warnings = append(warnings, envcheck.Diagnostic{
			Code: envcheck.SettingUnknown, Reason: envcheck.ServiceLink,
			Fields: []envcheck.Field{envcheck.Int("count", links)},
		})
	}
	if unknown > 0 {
		warnings = append(warnings, envcheck.Diagnostic{
			Code: envcheck.SettingUnknown, Reason: envcheck.UnknownName,
			Fields: []envcheck.Field{envcheck.Int("count", unknown)},
		})
	}
	return warnings
}

// serviceLink reports whether Kubernetes would set a variable that ends so for
// a Service: SERVICE_HOST, SERVICE_PORT[_NAME], PORT, PORT_n_TCP[_…].
func serviceLink(suffix string) bool {
	return suffix == "SERVICE_HOST" || suffix == "SERVICE_PORT" || suffix == "PORT" ||
		strings.HasPrefix(suffix, "SERVICE_PORT_") ||
		strings.HasPrefix(suffix, "PORT_") && (strings.Contains(suffix, "_TCP") || strings.Contains(suffix, "_UDP"))
}
