package gobuild

import (
	"slices"
	"strings"
)

// Rarely adds to an environment the settings by which Go programs collect garbage rarely,
// unless the environment has them already. Compiling a large module then takes a quarter
// less processor time. The second setting keeps a program from taking all of the memory.
// The Makefile, hack/test.sh and hack/lint.sh have the same settings.
func Rarely(environment []string) []string {
	for _, setting := range []string{"GOGC=800", "GOMEMLIMIT=4GiB"} {
		name, _, _ := strings.Cut(setting, "=")
		if !slices.ContainsFunc(environment, func(one string) bool { return strings.HasPrefix(one, name+"=") }) {
			environment = append(environment, setting)
		}
	}
	return environment
}
