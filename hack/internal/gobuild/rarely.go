package gobuild

import (
	"slices"
	"strings"
)

// Rarely adds to an environment that what runs in it collects garbage rarely, unless
// somebody has said how often: to compile a large module takes a quarter less of the
// processors so. The second setting keeps a program from taking all the memory there is.
// The Makefile, hack/test.sh and hack/lint.sh have the same.
func Rarely(environment []string) []string {
	for _, setting := range []string{"GOGC=800", "GOMEMLIMIT=4GiB"} {
		name, _, _ := strings.Cut(setting, "=")
		if !slices.ContainsFunc(environment, func(one string) bool { return strings.HasPrefix(one, name+"=") }) {
			environment = append(environment, setting)
		}
	}
	return environment
}
